from __future__ import annotations

import tomllib
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from discreet.data.catalog.policy_file import load
from discreet.lab.town import town
from discreet.lab.town.town_files import policy_text


def _tables(town_):
    policy = tomllib.loads(town_.toml.read_text(), parse_float=Decimal)
    for dataset in policy["datasets"].values():
        yield from dataset["tables"].items()


def _outside(column: pa.ChunkedArray, declared: dict) -> int:
    """How many values lie outside the declared domain."""
    column = column.drop_null()
    if "values" in declared:
        return pc.sum(pc.invert(pc.is_in(column, pa.array(declared["values"])))).as_py()
    if "lower" not in declared:
        return 0
    bounds = [declared["lower"], declared["upper"]]
    if declared["type"] != "date":
        bounds = [float(bound) for bound in bounds]
    below, above = pc.less(column, bounds[0]), pc.greater(column, bounds[1])
    return pc.sum(pc.or_(below, above)).as_py()


def test_every_declared_domain_holds_every_value(small_town):
    names = []
    for name, declared in _tables(small_town):
        names.append(name)
        rows = small_town.load(name)
        assert rows.column_names == list(declared["columns"])
        for column, domain in declared["columns"].items():
            assert _outside(rows[column], domain) == 0, (name, column)
    assert sorted(names) == ["dosing", "people", "ratings", "regions", "visits"]


def test_the_check_above_can_fail():
    ages = pa.chunked_array([[1, None, 200]])
    assert _outside(ages, {"type": "integer", "lower": 0, "upper": 120}) == 1
    assert _outside(pa.chunked_array([["a", "b"]]), {"values": ["a"]}) == 1


def test_the_catalog_accepts_it(small_town):
    catalog = load(small_town.toml)
    assert set(catalog.datasets) == {"town", "films", "clinic"}
    units = {
        table.name: None if table.unit is None else table.unit.column
        for dataset in catalog.datasets.values()
        for table in dataset.tables
    }
    assert units == {
        "people": "person_id",
        "visits": "person_id",
        "regions": None,
        "ratings": "user_id",
        "dosing": None,
    }
    assert catalog.warnings == ()


def test_people_alone_are_protected_row_by_row(tmp_path):
    alone = town(1_000, folder=tmp_path / "alone", tables=("people",))
    (people,) = [t for n, t in _tables(alone) if n == "people"]
    assert people["unit"] == "row"
    assert load(alone.toml).datasets["town"].tables[0].unit.is_row


def test_domains_do_not_depend_on_the_rows():
    assert policy_text(20_000, ["people"]) == policy_text(20_001, ["people"])
    assert "20103" in policy_text(50_000, ["people"])
    assert "20103" not in policy_text(20_000, ["people"])
