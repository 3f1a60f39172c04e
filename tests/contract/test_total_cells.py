"""No cell makes a table unreadable: numbers that no double holds, moments before the calendar, long texts."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.base.schema import CategoryDomain, Column, NumberDomain, TextDomain
from discreet.privacy.kernel import cells
from discreet.privacy.kernel.cells import LONGEST_CELL, source_cell
from engines import own


def number(step: str) -> Column:
    return Column("x", NumberDomain(Fraction(0), Fraction(100), Fraction(step)))


ODD = [
    ("numeric", "1e400"),
    ("numeric", "-1e400"),
    ("numeric", "1e-400"),
    ("numeric", "'NaN'"),
    ("numeric", "'Infinity'"),
    ("double precision", "5e-324"),
    ("double precision", "1e308"),
    ("double precision", "'NaN'"),
    ("real", "1e-44"),
    ("text", "'0.000000000000000000000000000001e-99'"),
]


@pytest.mark.postgres
@pytest.mark.parametrize("step", ["1/100", "1", "5/2", "10", "100"])
@pytest.mark.parametrize(("kind", "value"), ODD)
def test_postgresql_reads_every_number(kind: str, value: str, step: str) -> None:
    cell = source_cell(number(step), "s.x", kind, "postgres")
    own(f"SELECT {cell} FROM (SELECT CAST({value} AS {kind}) AS x FROM generate_series(1, 2)) AS s")


@pytest.mark.postgres
def test_without_the_guard_postgresql_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cells, "number_cell", lambda bare, _type, _dialect: f"CAST({bare} AS float8)"
    )
    with pytest.raises(Exception, match="out of range"):
        test_postgresql_reads_every_number("numeric", "1e400", "1/100")


@pytest.mark.parametrize("domain", [TextDomain(), CategoryDomain(("a",))])
def test_duckdb_reads_moments_before_its_calendar(domain: object, tmp_path: Path) -> None:
    odd = [0, 2**63 - 1, -(2**63) + 2, None]
    column = pa.array(odd * 12, pa.int64()).cast(pa.timestamp("us"))
    pq.write_table(pa.table({"x": column}), tmp_path / "a.parquet")
    base = duckdb.connect(":memory:")
    cell = source_cell(Column("x", domain), "s.x", "TIMESTAMP", "duckdb")  # type: ignore[arg-type]  # either domain
    found = base.execute(f"SELECT {cell} FROM '{tmp_path}/a.parquet' AS s").fetchall()
    read = {row[0] for row in found}
    assert read == (
        {None} if isinstance(domain, CategoryDomain) else {None, str(dt.datetime(1970, 1, 1))}
    )
    with pytest.raises(duckdb.Error):
        base.execute(f"SELECT CAST(s.x AS VARCHAR) FROM '{tmp_path}/a.parquet' AS s").fetchall()


def test_a_cell_of_text_is_cut() -> None:
    cell = source_cell(Column("x", TextDomain()), "s.x", "VARCHAR", "duckdb")
    sql = f"SELECT LENGTH({cell}) FROM (SELECT repeat('é', 20000) AS x) AS s"
    assert duckdb.connect(":memory:").execute(sql).fetchall() == [(LONGEST_CELL,)]
