"""What holds of a relation's rows: how many a unit has, what tells them apart, where it must sit.

Each rule from both sides: what follows from a subquery, and the neighbour from which it does not.
"""

from __future__ import annotations

import pytest

from discreet.base.event import Positions
from discreet.privacy.kernel.functions import Value, ValueKind
from discreet.privacy.kernel.nodes import (
    Apply,
    Constant,
    Derived,
    Name,
    SelectNode,
    StoredScan,
    Unfit,
    Window,
)
from discreet.privacy.kernel.rows import Rows, rows_of
from kernel_kit import BOUNDED_VISITS, SCANS, facts, trees

TOWN = 'canon."town.rows" AS t'
PEOPLE = 'canon."clinic.people" AS p'
VISITS = 'canon."clinic.visits" AS v'
WARDS = 'canon."clinic.wards" AS w'
A = f"(SELECT p.u AS u, p.r AS r, p.c1 AS c1, p.c2 AS c2 FROM {PEOPLE} WHERE p.r <= 2) AS a"
B = f"(SELECT v.u AS u, v.r AS r, v.c1 AS c1, v.c2 AS c2 FROM {VISITS} WHERE v.r <= 5) AS b"
FEMALE = A.replace("p.r <= 2", "p.r <= 2 AND p.c1 = 'f'")
MALE = FEMALE.replace("'f'", "'m'").replace("AS a", "AS m")
UNBOUNDED = f"(SELECT v.u AS u, v.c2 AS c2 FROM {VISITS}) AS b"
SEX = ("clinic.people", 1)


def rows(sql: str) -> Rows:
    """Return what holds of `(sql) AS t`, which must not depend on who parsed it."""
    found, other = (rows_of(Derived(tree, "t"), SCANS) for tree in trees(sql))
    assert found == other
    return found


def refused(sql: str, why: str) -> None:
    for tree in trees(sql):
        with pytest.raises(Unfit, match=why):
            rows_of(Derived(tree, "t"), SCANS)


def column(name: str) -> Name:
    return Name("t", name)


def columns(*names: str) -> frozenset[Name]:
    return frozenset(map(column, names))


def copies(most: int, *, by: str = "w.c0", shown: str = "c0, c1") -> str:
    """Return the public table, cut to so many rows of each key."""
    passed = ", ".join(f"n.{name} AS {name}" for name in shown.split(", "))
    return (
        f"(SELECT {passed} FROM (SELECT w.c0 AS c0, w.c1 AS c1, ROW_NUMBER() OVER "
        f"(PARTITION BY {by} ORDER BY w.c0, w.c1) AS k FROM {WARDS}) AS n WHERE n.k <= {most}) AS x"
    )


# -- the unit is never lost ------------------------------------------------------------------------


def test_a_subquery_must_pass_the_unit_on_even_where_its_rows_are_bounded() -> None:
    inner = f"(SELECT {{}} FROM {BOUNDED_VISITS} AS b WHERE b.n <= 3) AS t"
    assert facts(f"SELECT COUNT(*) AS r0 FROM {inner.format('b.u AS u')}").rows == 3
    with pytest.raises(Unfit, match="loses the unit"):
        facts(f"SELECT COUNT(*) AS r0 FROM {inner.format('b.c1 AS c1')}")


def test_groups_of_people_contain_the_unit() -> None:
    sql = f"SELECT v.u AS u, v.c1 AS c1, COUNT(*) AS a FROM {VISITS} WHERE v.r <= 4 GROUP BY {{}}"
    assert rows(sql.format("v.u, v.c1")).rows == 4
    refused(sql.format("v.c1"), "mix the rows of several units")
    refused(f"SELECT t.c0 AS c0, COUNT(*) AS a FROM {TOWN} GROUP BY t.c0", "several units")
    refused(f"SELECT w.c0 AS c0, COUNT(*) AS a FROM {WARDS} GROUP BY w.c0", "several units")


def test_the_unit_under_two_names_is_the_unit_twice() -> None:
    assert rows(f"SELECT v.u AS u, v.u AS again FROM {VISITS}").units == columns("u", "again")
    assert rows(f"SELECT v.u AS u, MIN(v.u) AS low FROM {VISITS} GROUP BY v.u").units == columns(
        "u"
    )


# -- windows ---------------------------------------------------------------------------------------


def test_a_window_stays_within_one_unit() -> None:
    sql = f"SELECT v.u AS u, MIN(v.c2) OVER (PARTITION BY {{}}) AS a FROM {VISITS}"
    assert rows(sql.format("v.u")).values[column("a")].bounded == (0, 1000)
    assert rows(sql.format("v.u, v.c1")).values[column("a")].bounded == (0, 1000)
    refused(sql.format("v.c1"), "a window over the rows of several units")
    refused(f"SELECT MIN(t.c0) OVER (PARTITION BY t.c1) AS a FROM {TOWN}", "several units")


def test_a_window_over_a_public_table_may_be_any() -> None:
    found = rows(f"SELECT MAX(w.c1) OVER (PARTITION BY w.c0) AS a FROM {WARDS}")
    assert found.values[column("a")].bounded == (0, 500)


def windowed(name: str, operand: Name | None, order: tuple[Name, ...] = ()) -> Derived:
    unit, scan = Name("v", "u"), StoredScan(("canon", "clinic.visits"), "v")
    outputs = (("u", unit), ("a", Window(name, operand, (unit,), order)))
    return Derived(SelectNode(outputs, scan, None, ()), "t")


@pytest.mark.parametrize("name", ["min", "max", "bool_and", "bool_or"])
def test_four_windows_are_one_of_their_operands(name: str) -> None:
    cost, rank = Name("v", "c2"), Name("v", "r")
    if name in {"min", "max"}:
        found = rows_of(windowed(name, cost), SCANS)
        assert found.values[column("a")].bounded == (0, 1000)
    else:
        with pytest.raises(Unfit, match="no truth value"):
            rows_of(windowed(name, cost), SCANS)
    for operand, order in ((None, ()), (cost, (rank,)), (None, (rank,))):
        with pytest.raises(Unfit, match=f"the window {name}"):
            rows_of(windowed(name, operand, order), SCANS)


@pytest.mark.parametrize("name", ["sum", "count", "avg", "first", "lag", "ntile", "rank"])
def test_no_other_window_is_known(name: str) -> None:
    for operand in (Name("v", "c2"), None):
        with pytest.raises(Unfit, match=f"the window {name}"):
            rows_of(windowed(name, operand), SCANS)


def test_a_window_reads_columns_that_are_there() -> None:
    gone = "does not have"
    refused(f"SELECT v.u AS u, MIN(v.c9) OVER (PARTITION BY v.u) AS a FROM {VISITS}", gone)
    refused(f"SELECT v.u AS u, MIN(v.c2) OVER (PARTITION BY v.u, v.c9) AS a FROM {VISITS}", gone)
    number = "ROW_NUMBER() OVER (PARTITION BY v.u ORDER BY v.r, v.c9)"
    refused(f"SELECT v.u AS u, {number} AS a FROM {VISITS}", gone)


def test_a_row_number_is_at_least_one_and_of_unknown_width() -> None:
    number = "ROW_NUMBER() OVER (PARTITION BY v.u ORDER BY v.r)"
    found = rows(f"SELECT v.u AS u, {number} AS n FROM {VISITS}").values[column("n")]
    assert found == Value(ValueKind.INTEGER, 1, 4_611_686_018_427_387_904, wide=False)


# -- numbers and ranks -----------------------------------------------------------------------------


def test_a_number_counts_for_as_long_as_its_partition_is_passed_on() -> None:
    number = "ROW_NUMBER() OVER (PARTITION BY {} ORDER BY v.r) AS n"
    alone = f"SELECT v.u AS u, {number.format('v.u')} FROM {VISITS}"
    assert rows(alone).numbers == {column("n"): columns("u")}
    both = f"SELECT v.u AS u, v.c1 AS c1, {number.format('v.u, v.c1')} FROM {VISITS}"
    assert rows(both).numbers == {column("n"): columns("u", "c1")}
    lost = f"SELECT v.u AS u, {number.format('v.u, v.c1')} FROM {VISITS}"
    assert rows(lost).numbers == {}


def test_a_number_of_a_finer_partition_bounds_no_rows() -> None:
    number = "ROW_NUMBER() OVER (PARTITION BY v.u, v.c1 ORDER BY v.r) AS n"
    inner = f"(SELECT v.u AS u, v.c1 AS c1, {number} FROM {VISITS}) AS s"
    found = rows(f"SELECT s.u AS u, s.c1 AS c1 FROM {inner} WHERE s.n <= 2")
    assert found.rows is None
    assert found.copies is None  # of public relations only


@pytest.mark.parametrize(
    ("test", "most"),
    [
        ("v.r <= 3", 3),
        ("v.r <= 1", 1),
        ("v.r <= 7 AND v.r <= 4", 4),
        ("v.r <= 4 AND v.r <= 7", 4),
        ("v.r < 3", None),
        ("v.r <= 0", None),
        ("v.r >= 3", None),
        ("3 <= v.r", None),
        ("v.r <= 3 OR v.c2 > 5", None),
        ("v.c2 <= 3", None),
        ("v.r <= v.c2", None),
    ],
)
def test_only_a_number_at_most_a_constant_bounds_rows(test: str, most: int | None) -> None:
    assert rows(f"SELECT v.u AS u FROM {VISITS} WHERE {test}").rows == most


def test_true_is_not_the_number_one() -> None:
    test = Apply("<=", (Name("v", "r"), Constant(value=True)))
    scan = StoredScan(("canon", "clinic.visits"), "v")
    with pytest.raises(Unfit, match="different kinds"):
        rows_of(Derived(SelectNode((("u", Name("v", "u")),), scan, test, ()), "t"), SCANS)


def test_the_rank_holds_where_all_of_it_is_passed_on() -> None:
    assert rows(f"SELECT v.u AS u, v.r AS r FROM {VISITS}").rank == columns("r")
    assert rows(f"SELECT v.u AS u, v.c2 AS r FROM {VISITS}").rank is None


def test_an_order_is_total_by_the_rank_or_by_all_that_is_passed_on() -> None:
    sql = "SELECT v.u AS u, {} ROW_NUMBER() OVER (PARTITION BY v.u ORDER BY {}) AS n FROM " + VISITS
    for shown, order in (
        ("v.c1 AS c1, v.c2 AS c2,", "v.r"),
        ("v.c1 AS c1, v.c2 AS c2,", "v.c1, v.c2"),
        ("v.c1 AS c1, 5 AS five,", "v.c1"),
        ("", "v.c1"),
    ):
        assert rows(sql.format(shown, order)).numbers == {column("n"): columns("u")}
    for shown, order in (
        ("v.c1 AS c1, v.c2 AS c2,", "v.c1"),
        ("v.c1 AS c1, v.c2 + 1 AS c2,", "v.c1, v.c2"),
        ("v.r AS r,", "v.c1"),
    ):
        refused(sql.format(shown, order), "an order that leaves ties")


def test_groups_are_told_apart_by_their_keys() -> None:
    grouped = f"SELECT v.u AS u{{}} FROM {VISITS} WHERE v.r <= 5 GROUP BY v.u, v.c1"
    assert rows(grouped.format(", v.c1 AS k")).rank == columns("k")
    assert rows(grouped.format(", v.c1 AS k, COUNT(*) AS a")).rank == columns("k")
    assert rows(grouped.format(", COUNT(*) AS a")).rank is None
    alone = rows(f"SELECT v.u AS u, COUNT(*) AS a FROM {VISITS} GROUP BY v.u")
    assert (alone.rank, alone.rows) == (frozenset(), 1)


def test_groups_of_a_unit_are_at_most_its_rows() -> None:
    sql = f"SELECT v.u AS u, v.c1 AS k FROM {VISITS} {{}} GROUP BY v.u, v.c1"
    assert rows(sql.format("WHERE v.r <= 5")).rows == 5
    assert rows(sql.format("")).rows is None


def test_a_rank_says_nothing_above_groups() -> None:
    sql = f"SELECT v.u AS u, v.r AS r, COUNT(*) AS a FROM {VISITS} GROUP BY v.u, v.r"
    assert rows(sql).numbers == {}


# -- a unit's own aggregates -----------------------------------------------------------------------

ANY_SIZE = Value(ValueKind.INTEGER)
DECIMAL = Value(ValueKind.INTEGER, narrow=True)
"""An own sum, a decimal to some engines."""


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [
        ("COUNT(*)", ANY_SIZE),
        ("COUNT(v.c1)", ANY_SIZE),
        ("COUNT(DISTINCT v.c1)", ANY_SIZE),
        ("SUM(v.c2)", DECIMAL),
        ("CAST(SUM(v.c2) AS DECIMAL(38, 0))", DECIMAL),
        ("CAST(COUNT(*) AS DECIMAL(38, 0))", DECIMAL),
        ("CAST(COUNT(v.c1) AS DECIMAL(38, 0))", DECIMAL),
        ("MIN(v.c2)", Value(ValueKind.INTEGER, 0, 1000, wide=True, canonical=True)),
        ("MAX(v.c2 + 5)", Value(ValueKind.INTEGER, 5, 1005, wide=True)),
        ("BOOL_OR(v.c2 > 5)", Value(ValueKind.BOOLEAN)),
        ("BOOL_AND(v.c2 > 5)", Value(ValueKind.BOOLEAN)),
    ],
)
def test_an_aggregate_of_own_rows(aggregate: str, value: Value) -> None:
    found = rows(f"SELECT v.u AS u, {aggregate} AS a FROM {VISITS} GROUP BY v.u")
    assert found.values[column("a")] == value


@pytest.mark.parametrize(
    ("aggregate", "why"),
    [
        ("SUM(CASE WHEN v.c2 > 5 THEN 1 ELSE 0 END)", "the aggregate sum"),  # in 32 bits somewhere
        ("BOOL_AND(NULL)", "the aggregate bool_and"),  # read as a truth value beside it
        ("BOOL_OR(v.c2)", "the aggregate bool_or"),
        ("BOOL_OR('x')", "the aggregate bool_or"),
        ("SUM(v.c1)", "the aggregate sum"),
        ("SUM(v.c2 > 5)", "the aggregate sum"),
        ("SUM(v.u)", "the aggregate sum"),
        ("SUM(NULL)", "the aggregate sum"),
        ("v.c2", "neither a key nor an aggregate"),
        ("SUM(v.c2) + 1", "neither a key nor an aggregate"),
        ("SUM(v.c9)", "does not have"),
        ("MIN(v.c9)", "does not have"),
    ],
)
def test_other_aggregates_are_refused(aggregate: str, why: str) -> None:
    refused(f"SELECT v.u AS u, {aggregate} AS a FROM {VISITS} GROUP BY v.u", why)


# -- where units sit -------------------------------------------------------------------------------


def test_a_constant_column_shows_where_its_unit_sits_until_it_is_changed() -> None:
    def shown(sql: str) -> dict[Name, tuple[str, int]]:
        return {name: axis.base for name, axis in rows(sql).axes.items()}

    assert shown(f"SELECT p.u AS u, p.c1 AS k, p.c2 AS c1 FROM {PEOPLE}") == {column("k"): SEX}
    grouped = f"SELECT p.u AS u, p.c1 AS k, MIN(p.c1) AS low FROM {PEOPLE} GROUP BY p.u, p.c1"
    assert shown(grouped) == {column("k"): SEX}
    assert shown(f"SELECT p.u AS u, UPPER(CAST(p.c1 AS VARCHAR)) AS c1 FROM {PEOPLE}") == {}
    assert shown(f"SELECT p.u AS u, MIN(p.c1) AS c1 FROM {PEOPLE} GROUP BY p.u") == {}


def test_several_filters_are_all_of_them() -> None:
    wards = f"SELECT COUNT(*) AS r0 FROM {TOWN} WHERE t.c0 >= 20 AND t.c0 <= 30 AND t.c0 <> 25"
    assert facts(wards).region == {("town.rows", 0): Positions.of([(20, 24), (26, 30)])}


def test_an_inner_join_is_in_the_regions_of_both_sides() -> None:
    assert rows(f"SELECT a.u AS u FROM {FEMALE} INNER JOIN {MALE} ON a.u = m.u").region == {
        SEX: Positions(())
    }
    assert rows(f"SELECT b.u AS u FROM {B} INNER JOIN {FEMALE} ON a.u = b.u").region == {
        SEX: Positions.points([0])
    }
    assert rows(f"SELECT a.u AS u FROM {FEMALE} INNER JOIN {B} ON a.u = b.u").region == {
        SEX: Positions.points([0])
    }


def test_the_right_side_of_a_left_join_restricts_nobody() -> None:
    found = rows(f"SELECT b.u AS u, a.c1 AS c1 FROM {B} LEFT JOIN {FEMALE} ON a.u = b.u")
    assert (found.region, found.axes) == ({}, {})
    found = rows(f"SELECT a.u AS u, a.c1 AS c1 FROM {FEMALE} LEFT JOIN {B} ON a.u = b.u")
    assert found.region == {SEX: Positions.points([0])}
    assert set(found.axes) == {column("c1")}


# -- private tables meet ---------------------------------------------------------------------------


def test_rows_of_one_unit_pair_with_each_other() -> None:
    for join in ("INNER JOIN", "LEFT JOIN"):
        found = rows(f"SELECT a.u AS u, b.u AS other FROM {A} {join} {B} ON a.u = b.u")
        assert (found.rows, found.private) == (10, ("clinic.people", "clinic.visits"))
        assert found.units == columns("u")  # the other is NULL where nothing matched


@pytest.mark.parametrize("on", ["a.u = b.u", "b.u = a.u", "a.c2 > b.c2 AND a.u = b.u"])
def test_a_pair_is_of_one_unit_whichever_way_that_is_said(on: str) -> None:
    assert rows(f"SELECT a.u AS u FROM {A} INNER JOIN {B} ON {on}").rows == 10


@pytest.mark.parametrize("test", ["a.c1 IS NOT NULL", "TRUE", "a.c2 = b.c2"])
def test_further_conditions_may_stand_before_it(test: str) -> None:
    assert rows(f"SELECT a.u AS u FROM {A} INNER JOIN {B} ON {test} AND a.u = b.u").rows == 10


@pytest.mark.parametrize(
    "on",
    [
        *("a.u = a.u", "b.u = b.u", "a.c2 = b.c2", "a.c2 > b.c2", "TRUE", "a.c1 IS NOT NULL"),
        *("a.u = b.u OR a.c2 > 5", "NOT (a.u = b.u)", "a.r = b.r"),
    ],
)
def test_rows_of_different_units_never_pair(on: str) -> None:
    for join in ("INNER JOIN", "LEFT JOIN"):
        refused(f"SELECT a.u AS u FROM {A} {join} {B} ON {on}", "different units in one pair")


def test_both_sides_are_bounded_before_they_meet() -> None:
    why = "meet before each is bounded"
    for join in ("INNER JOIN", "LEFT JOIN"):
        refused(f"SELECT a.u AS u FROM {A} {join} {UNBOUNDED} ON a.u = b.u", why)
        refused(f"SELECT a.u AS u FROM {UNBOUNDED} {join} {A} ON a.u = b.u", why)


def test_rows_without_a_person_meet_no_private_table() -> None:
    why = "joined without a person"
    refused(f"SELECT b.u AS u FROM {TOWN} INNER JOIN {B} ON t.c0 = b.c2", why)
    refused(f"SELECT b.u AS u FROM {B} INNER JOIN {TOWN} ON t.c0 = b.c2", why)
    refused(f'SELECT t.c0 AS c0 FROM {TOWN} INNER JOIN canon."town.rows" AS s ON t.c0 = s.c0', why)
    refused(f"SELECT b.u AS u FROM {WARDS} INNER JOIN {B} ON w.c0 = b.c1", why)


def test_two_relations_of_one_name_are_refused() -> None:
    again = B.replace("AS b", "AS a")
    refused(
        f"SELECT a.u AS u FROM {A} INNER JOIN {again} ON a.u = a.u", "two relations of one name"
    )
    again = copies(1).replace("AS x", "AS a")
    refused(
        f"SELECT a.u AS u FROM {A} LEFT JOIN {again} ON a.c1 = a.c0", "two relations of one name"
    )


def test_pairs_are_told_apart_by_both_ranks() -> None:
    sql = "SELECT a.u AS u, a.r AS r, b.r AS s FROM {} INNER JOIN {} ON a.u = b.u"
    assert rows(sql.format(A, B)).rank == columns("r", "s")
    blind = B.replace("v.r AS r", "v.c2 AS r")
    assert rows(sql.format(A, blind)).rank is None
    assert rows(sql.format(blind.replace("AS b", "AS a"), A.replace("AS a", "AS b"))).rank is None
    one = '(SELECT v.u AS u, COUNT(*) AS r FROM canon."clinic.visits" AS v GROUP BY v.u) AS b'
    assert rows(sql.format(A, one)).rank == columns("r")


# -- public tables ---------------------------------------------------------------------------------


def test_copies_of_a_public_key_are_those_that_the_sql_keeps() -> None:
    key, both = frozenset({Name("t", "c0")}), columns("c0", "c1")
    for shown, by, found in (
        ("c0, c1", "w.c0", (key, 4)),
        ("c0", "w.c0", (key, 4)),
        ("c0, c1", "w.c0, w.c1", (both, 4)),
        ("c0", "w.c0, w.c1", None),
        ("c1", "w.c0", None),
    ):
        cut = copies(4, by=by, shown=shown).removeprefix("(").removesuffix(") AS x")
        assert rows(cut).copies == found
    assert rows(f"SELECT w.c0 AS c0 FROM {WARDS}").copies is None


@pytest.mark.parametrize(
    ("on", "most"),
    [
        ("b.c1 = x.c0", 20),
        ("x.c0 = b.c1", 20),
        ("x.c0 = 'A'", 20),
        ("b.c1 = x.c0 AND b.c2 > x.c1", 20),
        ("b.c1 <> x.c0", None),
        ("b.c1 > x.c0", None),
        ("x.c0 = x.c0", None),
        ("b.c2 = x.c1", None),
        ("x.c0 IS NOT NULL", None),
        ("TRUE", None),
        ("b.c1 = x.c0 OR b.c2 > 5", None),
    ],
)
def test_a_row_meets_as_many_copies_as_its_key_has(on: str, most: int | None) -> None:
    for join in ("INNER JOIN", "LEFT JOIN"):
        found = rows(f"SELECT b.u AS u FROM {B} {join} {copies(4)} ON {on}")
        assert found.rows == most
        assert (found.private, found.units) == (("clinic.visits",), columns("u"))


def test_every_column_of_the_key_is_equated() -> None:
    x = copies(4, by="w.c0, w.c1")
    both = f"SELECT b.u AS u FROM {B} LEFT JOIN {x} ON b.c1 = x.c0 AND b.c2 = x.c1"
    assert rows(both).rows == 20
    assert rows(f"SELECT b.u AS u FROM {B} LEFT JOIN {x} ON b.c1 = x.c0").rows is None


def test_rows_that_nothing_bounds_stay_so_beside_a_public_table() -> None:
    assert (
        rows(f"SELECT b.u AS u FROM {UNBOUNDED} LEFT JOIN {copies(1)} ON x.c1 = b.c2").rows is None
    )
    public = rows(f"SELECT w.c1 AS c1 FROM {WARDS} LEFT JOIN {copies(1)} ON w.c0 = x.c0")
    assert (public.rows, public.private, public.copies) == (None, (), None)


def test_one_copy_leaves_the_rank_and_two_do_not() -> None:
    sql = f"SELECT b.u AS u, b.r AS r FROM {B} LEFT JOIN {{}} ON b.c1 = x.c0"
    assert rows(sql.format(copies(1))).rank == columns("r")
    assert rows(sql.format(copies(2))).rank is None
    assert rows(sql.format(WARDS.replace("AS w", "AS x"))).rank is None


def test_a_stored_rank_bounds_nothing_once_rows_have_copies() -> None:
    inner = f"(SELECT v.u AS u, v.r AS r FROM {VISITS} INNER JOIN {copies(4)} ON v.c1 = x.c0) AS s"
    assert rows(f"SELECT s.u AS u FROM {inner} WHERE s.r <= 2").rows is None


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["A", "aB", "alias", "ä", "1a", "a b", "_a", "a.b", ""])
def test_names_that_an_engine_could_read_as_others(name: str) -> None:
    scan = StoredScan(("canon", "town.rows"), "s")
    one = Name("s", "c0")
    why = "an engine could read as another"
    for block in (
        Derived(SelectNode((("a", one),), scan, None, ()), name),
        Derived(SelectNode(((name, one),), scan, None, ()), "t"),
        StoredScan(scan.path, name),
    ):
        with pytest.raises(Unfit, match=why):
            rows_of(block, SCANS)


def test_two_outputs_of_one_name_are_refused() -> None:
    refused(f"SELECT v.u AS u, v.c1 AS a, v.c2 AS a FROM {VISITS}", "two outputs of one name")
    refused(f"SELECT v.u AS u, COUNT(*) AS u FROM {VISITS} GROUP BY v.u", "two outputs of one name")
