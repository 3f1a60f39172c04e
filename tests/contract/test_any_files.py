"""A table of several files: each is read as declared by itself, and none of them is an error."""

from __future__ import annotations

import datetime as dt
import json
import os
import sqlite3
from contextlib import closing
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
    TimestampDomain,
)
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.engines.base import open_exact
from discreet.data.engines.column_types import ColumnKind, can_read
from discreet.data.engines.connect import connect
from discreet.errors import CatalogError
from discreet.privacy.kernel.canonical import CanonicalRecipe, stored_columns
from discreet.privacy.kernel.cells import source_cell, unit_cell
from discreet.privacy.kernel.sources import declared_cells
from engines import LIMITS, SPARK
from permits import paid
from sittings import FULL

ENGINES = [
    pytest.param("duckdb:", id="duckdb"),
    pytest.param(SPARK, id="spark", marks=pytest.mark.spark),
]
NOON = dt.datetime(2024, 5, 5, 12, 30, 15)
DOMAINS = {
    "n": IntegerDomain(-5, 3000),
    "x": NumberDomain(Fraction(-5), Fraction(3000), Fraction(1, 100)),
    "flag": BooleanDomain(),
    "day": DateDomain(dt.date(2024, 1, 1), dt.date(2024, 12, 31)),
    "at": TimestampDomain(dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31)),
    "word": CategoryDomain(("1", "1.0", "0.5", "true", "2024-05-05", "a")),
    "note": TextDomain(),
}
STORED = {
    "narrow": pa.array([1, 0, -5, None], pa.int8()),
    "whole": pa.array([1, 2024, 3001, -(2**63)], pa.int64()),
    "unsigned": pa.array([1, 2**64 - 1, 7, None], pa.uint64()),
    "half": pa.array([1.0, 0.5, float("nan"), 1e30], pa.float32()),
    "double": pa.array([1.0, 0.125, float("inf"), -0.0], pa.float64()),
    "decimal": pa.array(
        [Decimal("1.00"), Decimal("0.50"), Decimal("99.99"), None], pa.decimal128(9, 2)
    ),
    "truth": pa.array([True, False, None, True], pa.bool_()),
    "date": pa.array(
        [dt.date(2024, 5, 5), dt.date(1, 1, 1), dt.date(2025, 1, 1), None], pa.date32()
    ),
    "moment": pa.array(
        [NOON, dt.datetime(2024, 5, 5), dt.datetime(1900, 1, 1), None], pa.timestamp("us")
    ),
    "fine": pa.array(
        [NOON, dt.datetime(2024, 5, 5), dt.datetime(1969, 12, 31, 23), None], pa.timestamp("ns")
    ),
    "text": pa.array(["1", "abc", "2024-05-05 12:30:15", ""], pa.string()),
    "listed": pa.array(["1.0", "a", None, "a"], pa.dictionary(pa.int32(), pa.string())),
    "nothing": pa.array([None, None], pa.null()),
    "bytes": pa.array([b"1", b"\xff"], pa.binary()),
    "list": pa.array([[1], []], pa.list_(pa.int64())),
    "pair": pa.array([{"a": 1}, None], pa.struct([("a", pa.int64())])),
}
KINDS = {
    IntegerDomain: ColumnKind.INTEGER,
    NumberDomain: ColumnKind.NUMBER,
    BooleanDomain: ColumnKind.BOOLEAN,
    DateDomain: ColumnKind.DATE,
    TimestampDomain: ColumnKind.DATE,
}


def declared(source: str, person: object = None, **domains: object) -> Dataset:
    columns = [Column("person", person or IdentifierDomain())]  # type: ignore[arg-type]
    columns += [Column(name, domain) for name, domain in (domains or DOMAINS).items()]  # type: ignore[arg-type]
    unit = PrivacyUnit("person")
    table = Table("t", source, unit, tuple(columns), max_rows=1, copied=True)
    return Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")


def opened(url, dataset, base, *, cells=True):
    (table,) = dataset.tables
    read = declared_cells([dataset], url) if cells else {}
    state = base / "state"
    return connect(url, {"d.t": table.source}, base=base, state=state, limits=LIMITS, cells=read)


def canonical(engine, dataset) -> list[tuple]:
    """Return the canonical rows without their people and ranks, sorted."""
    (table,) = dataset.tables
    mark = "`" if engine.capabilities.dialect == "spark" else '"'
    listed = ", ".join(f"t.c{i} AS c{i}" for i in stored_columns(table))
    with engine.hold({"d.t": CanonicalRecipe(dataset, table)}) as held:
        found = open_exact(paid(held).run(f"SELECT {listed} FROM canon.{mark}d.t{mark} AS t"))
    return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr)


def by_itself(dataset, path) -> list[tuple]:
    """Return the canonical rows of one Parquet file, each cell by what it is stored as: the truth."""
    (table,) = dataset.tables
    rows = f"read_parquet('{path}', hive_partitioning = false)"
    with duckdb.connect() as base:
        base.execute("SET TimeZone = 'UTC'")
        types = {
            str(r[0]): str(r[1]) for r in base.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()
        }
        cells = []
        for column in stored_columns(table).values():
            stored = types.get(column.name)
            kind = KINDS.get(type(column.moment or column.domain), ColumnKind.TEXT)
            known = stored is not None and can_read(kind, stored)
            cells.append(
                source_cell(column, f'"{column.name}"', stored, "duckdb") if known else "NULL"
            )
        unit = unit_cell(table.columns[0], "person", types["person"], "duckdb", whole=False)
        found = base.execute(f"SELECT {', '.join(cells)} FROM {rows} WHERE {unit} IS NOT NULL")
        return [tuple(row) for row in found.fetchall()]


def stored_files(*, mixed: bool) -> list[dict[str, pa.Array]]:
    """Return the columns of files: each storage under every name, or mixed under a few in few files.

    Spark works for a second on every file of other types.
    """
    if not mixed:
        return [dict.fromkeys(DOMAINS, cells) for cells in STORED.values()]
    stored = [
        pa.concat_arrays([cells, pa.nulls(4 - len(cells), cells.type)])
        for name, cells in STORED.items()
        if name != "unsigned"  # a decimal there, which holds no truth value
    ]
    return [
        {name: stored[(8 * i + 2 * j) % len(stored)] for j, name in enumerate(DOMAINS)}
        for i in range(len(stored) if FULL else 3)
    ]


@pytest.mark.parametrize("url", ENGINES)
def test_a_cell_is_read_as_in_a_file_of_its_own(url, tmp_path):
    dataset = declared("t")
    (tmp_path / "t").mkdir()
    wanted = []
    for i, columns in enumerate(stored_files(mixed=url == SPARK)):
        people = [f"{i} {row}" for row in range(len(columns["n"]))]
        path = tmp_path / "t" / f"{i:02}.parquet"
        if i % 3 == 0:
            del columns["note"]
        pq.write_table(pa.table({"person": people, **columns}), path)
        wanted += by_itself(dataset, path)
    engine = opened(url, dataset, tmp_path)
    assert canonical(engine, dataset) == sorted(wanted, key=repr)
    engine.close()
    assert all(any(cell is not None for cell in column) for column in zip(*wanted, strict=True))


@pytest.mark.parametrize("url", ENGINES)
def test_people_are_the_same_in_every_storage(url, tmp_path):
    (tmp_path / "t").mkdir()
    for name, kind, ids in (
        ("a", pa.int64(), [7, 8]),
        ("b", pa.float64(), [7, 9]),
        ("c", pa.string(), ["07", "x"]),
    ):
        pq.write_table(
            pa.table({"person": pa.array(ids, kind), "n": [1, 1]}),
            tmp_path / "t" / f"{name}.parquet",
        )
    dataset = declared("t", IntegerDomain(0, 100), n=IntegerDomain(0, 9))
    engine = opened(url, dataset, tmp_path)
    (table,) = dataset.tables
    mark = "`" if engine.capabilities.dialect == "spark" else '"'
    with engine.hold({"d.t": CanonicalRecipe(dataset, table)}) as held:
        sql = f"SELECT t.u AS u, COUNT(*) AS n FROM canon.{mark}d.t{mark} AS t GROUP BY t.u"
        found = open_exact(paid(held).run(sql)).to_pylist()
    engine.close()
    assert {int(row["u"]): row["n"] for row in found} == {7: 3, 8: 1, 9: 1}


def write(folder, name, **columns):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def lines(folder, name, *objects):
    folder.joinpath(name).write_text("".join(json.dumps(each) + "\n" for each in objects))


@pytest.mark.parametrize("url", ENGINES)
def test_folders_texts_and_links_are_read_too(url, tmp_path):
    folder = tmp_path / "t"
    write(folder, "year=2024/a.parquet", person=["a"], n=[1])
    write(folder, "year=abc/b.parquet", person=["b"], n=[2])
    write(folder, "year=__HIVE_DEFAULT_PARTITION__/c.parquet", person=["c"], n=[3])
    write(folder, "Year=20%32%31/d.parquet", person=["d"], n=[4])
    write(folder, "e.parquet", person=["e"], n=[5], year=["2019"])
    folder.joinpath("year=2023").mkdir()
    folder.joinpath("year=2023", "f.csv").write_text("n;person\n6;f\n")
    folder.joinpath("g.csv").write_text("person,extra\ng,1\n")
    folder.joinpath("year=2023", "again.parquet").symlink_to(folder / "e.parquet")
    dataset = declared("t", n=IntegerDomain(0, 9), year=IntegerDomain(2000, 2030))
    engine = opened(url, dataset, tmp_path)
    found = canonical(engine, dataset)
    engine.close()
    rows = [(1, 2024), (2, None), (3, None), (4, 2021), (5, 2019), (6, 2023), (None, None)]
    assert found == sorted(rows, key=repr)


def test_json_has_the_columns_that_are_declared(tmp_path):
    dataset = declared("t.jsonl", n=IntegerDomain(0, 9), word=CategoryDomain(("a",)))
    lines(
        tmp_path,
        "t.jsonl",
        {"person": "a", "n": 1, "": 5, "N": 2, "a\nb": 3},
        {"person": "b", "Word": "a"},
    )
    engine = opened("duckdb:", dataset, tmp_path)
    assert canonical(engine, dataset) == [(1, None), (None, "a")]
    lines(tmp_path, "t.jsonl", {"person": "a"})
    assert canonical(engine, dataset) == [(None, None)]
    lines(tmp_path, "t.jsonl")
    assert canonical(engine, dataset) == []
    engine.close()


ODD_TEXTS = ("\ud800", "a\0b", "a\rb", "a\r\nb", 'a"b",,', "\ufeff", "\u2028", "\t;|")


def test_no_text_of_one_row_makes_the_others_unreadable(tmp_path):
    """What JSON and SQLite can hold, a CSV file cannot: half letters, lone carriage returns."""
    everyone = [f"p{i}" for i in range(len(ODD_TEXTS))]
    rows = [
        {"person": who, "n": 1, "note": text, text: 1, "deep": [{}]}
        for who, text in zip(everyone, ODD_TEXTS, strict=True)
    ]
    lines(tmp_path, "t.jsonl", *rows)
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as made:
        made.execute("CREATE TABLE t (person TEXT, n INT, note TEXT)")
        for who, text in zip(everyone, ODD_TEXTS, strict=True):
            raw = text.encode("utf-8", "surrogatepass")
            made.execute("INSERT INTO t VALUES (?, 1, CAST(? AS TEXT))", (who, raw))
        made.commit()
    for source in ("t.jsonl", "t.sqlite"):
        dataset = declared(source, n=IntegerDomain(0, 9), note=TextDomain())
        engine = opened("duckdb:", dataset, tmp_path)
        found = canonical(engine, dataset)
        engine.close()
        assert [n for n, _ in found] == [1] * len(ODD_TEXTS)
        assert 'a"b",,' in {note for _, note in found}


def test_a_folder_of_half_a_letter_is_no_value(tmp_path):
    write(tmp_path / "t", "year=%ED%A0%80/a.parquet", person=["a"])
    write(tmp_path / "t", "b/b.parquet", person=["b"])
    (tmp_path / "t" / "b").rename(tmp_path / "t" / os.fsdecode(b"year=\xff"))
    dataset = declared("t", year=CategoryDomain(("a",)))
    engine = opened("duckdb:", dataset, tmp_path)
    assert canonical(engine, dataset) == [(None,), (None,)]
    engine.close()


@pytest.mark.parametrize("url", ENGINES)
def test_no_file_is_no_row(url, tmp_path):
    (tmp_path / "t").mkdir()
    for source, domains in (("t", DOMAINS), ("t/*.parquet", {"n": DOMAINS["n"]})):
        dataset = declared(source, **domains)
        engine = opened(url, dataset, tmp_path)
        assert canonical(engine, dataset) == []
        assert engine.names("d.t") == ["person", *domains]
        engine.close()
        with pytest.raises(
            CatalogError, match="does not exist"
        ):  # what is not declared, nobody reads
            opened(url, dataset, tmp_path, cells=False)
    with pytest.raises(CatalogError, match="does not exist"):
        opened(url, declared("elsewhere/*.parquet"), tmp_path)


def test_what_was_lost_is_counted_before_it_is_read(tmp_path):
    """The counts of what declarations leave out are those of the files, not of what was read."""
    write(tmp_path / "t", "a.parquet", person=["a", "b", "c"], n=["1", "odd", None])
    write(tmp_path / "t", "b.parquet", person=["d", "e"], n=[5.0, 5.5])
    dataset = declared("t", n=IntegerDomain(0, 9))
    (table,) = dataset.tables
    engine = opened("duckdb:", dataset, tmp_path)
    with engine.hold({"d.t": CanonicalRecipe(dataset, table)}) as held:
        dropped = held.dropped["d.t"]
    engine.close()
    assert dropped == {"rows": 5, "without_unit": 0, "c1": 2}


SHOP = """
[datasets.shop]
epsilon = 1000000
[datasets.shop.tables.customers]
source = "customers"
unit = "customer"
max_rows = 1
[datasets.shop.tables.customers.columns]
customer = { type = "integer", lower = 0, upper = 100 }
[datasets.shop.tables.orders]
source = "orders/*.parquet"
unit = "customer"
max_rows = 5
[datasets.shop.tables.orders.columns]
id = { type = "identifier" }
customer = { type = "integer", lower = 0, upper = 100 }
[datasets.shop.tables.items]
source = "items"
unit = "order_id -> orders.id -> customer"
max_rows = 9
[datasets.shop.tables.items.columns]
price = { type = "integer", lower = 0, upper = 9 }
"""


@pytest.mark.slow_on_spark  # folders by themselves, and paths (test_unit_paths.py), are asked there
@pytest.mark.parametrize("url", ENGINES)
def test_a_path_leads_over_folders(url, tmp_path):
    """Keys are the same in every storage, and a key that nobody declared is read as well."""
    write(tmp_path / "customers", "a.parquet", customer=[1, 2])
    write(tmp_path / "orders", "a.parquet", id=[7, 8], customer=[1, 2])
    write(tmp_path / "orders", "b.parquet", id=["9"], customer=["2"])
    write(tmp_path / "items", "a.parquet", order_id=[7, 8], price=[1, 2])
    write(tmp_path / "items", "b.parquet", order_id=["9", "10"], price=["3", "4"])
    write(tmp_path / "items", "c.parquet", order_id=[[7]], price=[5.0])
    (tmp_path / "discreet.toml").write_text(f'[engine]\nurl = "{url}"\n{SHOP}')
    with discreet.open(tmp_path / "discreet.toml") as curator:
        asked = "SELECT SUM(price) AS s, COUNT(*) AS n FROM items"
        assert curator.query(asked, epsilon=900_000).rows == ((6, 3),)


@pytest.mark.parametrize("source", ["p.parquet", "*.parquet"])
def test_a_folder_above_a_project_names_no_column(tmp_path, source):
    """Everybody below age=5/ was five years old."""
    folder = tmp_path / "age=5"
    folder.mkdir()
    write(folder, "p.parquet", person=["a", "b"], age=[40, 41])
    dataset = declared(source, age=IntegerDomain(0, 120))
    with closing(opened("duckdb:", dataset, folder)) as engine:
        assert sorted(row[-1] for row in canonical(engine, dataset)) == [40, 41]
    if source == "*.parquet":
        write(folder, "p.parquet", person=["a", "b"])
        with closing(opened("duckdb:", dataset, folder)) as engine:
            assert [row[-1] for row in canonical(engine, dataset)] == [None, None]
