"""Promises over time: files that are written with other types, which are told to nobody and make no other people."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.engines import column_types
from discreet.data.engines.column_types import ColumnKind, Storage, read_as
from discreet.data.engines.duckdb.canonical import SnapshotMaker
from discreet.data.engines.duckdb.engine import DuckDBEngine
from discreet.errors import CatalogError
from discreet.privacy.kernel import canonical, sources
from discreet.privacy.kernel.cells import unit_cell
from ledger_kit import as_a_new_process
from shop_kit import opened

EXPORTS = """
[datasets.clinic]
epsilon = 9000
refresh = "manual"
[analysts.eve]
datasets = { clinic = { epsilon = 9000 } }
"""
EXPORTED = """
[datasets.clinic.tables.{name}]
source = "{name}.parquet"
unit = "who"
max_rows = 2
[datasets.clinic.tables.{name}.columns]
size = {{ type = "integer", lower = 0, upper = 9 }}
"""


def people(folder, name, who):
    pq.write_table(pa.table({"who": who, "size": [1] * len(who)}), folder / f"{name}.parquet")


def told_of_a(folder, last) -> list:
    """Return what is told of table a after both files changed, b's with `last` as its last person."""
    folder.mkdir()
    (folder / "discreet.toml").write_text(EXPORTS + "".join(EXPORTED.format(name=n) for n in "ab"))
    for name in "ab":
        people(folder, name, list(range(20)))
    with opened(folder) as curator:
        eve, sql = curator.seen_by("eve"), "SELECT COUNT(*) AS n FROM a"
        eve.query(sql, epsilon=1, analyst="eve")
        people(folder, "a", list(range(19)))
        people(folder, "b", [float(i) for i in range(19)] + [last] if last is None else range(20))
        price = eve.explain(sql, epsilon=1, analyst="eve").to_json()
        answer = eve.query(sql, epsilon=1, analyst="eve")
        return [price, answer.free, answer.provenance.snapshot]


def test_how_another_table_is_written_today_changes_no_price(tmp_path):
    """A row without a person makes the numbers of a Parquet file doubles."""
    found = [told_of_a(tmp_path / "with", 19), told_of_a(tmp_path / "without", None)]
    assert found[0] == found[1]
    assert found[0][1:] == [True, "a:1"]


def test_the_twin_that_looks_at_other_tables_of_today_tells_of_them(tmp_path, monkeypatch):
    def alias(self, name, recipe, content):
        beside = pq.read_schema(folder / "b.parquet").field("who").type
        return self.store.name("stored", name, content, str(beside))

    monkeypatch.setattr(SnapshotMaker, "_alias", alias)
    found = []
    for folder, last in ((tmp_path / "with", 19), (tmp_path / "without", None)):
        found.append(told_of_a(folder, last))
    assert found[0] != found[1]


FIGURES = """
[datasets.clinic]
epsilon = 9000
refresh = "manual"
[analysts.eve]
datasets = {{ clinic = {{ epsilon = 9000 }} }}
[datasets.clinic.tables.t]
source = "t.parquet"
unit = "row"
[datasets.clinic.tables.t.columns]
{columns}
"""
FIGURE_TYPES = {
    "whole": 'type = "integer", lower = 0, upper = 1',
    "number": 'type = "number", lower = 0, upper = 1, step = 1',
    "flag": 'type = "boolean"',
    "spelled": 'type = "boolean", same = { true = ["1"], false = ["0"] }',
    "kind": 'type = "category", values = ["0", "1"]',
    "said": 'type = "text"',
    "named": 'type = "identifier"',
}


def told_of_figures(folder, last) -> dict[str, object]:
    """Return what an analyst is told of a first version whose columns hold 0 and 1, the last cell being `last`."""
    folder.mkdir()
    columns = "\n".join(f"{name} = {{ {said} }}" for name, said in FIGURE_TYPES.items())
    (folder / "discreet.toml").write_text(FIGURES.format(columns=columns))
    # As pandas writes them: doubles once one of them is missing.
    kind = pa.int64() if last is not None else pa.float64()
    cells = pa.array([0, 1] * 20 + [last], kind)
    pq.write_table(pa.table(dict.fromkeys(FIGURE_TYPES, cells)), folder / "t.parquet")
    found: dict[str, object] = {}
    with opened(folder) as curator:
        for sql in ("COUNT(*)", "COUNT(flag)", "SUM(whole)", "SUM(number)", "COUNT(kind)"):
            asked = f"SELECT {sql} AS n FROM t"
            found[sql] = curator.seen_by("eve").explain(asked, epsilon=1, analyst="eve").to_json()
        sql = "SELECT COUNT(*) AS n FROM t WHERE flag AND spelled"
        found["flags"] = round(curator.query(sql, epsilon=500, analyst="eve").rows[0][0])
    return found


def test_a_missing_cell_that_makes_figures_doubles_is_told_to_nobody(tmp_path):
    found = [told_of_figures(tmp_path / f"{last}", last) for last in (0, None)]
    assert found[0] == found[1]
    assert found[0]["flags"] == 20


def test_the_twin_that_reads_flags_from_whole_numbers_alone_tells_of_a_missing_cell(
    tmp_path, monkeypatch
):
    for stored in (Storage.NUMBER, Storage.DECIMAL):
        monkeypatch.delitem(column_types._READERS, (ColumnKind.BOOLEAN, stored))
    told_of_figures(tmp_path / "0", 0)
    with pytest.raises(CatalogError, match="cannot be read as boolean"):
        told_of_figures(tmp_path / "None", None)


JOINED = "SELECT COUNT(*) AS n FROM a JOIN b ON a.who = b.who"


def joined(folder) -> int:
    """Return in how many rows the people of both tables meet, as good as exactly."""
    with opened(folder) as curator:
        return round(curator.query(JOINED, epsilon=500, analyst="eve").rows[0][0])


def test_people_are_the_same_in_rows_that_were_stored_as_other_types(tmp_path):
    """Table a was stored when b had whole numbers; now b's are doubles, and nobody begins a version."""
    told_of_a(tmp_path / "a", None)
    as_a_new_process()
    assert joined(tmp_path / "a") == 19


STORED_AS = {
    "32 bits": pa.array(range(20), pa.int32()),
    "64 bits without a sign": pa.array(range(20), pa.uint64()),
    "floats": pa.array([float(i) for i in range(20)], pa.float32()),
    "doubles": pa.array([float(i) for i in range(20)], pa.float64()),
    "doubles below zero": pa.array([-0.0, *(float(i) for i in range(1, 20))], pa.float64()),
    "decimals": pa.array([Decimal(i) for i in range(20)], pa.decimal128(9, 2)),
    "wide decimals": pa.array([Decimal(i) for i in range(20)], pa.decimal128(38, 0)),
    "decimals of 21 places": pa.array([Decimal(i) for i in range(20)], pa.decimal128(38, 21)),
    "texts": pa.array([str(i) for i in range(20)]),
    "texts of doubles": pa.array([f"{i}.0" for i in range(20)]),
    "a dictionary": pa.array([str(i) for i in range(20)]).dictionary_encode(),
}


def kept_as(folder, values):
    """Keep people 0 to 19 as integers in table a, and as `values` in table b."""
    (folder / "discreet.toml").write_text(EXPORTS + "".join(EXPORTED.format(name=n) for n in "ab"))
    people(folder, "a", pa.array(range(20), pa.int64()))
    people(folder, "b", values)


@pytest.mark.parametrize("values", STORED_AS.values(), ids=STORED_AS)
def test_a_whole_number_is_one_person_however_it_is_stored(tmp_path, values):
    kept_as(tmp_path, values)
    assert joined(tmp_path) == 20


def test_other_spellings_of_a_number_are_other_people(tmp_path):
    others = ["07", "7.", "07.0", "7.01", " 7.0", ".0", " 7", "7 ", "+7", "7e0", "\u0667"]
    others += ["1_0", "-0", "-", "9" * 19, "x" * 9_000]
    kept_as(tmp_path, pa.array(others))
    assert joined(tmp_path) == 0


@pytest.mark.parametrize("values", STORED_AS.values(), ids=STORED_AS)
def test_a_person_is_one_in_files_that_store_people_in_several_ways(tmp_path, values):
    """Also in one file of several: else a bound on rows would be one for each way."""
    kept_as(tmp_path, pa.array(range(20), pa.int64()))
    text = (tmp_path / "discreet.toml").read_text().replace("b.parquet", "b/*.parquet")
    (tmp_path / "discreet.toml").write_text(text)
    (tmp_path / "b").mkdir()
    for number, who in enumerate([pa.array(range(20), pa.int64()), values, values]):
        people(tmp_path / "b", str(number), who)
    with opened(tmp_path) as curator:
        rows = curator.query("SELECT COUNT(*) AS n FROM b", epsilon=500, analyst="eve").rows
        assert round(rows[0][0]) == 40, "two of each person"
        assert round(curator.query(JOINED, epsilon=500, analyst="eve").rows[0][0]) == 40


BY_PATH = """
[datasets.clinic.tables.items]
source = "items.parquet"
unit = "order_id -> orders.id -> customer"
max_rows = 2
[datasets.clinic.tables.items.columns]
price = { type = "integer", lower = 0, upper = 99 }
[datasets.clinic.tables.orders]
source = "orders/*.parquet"
unit = "customer"
max_rows = 2
[datasets.clinic.tables.orders.columns]
size = { type = "integer", lower = 0, upper = 99 }
"""


def order_files(folder, number, **other):
    numbers = pa.array(range(20), pa.int64())
    rows = {"id": numbers, "customer": numbers, "size": numbers} | other
    (folder / "orders").mkdir(exist_ok=True)
    pq.write_table(pa.table(rows), folder / "orders" / f"{number}.parquet")


@pytest.mark.parametrize("column", ["id", "customer", "size"])
@pytest.mark.parametrize("values", [*STORED_AS.values(), pa.nulls(20)], ids=[*STORED_AS, "nothing"])
def test_nothing_tells_how_a_table_on_the_way_is_stored_today(tmp_path, column, values):
    (tmp_path / "discreet.toml").write_text(EXPORTS + BY_PATH)
    order_files(tmp_path, 1)
    numbers = pa.array(range(20), pa.int64())
    items = pa.table({"order_id": numbers, "price": numbers})
    pq.write_table(items, tmp_path / "items.parquet")
    sql = "SELECT COUNT(*) AS n FROM items"
    with opened(tmp_path) as curator:
        assert round(curator.query(sql, epsilon=500, analyst="eve").rows[0][0]) == 20
        told = curator.seen_by("eve").explain(sql, epsilon=500, analyst="eve").to_json()
    order_files(tmp_path, 2, **{column: values})
    if column == "id":
        pq.write_table(items.set_column(0, "order_id", values), tmp_path / "items.parquet")
    as_a_new_process()
    with opened(tmp_path) as curator:
        assert curator.seen_by("eve").explain(sql, epsilon=500, analyst="eve").to_json() == told
        answer = curator.query(sql, epsilon=500, analyst="eve")
        assert (answer.free, answer.provenance.snapshot) == (True, "items:1")
        curator.refresh("clinic")
        again = round(curator.query(sql, epsilon=500, analyst="eve").rows[0][0])
        # Nobody is reached by keys that say nothing.
        assert again == (0 if column == "id" and values.type == pa.null() else 20)


def test_the_twin_that_asks_for_types_to_know_names_tells_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(
        DuckDBEngine, "names", lambda self, name: [c for c, _ in self.columns(name)]
    )
    with pytest.raises(CatalogError, match="in different ways"):
        test_nothing_tells_how_a_table_on_the_way_is_stored_today(
            tmp_path, "size", STORED_AS["doubles"]
        )


def test_the_ends_of_64_bits_are_themselves(tmp_path):
    ends = [-(2**63), 2**63 - 1, -1]
    beyond = [2**63, -(2**63) - 1, 2**64 - 1]
    kept_as(tmp_path, pa.array([str(each) for each in (*ends, *beyond)]))
    people(tmp_path, "a", pa.array(ends, pa.int64()))
    assert joined(tmp_path) == 3


def test_the_twin_that_hides_all_texts_tells_integers_from_them(tmp_path, monkeypatch):
    monkeypatch.setattr(canonical, "_INTEGER", "nobody")
    kept_as(tmp_path, STORED_AS["texts"])
    assert joined(tmp_path) == 0


def test_the_twin_that_spells_doubles_as_the_engine_does_loses_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "unit_cell", spelled_as_stored)
    kept_as(tmp_path, STORED_AS["doubles"])
    assert joined(tmp_path) == 0


def spelled_as_stored(column, bare, engine_type, dialect, *, whole):
    if whole:
        return unit_cell(column, bare, engine_type, dialect, whole=whole)
    return read_as(ColumnKind.TEXT, bare, engine_type=engine_type, dialect=dialect)
