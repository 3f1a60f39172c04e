"""People reached over other tables are the same people on every engine that follows paths."""

from __future__ import annotations

import random
from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet.anonymize.source import open_source
from discreet.data.catalog.policy_file import loads
from discreet.data.engines import declared
from discreet.data.engines.postgres.sources import PostgresSources
from discreet.errors import CatalogError, EngineFailed
from discreet.privacy.kernel.sources import every_path
from discreet.tasks.review import look
from engines import ENGINES, engine_place, own
from unit_paths_kit import TOML, brute_force, opened, reached, shop, toml

HERE = ENGINES[1:]
"""Engines whose rows are joined in this process, or by its words: a test can reach into them."""
LINKED = """
[engine]
url = "{url}"
[datasets.shop]
epsilon = 100
delta = 1e-3
[datasets.shop.tables.people]
source = "{people}"
unit = "customer"
max_rows = 1
[datasets.shop.tables.people.columns]
age = {{ type = "integer", lower = 20, upper = 30 }}
[datasets.shop.tables.orders]
source = "{orders}"
unit = "customer"
max_rows = 3
[datasets.shop.tables.orders.columns]
number = {{ type = "identifier" }}
kind = {{ type = "category", values = ["x", "y"] }}
[datasets.shop.tables.items]
source = "{items}"
unit = "number -> orders.number -> customer"
parent = "orders"
max_rows = 4
[datasets.shop.tables.items.columns]
number = {{ type = "identifier" }}
price = {{ type = "integer", lower = 0, upper = 10 }}
"""
_WORDS = {
    "url": "postgresql://",
    "person": "identifier",
    "key": "identifier",
    "max_rows": 2,
    "copy": "",
    "orders": "town.orders",
    "items": "town.items",
    "returns": "town.returns",
}


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(("texts", "whole"), [(False, True), (True, True), (True, False)])
@pytest.mark.slow_on_spark
def test_every_row_reaches_the_people_of_its_order_and_nobody_else(kind, texts, whole, tmp_path):
    dice = random.Random(7)
    for _ in range(4):
        tables = shop(dice, texts=texts)
        place = engine_place(kind, tables, tmp_path)
        engine = opened(place, toml(place, whole=whole))
        try:
            assert reached(engine) == brute_force(tables, whole=whole)
            kinds = dict(engine.columns("shop.items"))
            assert list(kinds) == ["id", "order_no", "price", "customer"]
        finally:
            engine.close()


@pytest.mark.parametrize("kind", HERE)
def test_a_path_that_lists_a_person_twice_is_caught(kind, tmp_path, monkeypatch):
    """The twin: without DISTINCT an order that is listed twice makes two rows of one.

    DuckDB's rows are joined in its child; tests/unit/data/engines/duckdb/test_unit_path.py has its twin.
    """
    people = declared._people
    monkeypatch.setattr(declared, "_people", lambda *a: people(*a).replace("DISTINCT ", ""))
    tables = shop(random.Random(7), texts=False)
    twice = pa.concat_tables([tables["orders"], tables["orders"]])
    place = engine_place(kind, {**tables, "orders": twice}, tmp_path)
    engine = opened(place, toml(place, whole=True))
    try:
        assert reached(engine) != brute_force(tables, whole=True)
    finally:
        engine.close()


@pytest.mark.parametrize(
    "copy",
    [
        pytest.param(False, id="read"),
        # Copies of tables over a path: test_unit_path_states.py, on Spark too.
        pytest.param(True, id="copied", marks=pytest.mark.slow_on_spark),
    ],
)
@pytest.mark.parametrize("kind", ENGINES)
def test_answers_count_the_rows_of_people_over_a_path(kind, copy, tmp_path):
    tables = shop(random.Random(11), texts=True)
    place = engine_place(kind, tables, tmp_path)
    (tmp_path / "discreet.toml").write_text(toml(place, whole=True, copy=copy and kind != "duckdb"))
    wanted = [pair for pair in brute_force(tables, whole=True) if pair[1] is not None]
    with discreet.open(tmp_path / "discreet.toml") as curator:
        sql = "SELECT COUNT(*) AS n, COUNT(DISTINCT customer) AS p, SUM(price) AS s FROM items"
        ((counted, people, total),) = curator.query(sql, epsilon=100000).rows
        assert (counted, people) == (len(wanted), len({person for _, person in wanted}))
        assert total == sum(price for price, _ in wanted)
        if not copy:  # they are read in place either way
            ((far,),) = curator.query("SELECT COUNT(*) AS n FROM returns", epsilon=100000).rows
            assert far >= 1


@pytest.mark.parametrize("kind", ENGINES)
def test_rows_of_a_person_are_bounded_over_a_path(kind, tmp_path):
    tables = shop(random.Random(11), texts=False)
    place = engine_place(kind, tables, tmp_path)
    (tmp_path / "discreet.toml").write_text(toml(place, whole=True, max_rows=1))
    people = {person for _, person in brute_force(tables, whole=True)} - {None}
    with discreet.open(tmp_path / "discreet.toml") as curator:
        ((counted,),) = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=100000).rows
        assert counted == len(people)
        bill = curator.explain("SELECT SUM(price) AS s FROM items", epsilon=1)
        assert Fraction(str(bill.cost.epsilon)) == 1


@pytest.mark.postgres
def test_a_path_holds_every_table_that_it_reads(tmp_path):
    """Nothing of ours stands in the owner's way once a question is over: no view, no lock."""
    place = engine_place("postgres", shop(random.Random(3), texts=False), tmp_path)
    engine = opened(place, toml(place, whole=True))
    try:
        reached(engine)
        own("ALTER TABLE town.orders RENAME COLUMN number TO nr")
        with pytest.raises((CatalogError, EngineFailed)):
            reached(engine)
        own("DROP TABLE town.orders")
    finally:
        engine.close()


@pytest.mark.parametrize("kind", ENGINES)
def test_a_table_that_names_its_people_needs_no_path(kind, tmp_path):
    tables = shop(random.Random(3), texts=False)
    named = tables["items"].append_column("customer", pa.array([1] * 25))
    place = engine_place(kind, {**tables, "items": named}, tmp_path)
    (tmp_path / "discreet.toml").write_text(toml(place, whole=True))
    with (
        pytest.raises(CatalogError),
        discreet.open(tmp_path / "discreet.toml") as curator,
    ):
        curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.slow_on_spark
def test_the_owner_sees_what_declarations_do_to_rows_over_a_path(kind, tmp_path):
    tables = shop(random.Random(5), texts=False)
    place = engine_place(kind, tables, tmp_path)
    (tmp_path / "discreet.toml").write_text(toml(place, whole=True))
    seen = {each.declared.table.name: each.seen for each in look(tmp_path / "discreet.toml")}
    pairs = brute_force(tables, whole=True)
    assert seen["items"].losses.rows == len(pairs)
    assert seen["items"].losses.without_unit == sum(person is None for _, person in pairs)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.slow_on_spark
def test_people_reached_over_a_path_are_anonymized_as_people(kind, tmp_path):
    tables = shop(random.Random(5), texts=False)
    place = engine_place(kind, tables, tmp_path)
    (tmp_path / "discreet.toml").write_text(toml(place, whole=True))
    with open_source("shop.items", config=tmp_path / "discreet.toml") as source:
        assert source.repeats_people()
        assert source.rows() == len(brute_force(tables, whole=True))


@pytest.mark.parametrize("kind", ENGINES)
def test_a_key_that_reaches_nobody_is_refused_before_anything_is_paid(kind, tmp_path):
    """As bytes every key would be read as missing: paid zeros."""
    tables = shop(random.Random(3), texts=True)
    keys = tables["items"].column("order_no").cast(pa.binary())
    place = engine_place(
        kind, {**tables, "items": tables["items"].set_column(1, "order_no", keys)}, tmp_path
    )
    (tmp_path / "discreet.toml").write_text(toml(place, whole=False))
    with (
        discreet.open(tmp_path / "discreet.toml") as curator,
        pytest.raises(CatalogError),
    ):
        curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1)


@pytest.mark.parametrize("kind", HERE)
def test_a_person_is_not_mistaken_for_a_column_in_other_letters(kind, tmp_path):
    """Ä is the large letter of ä for declarations; by A to Z alone the own column would be whose row it is."""
    tables = shop(random.Random(3), texts=False)
    tables["orders"] = tables["orders"].rename_columns(["number", "ärzt"])
    tables["items"] = tables["items"].append_column("ÄRZT", pa.array([1] * 25))
    place = engine_place(kind, tables, tmp_path)
    text = toml(place, whole=True).replace("customer =", '"ärzt" =').replace("customer", "ärzt")
    (tmp_path / "discreet.toml").write_text(text)
    with (
        discreet.open(tmp_path / "discreet.toml") as curator,
        pytest.raises(CatalogError, match="of its own"),
    ):
        curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1)


def test_the_name_of_a_path_is_no_name_of_a_table(tmp_path):
    catalog = loads(TOML.format(**_WORDS), base=tmp_path)
    paths = every_path(catalog.datasets.values(), "postgresql://")
    plain = PostgresSources(catalog.sources, paths)
    taken = {**catalog.sources, "path 0": "town.other", "path 0+": "town.more"}
    other = PostgresSources(taken, paths)
    assert plain.relation("shop.items") == 'canon."path 0"'
    assert other.relation("shop.items") == 'canon."path 0++"'
    assert other.relation("path 0") == '"town"."other"'


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.slow_on_spark
def test_copies_of_linked_tables_come_from_every_engine(kind, tmp_path):
    dice = random.Random(9)
    tables = {
        "people": pa.table({"customer": list(range(60)), "age": [20 + i % 9 for i in range(60)]}),
        "orders": pa.table(
            {
                "number": list(range(120)),
                "customer": [i % 60 for i in range(120)],
                "kind": [dice.choice("xy") for _ in range(120)],
            }
        ),
        "items": pa.table(
            {
                "number": [i % 120 for i in range(200)],
                "price": [dice.randint(0, 10) for _ in range(200)],
            }
        ),
    }
    place = engine_place(kind, tables, tmp_path)
    (tmp_path / "discreet.toml").write_text(LINKED.format(url=place.url, **place.sources))
    with discreet.open(tmp_path / "discreet.toml") as curator:
        made = curator.synthesize_linked("shop", epsilon=50, delta="1e-6")
    assert set(made.tables) == set(tables)
