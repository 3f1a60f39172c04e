"""Canonical relations: what the catalog says of them, and that nothing else is taken for one."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from discreet.base.event import EVERYONE, Positions, Region
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    Domain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
    TimestampDomain,
)
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.privacy.kernel.canonical import (
    CatalogScans,
    Declared,
    canonical_value,
    dataset_of,
    finite,
    region_of,
)
from discreet.privacy.kernel.functions import Value, ValueKind
from discreet.privacy.kernel.nodes import Derived, Name, SelectNode, StoredScan, Unfit
from discreet.privacy.kernel.rows import Rows, rows_of
from kernel_kit import CLINIC, PEOPLE, ROW, SCANS, TOWN, VISITS, duckdb_tree

MOMENT = TimestampDomain(dt.datetime(2020, 1, 31, 12), dt.datetime(2020, 3, 1, 8))
EVENTS = Table(
    "events",
    "events.parquet",
    PrivacyUnit(),
    (
        Column("seen", MOMENT),  # c0, and its second of the day as c5
        Column("note", TextDomain()),  # c1
        Column("key", IdentifierDomain()),  # c2
        Column("open", BooleanDomain()),  # c3
        Column("draft", IntegerDomain(0, 9), reviewed=False),  # c4
    ),
    max_rows=1,
)
LOG = Dataset("log", (EVENTS,), Neighbours.ADD_REMOVE, "log")


def names(alias: str, *columns: str) -> set[Name]:
    return {Name(alias, column) for column in columns}


def stored(*path: str, scans: CatalogScans = SCANS) -> Rows:
    return rows_of(StoredScan(path, "x"), scans)


# -- relations that the engine keeps ---------------------------------------------------------------


def test_rows_as_units() -> None:
    found = stored("canon", "town.rows")
    own = names("x", "c0", "c1", "c2", "c3", "c4", "c6")  # c5 is hidden
    assert found.values.keys() == own | names("x", "g0", "g1")  # a small number and a category
    assert (found.private, found.units, found.rows) == (("town.rows",), frozenset(), 1)
    assert (found.rank, found.numbers) == (None, {})
    # Each row is a unit, so each of its values says where it sits.
    assert found.axes.keys() == found.values.keys()
    assert found.axes[Name("x", "c6")].base == ("town.rows", 6)
    assert found.axes[Name("x", "c6")].domain == IntegerDomain(-50, 50)


def test_rows_of_people() -> None:
    found = stored("canon", "clinic.people")
    unit, rank = Name("x", "u"), Name("x", "r")
    assert found.values.keys() == names("x", "c1", "g1", "c2", "u", "r")
    assert found.values[unit] == Value(ValueKind.UNIT)
    assert found.values[rank] == Value(ValueKind.INTEGER, 1, 4_611_686_018_427_387_904)
    assert (found.private, found.units, found.rows) == (("clinic.people",), {unit}, None)
    assert (found.rank, found.numbers) == ({rank}, {rank: {unit}})
    # Only a column declared constant says where a person sits.
    assert {name: axis.base for name, axis in found.axes.items()} == {
        Name("x", "c1"): ("clinic.people", 1),
        Name("x", "g1"): ("clinic.people", 1),
    }
    assert stored("canon", "clinic.visits").axes == {}


def test_rows_of_nobody() -> None:
    found = stored("canon", "clinic.wards")
    assert found.values.keys() == names("x", "c0", "g0", "c1")
    assert (found.private, found.units, found.rows, found.axes) == ((), frozenset(), None, {})


def test_a_stored_category_is_a_place_in_its_list() -> None:
    found = stored("canon", "clinic.wards").values
    assert found[Name("x", "c0")] == Value(ValueKind.TEXT, 0, 2, length=1)  # A, B, C
    assert stored("canon", "town.rows").values[Name("x", "c1")].high == 1  # f, m


def test_what_is_grouped_by_is_the_text_or_the_small_number() -> None:
    assert stored("canon", "clinic.wards").values[Name("x", "g0")] == Value(
        ValueKind.TEXT, length=1
    )
    small = stored("canon", "town.rows").values[Name("x", "g0")]
    assert (small.kind, small.low, small.high) == (ValueKind.INTEGER, 0, 120)
    assert small.narrow  # nothing may be computed from 8 bits
    assert not small.wide


@pytest.mark.parametrize(
    ("low", "high", "small"), [(0, 255, True), (0, 256, False), (-1, 9, False), (255, 255, True)]
)
def test_only_numbers_of_eight_bits_are_grouped_as_such(low: int, high: int, small: bool) -> None:
    table = replace(PEOPLE, columns=(*PEOPLE.columns, Column("n", IntegerDomain(low, high))))
    dataset = replace(CLINIC, tables=(table,))
    found = stored("canon", "x.y", scans=CatalogScans({"x.y": Declared(dataset, table)})).values
    assert (Name("x", f"g{len(PEOPLE.columns)}") in found) is small


def test_w_bounds_rows_where_the_table_is_bounded() -> None:
    table = replace(PEOPLE, bounded=True, max_rows=3)
    dataset = replace(CLINIC, tables=(table,))
    scans = CatalogScans({"x.y": Declared(dataset, table)})
    found = stored("canon", "x.y", scans=scans)
    rank, within = Name("x", "r"), Name("x", "w")
    assert found.numbers == {rank: {Name("x", "u")}, within: {Name("x", "u")}}
    assert found.rank == {rank}  # several rows of a unit have the same w
    assert found.values[within] == found.values[rank]
    assert Name("x", "w") not in stored("canon", "clinic.people").values


def test_a_moment_is_its_day_and_a_second_that_splits_no_bill() -> None:
    scans = CatalogScans({"log.events": Declared(LOG, EVENTS)})
    found = stored("canon", "log.events", scans=scans)
    assert found.values == {
        Name("x", "c0"): Value(ValueKind.DATE),
        Name("x", "c1"): Value(ValueKind.TEXT, length=10_000),
        Name("x", "c2"): Value(ValueKind.TEXT, length=10_000),
        Name("x", "c3"): Value(ValueKind.BOOLEAN),
        Name("x", "c5"): Value(ValueKind.INTEGER, 0, 86_399, wide=True, canonical=True),
    }
    assert {name.column: axis.domain for name, axis in found.axes.items()} == {
        "c0": DateDomain(dt.date(2020, 1, 31), dt.date(2020, 3, 1)),
        "c3": BooleanDomain(),
    }


@pytest.mark.parametrize(
    "path",
    [
        ("town.rows",),
        ("source", "town.rows"),
        ("canon", "main", "town.rows"),
        ("other", "canon", "town.rows"),
        ("CANON", "town.rows"),
        (),
    ],
)
def test_other_schemas_hold_no_canonical_relation(path: tuple[str, ...]) -> None:
    with pytest.raises(Unfit, match="no canonical relation"):
        stored(*path)


@pytest.mark.parametrize("name", ["town.other", "rows", "Town.rows", ""])
def test_undeclared_tables_are_refused(name: str) -> None:
    with pytest.raises(Unfit, match="does not declare as kept"):
        stored("canon", name)


# -- relations that are the innermost SELECT ---------------------------------------------------------


@dataclass(frozen=True)
class View:
    """Makes the tree of a canonical view, and refuses columns that it does not have."""

    columns: tuple[int, ...]
    unit: str = ""
    table: str = "source"

    def __call__(self, places: tuple[int, ...], ranked: bool) -> SelectNode:
        assert set(places) <= set(self.columns), "never asked for a hidden column"
        cells = [f"s.x{i} AS c{i}" for i in places] + [f"s.{self.unit} AS u"] * bool(self.unit)
        cells = cells + ["s.rank AS r"] * ranked or ["NULL AS c"]
        return duckdb_tree(f"SELECT {', '.join(cells)} FROM {self.table} AS s WHERE s.ok")


PEOPLE_VIEW = View((1, 2), "id", "people")
VIEWS = CatalogScans(
    {
        "town.rows": Declared(TOWN, ROW, View((0, 1, 2, 3, 4, 6), "", "town")),
        "clinic.people": Declared(CLINIC, PEOPLE, PEOPLE_VIEW),
        "clinic.visits": Declared(CLINIC, VISITS, View((1, 2), "id", "visits")),
    }
)


@pytest.mark.parametrize("places", [(), (1,), (1, 2), (2, 1)])
@pytest.mark.parametrize("ranked", [True, False])
def test_a_view_is_what_it_shows(places: tuple[int, ...], *, ranked: bool) -> None:
    found = rows_of(Derived(PEOPLE_VIEW(places, ranked), "x"), VIEWS)
    unit, rank = Name("x", "u"), Name("x", "r")
    shown = {f"c{i}" for i in places} | {"u"} | ({"r"} if ranked else set())
    assert found.values.keys() == names("x", *shown)
    assert (found.private, found.units, found.rows) == (("clinic.people",), {unit}, None)
    assert found.rank == ({rank} if ranked else None)
    assert found.numbers == ({rank: {unit}} if ranked else {})
    assert found.axes.keys() == (names("x", "c1") if 1 in places else set())


def test_a_category_of_a_view_is_a_plain_text() -> None:
    found = rows_of(Derived(PEOPLE_VIEW((1,), False), "x"), VIEWS)
    assert found.values[Name("x", "c1")] == Value(ValueKind.TEXT, length=1)


def test_a_view_is_that_of_its_own_table() -> None:
    visits = View((1, 2), "id", "visits")((1,), False)
    assert rows_of(Derived(visits, "x"), VIEWS).private == ("clinic.visits",)
    town = View((6,), "", "town")((6,), False)
    assert rows_of(Derived(town, "x"), VIEWS).rows == 1
    nothing = rows_of(Derived(View((), "", "town")((), False), "x"), VIEWS)
    assert (nothing.values, nothing.private) == ({}, ("town.rows",))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s.x1 AS c1, s.id AS u FROM people AS s",  # without its condition
        "SELECT s.x1 AS c1, s.id AS u FROM people AS s WHERE s.ok AND s.x1 = 'f'",
        "SELECT s.x2 AS c1, s.id AS u FROM people AS s WHERE s.ok",
        "SELECT s.x1 AS c1, s.x2 AS u FROM people AS s WHERE s.ok",
        "SELECT s.x1 AS c1 FROM people AS s WHERE s.ok",  # without its unit
        "SELECT s.x1 AS c1, s.id AS u FROM other AS s WHERE s.ok",
        "SELECT s.x1 AS c1, s.id AS u, s.x2 AS other FROM people AS s WHERE s.ok",
        "SELECT s.x1 AS c, s.id AS u FROM people AS s WHERE s.ok",
        "SELECT s.x5 AS c5, s.id AS u FROM people AS s WHERE s.ok",  # not declared
        "SELECT s.x5 AS c5 FROM town AS s WHERE s.ok",  # hidden
    ],
)
def test_whatever_differs_is_no_view(sql: str) -> None:
    with pytest.raises(Unfit, match="no canonical relation"):
        rows_of(Derived(duckdb_tree(sql), "x"), VIEWS)


@pytest.mark.parametrize("alias", ["X", "alias", "a b"])
def test_a_view_has_a_plain_name_too(alias: str) -> None:
    with pytest.raises(Unfit, match="an engine could read as another"):
        rows_of(Derived(PEOPLE_VIEW((1,), False), alias), VIEWS)


def test_a_table_is_kept_or_a_view_and_never_both() -> None:
    with pytest.raises(Unfit, match="does not declare as kept"):
        stored("canon", "clinic.people", scans=VIEWS)
    assert SCANS.view(Derived(PEOPLE_VIEW((1,), False), "x")) is None


# -- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "value"),
    [
        (IntegerDomain(-7, 9), Value(ValueKind.INTEGER, -7, 9, wide=True, canonical=True)),
        (
            NumberDomain(Fraction(-3, 2), Fraction(10), Fraction(1, 4)),
            Value(ValueKind.INTEGER, -6, 40, wide=True, canonical=True),
        ),
        (
            NumberDomain(Fraction(0), Fraction(100), Fraction(10)),
            Value(ValueKind.INTEGER, 0, 10, wide=True, canonical=True),
        ),
        (BooleanDomain(), Value(ValueKind.BOOLEAN)),
        (DateDomain(dt.date(2000, 1, 1), dt.date(2000, 1, 2)), Value(ValueKind.DATE)),
        (CategoryDomain(("a", "three", "")), Value(ValueKind.TEXT, length=5)),
        (TextDomain(), Value(ValueKind.TEXT, length=10_000)),
        (IdentifierDomain(), Value(ValueKind.TEXT, length=10_000)),
    ],
)
def test_what_is_known_of_a_canonical_column(domain: Domain, value: Value) -> None:
    assert canonical_value(domain) == value


def test_identifiers_and_free_text_have_no_positions() -> None:
    assert (finite(IdentifierDomain()), finite(TextDomain())) == (None, None)
    for domain in (BooleanDomain(), CategoryDomain(("a",)), IntegerDomain(0, 1), MOMENT):
        assert finite(domain) == domain


# -- whose rows, and where they sit ------------------------------------------------------------------


@dataclass(frozen=True)
class Reads:
    """What a statement was found to read."""

    private: tuple[str, ...]
    region: dict[tuple[str, int], Positions]


def test_a_statement_reads_one_dataset() -> None:
    assert dataset_of(Reads(("town.rows",), {}), SCANS.tables) is TOWN
    both = Reads(("clinic.people", "clinic.visits"), {})
    assert dataset_of(both, SCANS.tables) is CLINIC
    for private in ((), ("town.rows", "clinic.people")):
        with pytest.raises(Unfit, match="two datasets"):
            dataset_of(Reads(private, {}), SCANS.tables)


def test_the_billed_region_is_the_filters_of_known_axes_within_every_home() -> None:
    low, high = Positions.of([(0, 5)]), Positions.of([(3, 9)])

    def axis(dataset: Dataset, table: Table, place: int) -> str | None:
        assert dataset is CLINIC
        return None if place == 2 else f"{table.name} {place}"

    def home(dataset: Dataset, table: Table) -> Region:
        assert dataset is CLINIC
        return Region.of({"people 1": low, table.name: high})

    reads = Reads(("clinic.people",), {})
    assert region_of(reads, SCANS.tables, axis, home) == Region.of(
        {"people 1": low, "people": high}
    )
    filters = {("clinic.people", 1): high, ("clinic.people", 2): low, ("clinic.visits", 0): low}
    both = Reads(("clinic.people", "clinic.visits"), filters)
    assert region_of(both, SCANS.tables, axis, home) == Region.of(
        {"people 1": Positions.of([(3, 5)]), "people": high, "visits": high, "visits 0": low}
    )
    nowhere = region_of(reads, SCANS.tables, axis, lambda *_: EVERYONE)
    assert nowhere == EVERYONE
