"""A source as canonical rows read it: plain where nothing is declared, rewritten once where it is."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from functools import cache

import duckdb

from discreet.base.schema import Column, IdentifierDomain, IntegerDomain, Table, TimestampDomain
from discreet.base.spelling import Spelling
from discreet.base.unit import PrivacyUnit
from discreet.data.engines.declared import filled_name
from discreet.privacy.kernel.sources import PlainSource, unit_column

WHO = Column("Who", IdentifierDomain())
AGE = Column("age", IntegerDomain(0, 99))
TABLE = Table("t", "t.csv", PrivacyUnit("who"), (WHO, AGE))
TYPES = {"who": "VARCHAR", "age": "VARCHAR"}
GIVEN = "(SELECT ' p ' AS who, '7' AS age UNION ALL SELECT 'p', 'n/a' UNION ALL SELECT 'q', NULL)"


@cache
def base() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


def source(table: Table = TABLE, *, types=TYPES, counted: bool = False) -> PlainSource:
    columns = {1: table.columns[1]}
    return PlainSource(table, columns, types, "duckdb", GIVEN, counted=counted)


def run(found: PlainSource, *cells: str | None) -> list[tuple]:
    sql = f"SELECT {', '.join(map(str, cells))} FROM {found.rows}"
    return sorted(base().execute(sql).fetchall(), key=repr)


def test_the_unit_is_a_column_or_none() -> None:
    assert unit_column(TABLE) is WHO
    assert unit_column(replace(TABLE, unit=None)) is None
    assert unit_column(replace(TABLE, unit=PrivacyUnit())) is None


def test_without_a_spelling_the_source_itself_is_read() -> None:
    found = source()
    assert found.rows == f"{GIVEN} AS s"
    assert found.present(1) == 's."age"'
    whole = run(found, found.cell(1), found.unit(whole=False))
    assert whole == [(7, " p "), (None, "p"), (None, "q")]
    assert source(replace(TABLE, unit=None)).unit(whole=False) is None


def test_a_spelling_of_one_column_rewrites_all_cells_once() -> None:
    spelled = replace(AGE, spelling=Spelling(empty=("n/a",)))
    found = source(replace(TABLE, columns=(WHO, spelled)), counted=True)
    assert found.rows.startswith("(SELECT ")
    cells = (found.cell(1), f"{found.present(1)} IS NOT NULL", found.unit(whole=False))
    assert cells[1] == "s.h1 IS NOT NULL"
    assert run(found, *cells) == [(7, True, " p "), (None, False, "p"), (None, False, "q")]


def test_what_cells_held_is_carried_only_where_it_is_counted() -> None:
    spelled = replace(TABLE, columns=(WHO, replace(AGE, spelling=Spelling(empty=("n/a",)))))
    assert " AS h1" not in source(spelled).rows
    assert " AS h1" in source(spelled, counted=True).rows


def test_a_spelling_of_people_counts_too() -> None:
    trimmed = replace(WHO, spelling=Spelling(trim=True))
    found = source(replace(TABLE, columns=(trimmed, AGE)))
    assert run(found, found.unit(whole=False)) == [("p",), ("p",), ("q",)]


def test_rows_of_nobody_carry_no_unit() -> None:
    spelled = replace(AGE, spelling=Spelling(empty=("n/a",)))
    found = source(replace(TABLE, unit=None, columns=(WHO, spelled)))
    assert " AS nu" not in found.rows
    assert found.unit(whole=False) is None
    assert run(found, found.cell(1)) == [(7,), (None,), (None,)]


def test_a_file_that_is_read_as_declared_says_itself_what_was_filled() -> None:
    types = TYPES | {filled_name("age"): "INTEGER"}
    assert source(types=types).present(1) == f's."{filled_name("age")}"'
    spelled = replace(TABLE, columns=(WHO, replace(AGE, spelling=Spelling(empty=("n/a",)))))
    assert f'w."{filled_name("age")}" AS h1' in source(spelled, types=types, counted=True).rows
    assert f'w."{filled_name("age")}"' not in source(spelled, counted=True).rows


def test_the_second_of_a_moment_is_read_from_the_text_of_its_day() -> None:
    moments = TimestampDomain(dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31))
    seen = Column("seen", moments, spelling=Spelling(dates=("%d.%m.%Y",)))
    given = "(SELECT '4.3.2024 00:01:01' AS seen)"
    table = Table("t", "t.csv", None, (seen,))
    columns = {0: seen, 1: seen.clock()}
    found = PlainSource(table, columns, {"seen": "VARCHAR"}, "duckdb", given)
    assert run(found, found.cell(0), found.cell(1)) == [(dt.date(2024, 3, 4), 61)]
    assert " AS h0" not in found.rows
