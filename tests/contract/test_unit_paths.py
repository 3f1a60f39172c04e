"""People reached over other tables are the same people on every engine that follows paths."""

from __future__ import annotations

import random
from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet.anonymize.source import open_source
from discreet.catalog.read.policy_file import loads
from discreet.engine import follow
from discreet.engine.postgres import holder
from discreet.engine.postgres.holder import Holder
from discreet.engine.postgres.sources import PostgresSources
from discreet.errors import CatalogError, EngineFailed
from discreet.kernel.canonical.paths import every_path
from discreet.tasks.review import look
from engines import LIMITS, connect, engine_place, own, rows

ENGINES = [
    pytest.param("duckdb", id="duckdb"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.postgres),
]
TOML = """
[engine]
url = "{url}"
[datasets.shop]
epsilon = 1000000
[datasets.shop.tables.orders]
source = "{orders}"
unit = "customer"
max_rows = 50
[datasets.shop.tables.orders.columns]
customer = {{ type = "{person}" }}
number = {{ type = "{key}" }}
[datasets.shop.tables.items]
source = "{items}"
unit = "order_no -> orders.number -> customer"
max_rows = {max_rows}
{copy}
[datasets.shop.tables.items.columns]
price = {{ type = "integer", lower = 0, upper = 10 }}
[datasets.shop.tables.returns]
source = "{returns}"
unit = "item -> items.id -> order_no -> orders.number -> customer"
max_rows = 50
[datasets.shop.tables.returns.columns]
n = {{ type = "integer", lower = 0, upper = 10 }}
"""

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


def shop(dice: random.Random, *, texts: bool) -> dict[str, pa.Table]:
    """Orders of nobody and of two people, listed twice, and items of orders that there are not."""
    kind = pa.string() if texts else pa.int64()

    def key(value: int | None):
        if value is None or not texts:
            return value
        return dice.choice([str(value), f"0{value}"])

    orders = [(dice.choice([*range(6), None]), dice.choice([*range(5), None])) for _ in range(12)]
    items = [(i, dice.choice([*range(8), None]), dice.randint(0, 10)) for i in range(25)]
    returns = [(dice.choice([*range(25), None]), dice.randint(0, 10)) for _ in range(15)]

    def column(found, place):
        return pa.array([key(row[place]) for row in found], kind)

    def plain(found, place):
        return pa.array([row[place] for row in found], pa.int64())

    return {
        "orders": pa.table({"number": column(orders, 0), "customer": column(orders, 1)}),
        "items": pa.table(
            {"id": plain(items, 0), "order_no": column(items, 1), "price": plain(items, 2)}
        ),
        "returns": pa.table({"item": plain(returns, 0), "n": plain(returns, 1)}),
    }


def toml(place, *, whole: bool, max_rows: int = 50, copy: bool = False) -> str:
    kind = "integer" if whole else "identifier"
    sources = {name.split(".")[-1]: source for name, source in place.sources.items()}
    text = TOML.format(
        url=place.url,
        person=kind,
        key=kind,
        max_rows=max_rows,
        copy='snapshot = "copy"' if copy else "",
        **sources,
    )
    bounds = 'type = "integer", lower = 0, upper = 99'
    return text.replace('type = "integer" }', bounds + " }")


def brute_force(tables, *, whole: bool) -> list[tuple]:
    """Return the pairs of price and person, worked out here and not by an engine."""

    def read(value):
        if value is None:
            return None
        return int(value) if whole else str(value)

    owners: dict[object, set] = {}
    for row in tables["orders"].to_pylist():
        if row["number"] is not None and row["customer"] is not None:
            owners.setdefault(read(row["number"]), set()).add(read(row["customer"]))
    found = []
    for row in tables["items"].to_pylist():
        people = owners.get(read(row["order_no"]), set())
        found += [(row["price"], person) for person in people or [None]]
    return sorted(found, key=repr)


def opened(place, text):
    catalog = loads(text, base=place.base)
    return connect(
        place.url,
        catalog.sources,
        base=place.base,
        limits=LIMITS,
        paths=every_path(catalog.datasets.values(), place.url),
    )


def reached(engine) -> list[tuple]:
    relation = engine.relation("shop.items")
    return rows(engine, f"SELECT t.price, t.customer FROM {relation} AS t")


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(("texts", "whole"), [(False, True), (True, True), (True, False)])
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


@pytest.mark.postgres
def test_a_path_that_lists_a_person_twice_is_caught(tmp_path, monkeypatch):
    """The twin: without DISTINCT an order that is listed twice makes two rows of one.

    DuckDB's rows are joined in its child; tests/unit/engine/duckdb/test_unit_path.py has its twin.
    """
    people = follow._people
    monkeypatch.setattr(follow, "_people", lambda *a: people(*a).replace("DISTINCT ", ""))
    tables = shop(random.Random(7), texts=False)
    twice = pa.concat_tables([tables["orders"], tables["orders"]])
    place = engine_place("postgres", {**tables, "orders": twice}, tmp_path)
    engine = opened(place, toml(place, whole=True))
    try:
        assert reached(engine) != brute_force(tables, whole=True)
    finally:
        engine.close()


@pytest.mark.parametrize("copy", [False, True], ids=["read", "copied"])
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
def test_a_change_of_a_table_on_the_way_is_a_new_snapshot(tmp_path):
    place = engine_place("postgres", shop(random.Random(3), texts=False), tmp_path)
    for copy in (False, True):
        (tmp_path / "discreet.toml").write_text(toml(place, whole=True, copy=copy))
        with discreet.open(tmp_path / "discreet.toml") as curator:
            first = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1)
            own("INSERT INTO town.orders VALUES (1, 77)")
            again = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1, fresh=copy)
            if not copy:
                # A copy may be older than its source by as long as the counter of changes lags.
                assert first.provenance.snapshot != again.provenance.snapshot
                assert not again.free


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
def test_the_owner_sees_what_declarations_do_to_rows_over_a_path(kind, tmp_path):
    tables = shop(random.Random(5), texts=False)
    place = engine_place(kind, tables, tmp_path)
    (tmp_path / "discreet.toml").write_text(toml(place, whole=True))
    seen = {each.declared.table.name: each.seen for each in look(tmp_path / "discreet.toml")}
    pairs = brute_force(tables, whole=True)
    assert seen["items"].losses.rows == len(pairs)
    assert seen["items"].losses.without_unit == sum(person is None for _, person in pairs)


@pytest.mark.parametrize("kind", ENGINES)
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


@pytest.mark.postgres
def test_a_person_is_not_mistaken_for_a_column_in_other_letters(tmp_path):
    """Ä is the large letter of ä for declarations; by A to Z alone the own column would be whose row it is."""
    tables = shop(random.Random(3), texts=False)
    tables["orders"] = tables["orders"].rename_columns(["number", "ärzt"])
    tables["items"] = tables["items"].append_column("ÄRZT", pa.array([1] * 25))
    place = engine_place("postgres", tables, tmp_path)
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


def _answered_after_a_change(folder, monkeypatch) -> tuple[str, str]:
    """Return the labels of two contents between which the counter of changes did not move."""
    place = engine_place("postgres", shop(random.Random(3), texts=False), folder)
    monkeypatch.setattr(holder, "change_counter", lambda *_: "stands still")
    labels = []
    for max_rows in (50, 49):  # another declaration has no copy yet
        text = toml(place, whole=True, max_rows=50, copy=True)
        text = text.replace("upper = 10 }", f"upper = {max_rows} }}")
        (folder / "discreet.toml").write_text(text)
        with discreet.open(folder / "discreet.toml") as curator:
            found = curator.query("SELECT SUM(price) AS s FROM items", epsilon=1)
            labels.append(found.provenance.snapshot)
        own("DELETE FROM town.orders WHERE customer IN (0, 1, 2)")
    return labels[0], labels[1]


@pytest.mark.postgres
def test_what_is_copied_is_called_by_what_is_read(tmp_path, monkeypatch):
    """One label for two contents would let their charges share one budget."""
    first, second = _answered_after_a_change(tmp_path, monkeypatch)
    assert first != second


@pytest.mark.postgres
def test_a_copy_that_trusts_the_counter_is_caught(tmp_path, monkeypatch):
    """The twin, as it was: rows of now under the label of then."""
    fresh = Holder._content

    def trusting(self, wire, source, wanted, counter):
        return self._known(source, wanted, counter) or fresh(self, wire, source, wanted, counter)

    monkeypatch.setattr(Holder, "_content", trusting)
    first, second = _answered_after_a_change(tmp_path, monkeypatch)
    assert first == second


@pytest.mark.parametrize("kind", ENGINES)
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
