"""Sources of several files: each column is read by its declaration, keys and people by their text."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest

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
)
from discreet.base.unit import Neighbours, PathStep, PrivacyUnit, UnitPath
from discreet.privacy.kernel.sources import declared_cells, every_path, followed_paths

ORDERS = Table(
    "Orders",
    "orders/*.csv",
    PrivacyUnit("customer"),
    (
        Column("customer", NumberDomain(Fraction(0), Fraction(9), Fraction(1))),
        Column("No", DateDomain(dt.date(2024, 1, 1), dt.date(2024, 12, 31))),
        Column("price", NumberDomain(Fraction(0), Fraction(9), Fraction(1, 2))),
        Column("ok", BooleanDomain()),
        Column("kind", CategoryDomain(("a", "b"))),
        Column("secret", IntegerDomain(0, 9), hidden=True),
    ),
)
ITEMS = Table(
    "items",
    "items/*.csv",
    PrivacyUnit("customer"),
    (
        Column("customer", IdentifierDomain()),
        Column("count", IntegerDomain(0, 9)),
        Column("order_no", DateDomain(dt.date(2024, 1, 1), dt.date(2024, 12, 31)), hidden=True),
    ),
    path=UnitPath((PathStep("order_no", "orders", "no"),), "customer"),
)
SHOP = Dataset("shop", (ORDERS, ITEMS), Neighbours.ADD_REMOVE, "shop")


def kinds(name: str, url: str = "duckdb:") -> dict[str, str]:
    return {cell.column: cell.kind for cell in declared_cells([SHOP], url)[name]}


def test_each_column_has_the_type_that_was_declared() -> None:
    assert kinds("shop.Orders") == {
        "customer": "VARCHAR",  # a person, by its text
        "No": "VARCHAR",  # leads to people
        "price": "DOUBLE",
        "ok": "BOOLEAN",
        "kind": "VARCHAR",
    }


def test_the_person_at_the_end_of_a_path_is_no_column_of_the_files() -> None:
    # What is hidden is read where a path needs it, and by nobody else.
    assert kinds("shop.items") == {"count": "BIGINT", "order_no": "VARCHAR"}


def test_integers_name_people_as_integers() -> None:
    people = Table("people", "p/*.csv", PrivacyUnit("id"), (Column("id", IntegerDomain(0, 9)),))
    found = declared_cells([Dataset("d", (people,), Neighbours.ADD_REMOVE, "d")], "duckdb:")
    assert [cell.kind for cell in found["d.people"]] == ["BIGINT"]


def test_people_go_by_their_text_also_where_no_path_leads_to_them() -> None:
    halves = NumberDomain(Fraction(0), Fraction(9), Fraction(1, 2))
    people = Table("people", "p/*.csv", PrivacyUnit("id"), (Column("id", halves),))
    public = Table("public", "q/*.csv", None, (Column("id", halves),))
    found = declared_cells([Dataset("d", (people, public), Neighbours.ADD_REMOVE, "d")], "duckdb:")
    assert [cell.kind for cell in found["d.people"]] == ["VARCHAR"]
    assert [cell.kind for cell in found["d.public"]] == ["DOUBLE"]


def test_a_key_that_nobody_declared_is_an_identifier() -> None:
    items = Table("items", "i/*.csv", PrivacyUnit("customer"), ITEMS.columns[:2], path=ITEMS.path)
    shop = Dataset("shop", (ORDERS, items), Neighbours.ADD_REMOVE, "shop")
    found = {cell.column: cell.kind for cell in declared_cells([shop], "duckdb:")["shop.items"]}
    assert found == {"count": "BIGINT", "order_no": "VARCHAR"}


def test_a_database_reads_no_files() -> None:
    assert declared_cells([SHOP], "postgresql://here/db") == {}


@pytest.mark.parametrize(
    ("column", "storage", "expected"),
    [
        ("price", "number", 'CAST(CAST(f."price" AS DOUBLE) AS DOUBLE)'),
        ("ok", "boolean", 'f."ok"'),
        ("price", "date", "CAST(CAST(NULL AS DOUBLE) AS DOUBLE)"),
        ("ok", "date", "CAST(NULL AS BOOLEAN)"),
    ],
)
def test_a_cell_is_read_by_how_it_is_stored(column: str, storage: str, expected: str) -> None:
    (cell,) = [c for c in declared_cells([SHOP], "duckdb:")["shop.Orders"] if c.column == column]
    found = dict(cell.by_storage)[storage]
    alias = found.partition('."')[0].rpartition("(")[2] if '."' in found else "f"
    assert found == expected.replace("f.", f"{alias}.")


def test_texts_stay_in_the_owners_spelling() -> None:
    (cell,) = [c for c in declared_cells([SHOP], "duckdb:")["shop.Orders"] if c.column == "kind"]
    assert "COLLATE" in dict(cell.by_storage)["text"]
    assert "ENUM" not in dict(cell.by_storage)["text"]


def test_only_tables_with_a_path_follow_one() -> None:
    found = followed_paths("shop", SHOP.tables)
    assert list(found) == ["shop.items"]
    assert every_path([SHOP], "duckdb:") == found
    path = found["shop.items"]
    (step,) = path.steps
    assert (step.table, step.here.column, step.key.column) == ("shop.Orders", "order_no", "no")
    assert not path.whole


def test_a_key_is_read_as_its_own_table_reads_it_on_both_sides() -> None:
    people = Table("people", "p.csv", PrivacyUnit("id"), (Column("Id", IntegerDomain(0, 9)),))
    way = UnitPath((PathStep("person", "PEOPLE", "id"),), "id")
    visits = Table("visits", "v.csv", PrivacyUnit("id"), (), path=way)
    path = followed_paths("d", (people, visits))["d.visits"]
    assert path.whole
    here, key = dict(path.steps[0].here.by_storage), dict(path.steps[0].key.by_storage)
    # An integer is not read from dates or truth values: the engine refuses such a file.
    assert set(here) == set(key) == {"integer", "decimal", "number", "text"}
    assert here["text"] == key["text"].replace('o."id"', 'b."person"')
    assert "BIGINT" in here["text"]
    assert 'TRY_CAST(b."person" AS BIGINT)' in here["integer"]
    texts = followed_paths("shop", SHOP.tables)["shop.items"]
    assert "other" not in dict(texts.unit.by_storage)
    assert "date" in dict(texts.unit.by_storage)


def test_a_path_may_be_longer_than_one_step() -> None:
    first = Table("a", "a.csv", PrivacyUnit("p"), (), path=None)
    second = Table("b", "b.csv", None, ())
    way = UnitPath((PathStep("x", "b", "y"), PathStep("z", "a", "w")), "p")
    third = Table("c", "c.csv", PrivacyUnit("p"), (), path=way)
    path = followed_paths("d", (first, second, third))["d.c"]
    assert [step.table for step in path.steps] == ["d.b", "d.a"]
    assert 'b."x"' in dict(path.steps[0].here.by_storage)["text"]
    assert 'o."z"' in dict(path.steps[1].here.by_storage)["text"]
