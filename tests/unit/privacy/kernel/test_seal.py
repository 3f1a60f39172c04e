"""What a draft is sealed with: how far one unit moves it, its noise, its price, its threshold.

Every number here was worked out by hand from the integers that stand in the SQL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import pytest

from discreet.base.event import Composed, Failing, Gaussian, Laplace, Pure, Select
from discreet.base.unit import Neighbours
from discreet.privacy.kernel.canonical import CatalogScans
from discreet.privacy.kernel.mechanism import (
    Bound,
    Kind,
    LargestGroup,
    Mechanisms,
    Selection,
    Stability,
)
from discreet.privacy.kernel.nodes import Fold, Unfit
from discreet.privacy.kernel.seal import Draft, MeasureDraft, Read, admit, exact_of, parse, sealed
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from kernel_kit import BOUNDED_VISITS, SCANS, duckdb_tree

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
ROWS = 'canon."town.rows" AS t'
PEOPLE = 'canon."clinic.people" AS t'
VISITS = f"{BOUNDED_VISITS} AS t WHERE t.n <= 3"
COPIES = (
    "(SELECT w.c0 AS c0, w.n AS n FROM (SELECT s.c0 AS c0, ROW_NUMBER() OVER (PARTITION BY s.c0 "
    'ORDER BY s.c0, s.c1) AS n FROM canon."clinic.wards" AS s) AS w WHERE w.n <= 4) AS x'
)
COPIED = f"{ROWS} INNER JOIN {COPIES} ON t.c1 = x.c0"
"""Rows as units, each up to four times."""
UNIT_LAPLACE = LaplaceLaw(Fraction(1))
PERCENT = Fraction(1, 100)


def clamp(column: str, low: int, high: int) -> str:
    return f"CASE WHEN {column} > {high} THEN {high} WHEN {column} < {low} THEN {low} ELSE {column} END"


def scans(neighbours: Neighbours, *, public: bool = False) -> CatalogScans:
    tables = {
        name: replace(
            each, dataset=replace(each.dataset, neighbours=neighbours, public_rows=public)
        )
        for name, each in SCANS.tables.items()
    }
    return CatalogScans(tables)


def sealed_as(draft: Draft, neighbours: Neighbours = ADD) -> Read:
    return sealed(draft, duckdb_tree(draft.sql), scans(neighbours))


def read(
    outputs: str,
    asked: dict[str, MeasureDraft],
    *,
    source: str = ROWS,
    key: str = "",
    choice: str | None = None,
    neighbours: Neighbours = ADD,
) -> Read:
    named = ", ".join(f"{term} AS r{i}" for i, term in enumerate(outputs.split("; ")))
    by = f" GROUP BY {', '.join(str(i + 1) for i in range(key.count(';') + 1))}" if key else ""
    keys = "".join(f"{each} AS k{i}, " for i, each in enumerate(key.split("; "))) if key else ""
    return sealed_as(Draft(f"SELECT {keys}{named} FROM {source}{by}", asked, choice), neighbours)


# Reads are sealed when a test runs, not when it is collected.
Sealing: TypeAlias = Callable[[], Read]


def counted(name: str = "m0", **settings: Any) -> Sealing:
    return partial(read, "COUNT(*)", {name: MeasureDraft(Kind.ROWS, (0,))}, **settings)


def units(name: str = "m0", **settings: Any) -> Sealing:
    asked = {name: MeasureDraft(Kind.UNITS, (0,))}
    return partial(read, "COUNT(DISTINCT t.u)", asked, **{"source": VISITS, **settings})


def histogram(name: str = "q0", key: str = "t.c0", **settings: Any) -> Sealing:
    return partial(read, "COUNT(*)", {}, key=key, choice=name, **settings)


def admitted_of(proposed: Mechanisms, *reads: Sealing) -> Mechanisms:
    return admit(proposed, tuple(each() for each in reads))


def bound_of(outputs: str, kind: Kind, places: tuple[int, ...], centre: int = 0) -> Bound:
    return read(outputs, {"m": MeasureDraft(kind, places, centre)}).bounds["m"]


# What one row adds, from the clamps.

LOW_AND_HIGH = clamp("t.c6", -3, 9)
ABOVE = clamp("t.c0", 2, 9)
BELOW = clamp("t.c6", -9, -2)
SUM = "SUM(CAST({0} AS BIGINT))"
SQUARE = "SUM(CAST(CAST({0} AS BIGINT) * CAST({0} AS BIGINT) AS BIGINT))"
DISTINCT_SUM = "SUM(DISTINCT CAST({0} AS BIGINT))"
DISTINCT_SQUARE = SQUARE.replace("SUM(", "SUM(DISTINCT ")


@pytest.mark.parametrize(
    ("kind", "outputs", "places", "centre", "low", "high"),
    [
        (Kind.ROWS, "COUNT(*)", (0,), 0, 0, 1),
        (Kind.PRESENT, "COUNT(t.c0)", (0,), 0, 0, 1),
        (Kind.DISTINCT, "COUNT(DISTINCT t.c0)", (0,), 0, 0, 1),
        (Kind.SUM, SUM.format(LOW_AND_HIGH), (0,), 0, -3, 9),
        (Kind.SUM, SUM.format(ABOVE), (0,), 0, 0, 9),  # a row may also be missing
        (Kind.SUM, SUM.format(BELOW), (0,), 0, -9, 0),
        (Kind.SUM, f"COUNT(*); {SUM.format(LOW_AND_HIGH)}", (1,), 0, -3, 9),
        (Kind.SUM, f"{SUM.format(LOW_AND_HIGH)}; COUNT(*)", (0,), 0, -3, 9),
        (Kind.DISTINCT_SUM, DISTINCT_SUM.format(LOW_AND_HIGH), (0,), 0, -3, 9),
        (Kind.DISTINCT_SUM, DISTINCT_SUM.format(BELOW), (0,), 0, -9, 0),
        (Kind.DISTINCT_SQUARES, DISTINCT_SQUARE.format(LOW_AND_HIGH), (0,), 0, 0, 81),
        # 2 * x - centre for x in [-3, 9], or nothing.
        (Kind.CENTRED, f"{SUM}; COUNT({{0}})", (0, 1), 0, -6, 18),
        (Kind.CENTRED, f"{SUM}; COUNT({{0}})", (0, 1), 6, -12, 12),
        (Kind.CENTRED, f"{SUM}; COUNT({{0}})", (0, 1), 20, -26, 0),
        (Kind.CENTRED, f"{SUM}; COUNT({{0}})", (0, 1), -20, 0, 38),
        (Kind.CENTRED, f"COUNT({{0}}); {SUM}", (1, 0), 6, -12, 12),
        # (2 * x - centre)^2 for x in [-3, 9], or nothing.
        (Kind.SUM, SQUARE, (0,), 0, 0, 81),
        (Kind.CENTRED, f"{SQUARE}; COUNT({{0}})", (0, 1), 0, 0, 162),
        (Kind.CENTRED, f"{SQUARE}; COUNT({{0}})", (0, 1), 81, -81, 81),
        (Kind.SQUARES, f"{SQUARE}; {SUM}; COUNT({{0}})", (0, 1, 2), 0, 0, 324),
        (Kind.SQUARES, f"{SQUARE}; {SUM}; COUNT({{0}})", (0, 1, 2), 6, 0, 144),
        (Kind.SQUARES, f"{SQUARE}; {SUM}; COUNT({{0}})", (0, 1, 2), 20, 0, 676),
        (Kind.SQUARES, f"COUNT({{0}}); {SUM}; {SQUARE}", (2, 1, 0), -20, 0, 1444),
    ],
)
def test_a_row_adds_what_the_clamps_in_the_sql_say(
    kind: Kind, outputs: str, places: tuple[int, ...], centre: int, low: int, high: int
) -> None:
    assert bound_of(outputs.format(LOW_AND_HIGH), kind, places, centre) == Bound(kind, low, high)


OTHER = clamp("t.c6", -3, 8)
MIXED = "a measure that mixes two operands"


@pytest.mark.parametrize(
    ("kind", "outputs", "places", "sentence"),
    [
        (Kind.ROWS, "COUNT(*)", (1,), "outputs that are not there"),
        (Kind.ROWS, "COUNT(*); COUNT(*)", (2,), "outputs that are not there"),
        (Kind.ROWS, "COUNT(*)", (-1,), "outputs that are not there"),
        (Kind.CENTRED, f"{SUM}; COUNT({{0}})", (0, 2), "outputs that are not there"),
        (Kind.ROWS, SUM, (0,), "outputs that do not make up rows"),
        (Kind.PRESENT, SUM, (0,), "outputs that do not make up present"),
        (Kind.DISTINCT, "COUNT({0})", (0,), "outputs that do not make up distinct"),
        (Kind.UNITS, "COUNT(DISTINCT t.c0)", (0,), "outputs that do not make up units"),
        (Kind.SUM, f"{SQUARE}; {SQUARE}", (0, 1), "outputs that do not make up sum"),
        (Kind.PRESENT, SQUARE, (0,), "outputs that do not make up present"),
        (Kind.CENTRED, SQUARE, (0,), "outputs that do not make up centred"),
        (Kind.SUM, DISTINCT_SUM, (0,), "outputs that do not make up sum"),
        (Kind.SUM, f"{SUM}; {SUM}", (0, 1), "outputs that do not make up sum"),
        (Kind.DISTINCT_SUM, SUM, (0,), "outputs that do not make up distinct sum"),
        (Kind.DISTINCT_SQUARES, SQUARE, (0,), "outputs that do not make up distinct squares"),
        (Kind.CENTRED, f"{SUM}; COUNT(*)", (0, 1), "outputs that do not make up centred"),
        (Kind.CENTRED, f"{SUM}; COUNT({{0}})", (1, 0), "outputs that do not make up centred"),
        (Kind.SQUARES, f"{SQUARE}; {SUM}", (0, 1), "outputs that do not make up squares"),
        (Kind.CENTRED, f"{SUM}; COUNT({OTHER})", (0, 1), MIXED),
        (Kind.CENTRED, f"{SQUARE}; COUNT({OTHER})", (0, 1), MIXED),
        (Kind.CENTRED, f"{SQUARE}; COUNT(*)", (0, 1), "outputs that do not make up centred"),
        (Kind.SQUARES, f"{SQUARE}; {SQUARE}; COUNT({{0}})", (0, 1, 2), "do not make up squares"),
        (Kind.SQUARES, f"{SQUARE}; {SUM.format(OTHER)}; COUNT({{0}})", (0, 1, 2), MIXED),
        (Kind.SQUARES, f"{SQUARE}; {SUM.format(OTHER)}; COUNT({OTHER})", (0, 1, 2), MIXED),
    ],
)
def test_a_measure_of_other_outputs_is_refused(
    kind: Kind, outputs: str, places: tuple[int, ...], sentence: str
) -> None:
    with pytest.raises(Unfit, match=sentence):
        bound_of(outputs.format(LOW_AND_HIGH), kind, places, 6)


@pytest.mark.parametrize("centre", [Fraction(1, 2), 0.5, Fraction(3), True, None])
def test_a_centre_is_a_whole_number(centre: Any) -> None:
    """Of x = 0 and a centre of 1/2, a row would add -1/2, but move what is rounded down by 1."""
    zero = clamp("t.c6", 0, 0)
    outputs = f"{SUM.format(zero)}; COUNT({zero})"
    with pytest.raises(Unfit, match="places or centre are no whole numbers"):
        bound_of(outputs, Kind.CENTRED, (0, 1), centre)
    assert bound_of(outputs, Kind.CENTRED, (0, 1), 1) == Bound(Kind.CENTRED, -1, 0)


@pytest.mark.parametrize("place", [True, 0.0, Fraction(0), "0"])
def test_a_place_is_a_whole_number(place: Any) -> None:
    with pytest.raises(Unfit, match="places or centre are no whole numbers"):
        bound_of("COUNT(*); COUNT(*)", Kind.ROWS, (place,))


# How often a unit counts.


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (counted(), Stability(1, False, ADD, 1)),
        (counted(neighbours=REPLACE), Stability(1, False, REPLACE, 1)),
        (counted(key="t.c1"), Stability(1, True, ADD, 1)),  # rows are units: one row, one group
        (counted(source=COPIED, key="x.n"), Stability(4, True, ADD, None)),
        (counted(source=VISITS), Stability(3, False, ADD, 1)),
        (counted(source=VISITS, key="t.c1"), Stability(3, True, ADD, None)),
        (counted(source=f"{PEOPLE} WHERE t.r <= 2", key="t.c1"), Stability(2, True, ADD, 1)),
        # Nothing bounds the rows, and nothing needs to.
        (units(source=PEOPLE, key="t.c1"), Stability(1, True, ADD, 1)),
        (units(source=PEOPLE), Stability(1, False, ADD, 1)),
        # The last key of a histogram is the bin, which is no group.
        (histogram(), Stability(1, False, ADD, None)),
        (histogram(key="t.c1; t.c0"), Stability(1, True, ADD, None)),
        (histogram(source=VISITS, key="t.c2"), Stability(3, False, ADD, None)),
    ],
)
def test_a_unit_counts_as_often_as_the_sql_lets_it(found: Sealing, expected: Stability) -> None:
    assert found().stability == expected


def test_the_dataset_is_the_one_that_the_sql_reads() -> None:
    assert (counted()().dataset, units()().dataset) == ("town", "clinic")


@pytest.mark.parametrize("public", [False, True])
def test_rows_are_public_only_where_the_owner_says_so(public: bool) -> None:
    draft = counted()().draft
    assert sealed(draft, duckdb_tree(draft.sql), scans(ADD, public=public)).public_rows is public


def test_a_read_is_private_unless_something_else_is_said() -> None:
    found = counted()()
    assert (
        Read(found.draft, found.facts, found.stability, found.bounds, "town").public_rows is False
    )


@pytest.mark.parametrize(
    ("outputs", "key", "sentence"),
    [
        ("COUNT(*)", "", "a histogram that is none"),
        ("COUNT(t.c0)", "t.c0", "a histogram that is none"),
        ("COUNT(*); COUNT(*)", "t.c0", "a histogram that is none"),
        ("COUNT(*)", "t.c1", "bins that are no bounded whole numbers"),
        ("COUNT(*)", "t.c0; t.c1", "bins that are no bounded whole numbers"),
        ("COUNT(*)", "t.c4", "bins that are no bounded whole numbers"),
    ],
)
def test_a_histogram_counts_rows_by_the_number_of_a_bin(
    outputs: str, key: str, sentence: str
) -> None:
    with pytest.raises(Unfit, match=sentence):
        read(outputs, {}, key=key, choice="q0")
    # As a measure, not as a histogram, the same SQL is sealed.
    assert read(outputs, {}, key=key).bounds == {}


def test_groups_need_not_be_numbers_where_there_are_no_bins() -> None:
    assert counted(key="t.c1")().facts.numbered is False


# The exact value.


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        (MeasureDraft(Kind.SUM, (1,)), 5),
        (MeasureDraft(Kind.ROWS, (2,)), 2),
        # Of x = 2 and 3, centre 7: 2 * 5 - 7 * 2, and (4 - 7)^2 + (6 - 7)^2.
        (MeasureDraft(Kind.CENTRED, (1, 2), 7), -4),
        (MeasureDraft(Kind.CENTRED, (1, 2)), 10),
        (MeasureDraft(Kind.SQUARES, (0, 1, 2), 7), 10),
        (MeasureDraft(Kind.SQUARES, (0, 1, 2), 0), 52),
    ],
)
def test_a_measure_is_made_of_what_the_engine_added_up(asked: MeasureDraft, value: int) -> None:
    assert exact_of(asked, Bound(asked.kind, 0, 1), (13, 5, 2)) == value


@pytest.mark.parametrize(("value", "grains"), [(7, 3), (6, 3), (-7, -4), (0, 0)])
def test_an_exact_value_is_rounded_down_to_its_grains(value: int, grains: int) -> None:
    two = Bound(Kind.SUM, 0, 2 * 10**8)
    assert exact_of(MeasureDraft(Kind.SUM, (0,)), two, (value,)) == grains


# Noise and its price.


def one(law: Any, found: Sealing) -> Any:
    return admitted_of(Mechanisms({"m0": law}, {}), found).event


@pytest.mark.parametrize(
    ("found", "l1", "l2_squared", "coordinates"),
    [
        (counted(), 1, 1, 1),
        (counted(neighbours=REPLACE), 1, 1, 1),
        (counted(key="t.c1", neighbours=REPLACE), 2, 2, 2),
        (counted(source=VISITS), 3, 9, 1),
        (counted(source=VISITS, key="t.c1"), 3, 9, 3),
        (counted(source=VISITS, key="t.c1", neighbours=REPLACE), 6, 18, 6),
        (units(source=PEOPLE, key="t.c1"), 1, 1, 1),
    ],
)
def test_noise_is_priced_for_the_greatest_change_that_the_sql_allows(
    found: Sealing, l1: int, l2_squared: int, coordinates: int
) -> None:
    assert one(LaplaceLaw(Fraction(5)), found) == Laplace(Fraction(5), Fraction(l1))
    gaussian = Gaussian(Fraction(5), Fraction(l2_squared), coordinates)
    assert one(GaussianLaw(Fraction(5)), found) == gaussian


def test_all_that_leaves_is_composed() -> None:
    proposed = Mechanisms(
        {"m0": LaplaceLaw(Fraction(5)), "m1": LaplaceLaw(Fraction(7))},
        {"q0": Selection(Fraction(1, 2), Fraction(1, 3), 4)},
    )
    found = admitted_of(proposed, counted(), counted("m1"), histogram())
    assert found.event == Composed(
        (
            Laplace(Fraction(5), Fraction(1)),
            Laplace(Fraction(7), Fraction(1)),
            Select(Fraction(1, 3)),
        )
    )
    assert found.threshold is None


def test_a_choice_alone_is_priced_as_one() -> None:
    proposed = Mechanisms({}, {"q0": Selection(Fraction(1, 2), Fraction(1, 3), 4)})
    assert admitted_of(proposed, histogram()).event == Select(Fraction(1, 3))


HALF, NINE = Fraction(1, 2), Fraction(9, 10)


@pytest.mark.parametrize(
    ("quantile", "found", "sensitivity"),
    [
        # A row moves (1-q) * below - q * above by the larger of q and 1-q.
        (HALF, histogram(), HALF),
        (NINE, histogram(), NINE),
        (1 - NINE, histogram(), NINE),
        (Fraction(0), histogram(), 1),
        (Fraction(1), histogram(), 1),
        (NINE, histogram(source=VISITS, key="t.c2"), 3 * NINE),
        # Replaced within the one group: from below to above it moves by 1.
        (NINE, histogram(neighbours=REPLACE), 1),
        (HALF, histogram(source=VISITS, key="t.c2", neighbours=REPLACE), 3),
        # Replaced, it may leave one group and enter another.
        (NINE, histogram(key="t.c1; t.c0", neighbours=REPLACE), 2 * NINE),
        (NINE, histogram(source=VISITS, key="t.c1; t.c2", neighbours=REPLACE), 6 * NINE),
        (NINE, histogram(key="t.c1; t.c0"), NINE),
    ],
)
def test_a_quantile_is_chosen_for_what_rows_move_it(
    quantile: Fraction, found: Sealing, sensitivity: Fraction
) -> None:
    # What the planner says of it counts for nothing.
    proposed = Selection(quantile, Fraction(1), 4, sensitivity=Fraction(1, 1000))
    selection = admitted_of(Mechanisms({}, {"q0": proposed}), found).selections["q0"]
    assert selection.sensitivity == sensitivity


# Refused before any price.


def law(size: Fraction | int) -> Mechanisms:
    return Mechanisms({"m0": LaplaceLaw(Fraction(size))}, {})


def choice(**changes: Any) -> Mechanisms:
    return Mechanisms({}, {"q0": replace(Selection(HALF, Fraction(1), 4), **changes)})


def private(failing: Fraction | int, name: str = "m0") -> Mechanisms:
    return Mechanisms({"m0": UNIT_LAPLACE}, {}, units=name, failing=Fraction(failing))


TOP = LargestGroup(Fraction(1, 4), flip=False)
NO_SIZE = "noise of no size"
NO_MATCH = "noise and measures do not match"
BY_WARD = units(key="t.c1")
BY_SEX = counted(key="t.c1")


@pytest.mark.parametrize(
    ("proposed", "reads", "sentence"),
    [
        (law(0), (counted(),), NO_SIZE),
        (law(-1), (counted(),), NO_SIZE),
        (choice(epsilon=Fraction(0)), (histogram(),), NO_SIZE),
        (choice(bins=0), (histogram(),), NO_SIZE),
        (choice(quantile=Fraction(11, 10)), (histogram(),), "a quantile outside 0 and 1"),
        (choice(quantile=Fraction(-1, 10)), (histogram(),), "a quantile outside 0 and 1"),
        (private(0), (BY_WARD,), NO_SIZE),
        (private(1), (BY_WARD,), NO_SIZE),
        (private(Fraction(3, 2)), (BY_WARD,), NO_SIZE),
        (Mechanisms({}, {}, top=replace(TOP, epsilon=Fraction(0))), (BY_SEX,), NO_SIZE),
        (law(1), (), "about different datasets"),
        (law(1), (units(), counted("m1")), "about different datasets"),
        (law(1), (counted(), counted()), "two measures of one name"),
        (choice(), (histogram(), histogram()), "two measures of one name"),
        (law(1), (counted(), histogram("m0")), "two measures of one name"),
        (Mechanisms({}, {}), (counted(),), NO_MATCH),
        (law(1), (counted(), counted("m1")), NO_MATCH),
        (law(1), (counted("m1"),), NO_MATCH),
        (law(1), (counted(), histogram()), NO_MATCH),
        (replace(choice(), laws={"m0": UNIT_LAPLACE}), (histogram(),), NO_MATCH),
        (replace(choice(), laws={"m0": UNIT_LAPLACE}), (counted(),), NO_MATCH),
        (Mechanisms({}, {}), (histogram(),), NO_MATCH),
        (private(PERCENT, "m1"), (BY_WARD,), "private groups without their number of units"),
        (
            private(PERCENT),
            (counted(source=VISITS, key="t.c1"),),
            "a threshold on something other than units",
        ),
        (
            private(PERCENT),
            (partial(read, "COUNT(t.c0)", {"m0": MeasureDraft(Kind.PRESENT, (0,))}, key="t.c1"),),
            "a threshold on something other than units",
        ),
    ],
)
def test_what_has_no_price_is_refused(
    proposed: Mechanisms, reads: tuple[Sealing, ...], sentence: str
) -> None:
    with pytest.raises(Unfit, match=sentence):
        admitted_of(proposed, *reads)


@pytest.mark.parametrize(
    ("proposed", "reads"),
    [
        # Small is not none.
        (law(PERCENT), (counted(),)),
        (choice(epsilon=PERCENT, bins=1), (histogram(),)),
        (private(Fraction(1, 10**9)), (BY_WARD,)),
        (private(1 - Fraction(1, 10**9)), (BY_WARD,)),
        (Mechanisms({}, {}, top=replace(TOP, epsilon=PERCENT)), (BY_SEX,)),
    ],
)
def test_the_least_noise_still_has_a_price(
    proposed: Mechanisms, reads: tuple[Sealing, ...]
) -> None:
    assert admitted_of(proposed, *reads).event != proposed.event


# Private groups. P(X >= m) of Laplace noise of scale 1 is exp(-m) / (1 + exp(-1)): 0.0049 at 5,
# 0.00181 at 6, 0.00067 at 7. A group of one unit holds 1 + X.


@pytest.mark.parametrize(
    ("found", "threshold"),
    [
        (units(source=PEOPLE, key="t.c1"), 6),  # one group: at most 0.01
        (BY_WARD, 7),  # three: 0.0033 each
        (units(key="t.c1", neighbours=REPLACE), 8),  # six: 0.0016 each
        (BY_SEX, 6),
        (counted(key="t.c1", neighbours=REPLACE), 6),  # two: 0.005 each
        # A unit of four rows: 0.0025 each, and all four may be in one group.
        (counted(source=COPIED, key="x.n"), 7 + 3),
    ],
)
def test_a_group_of_one_unit_stays_below_the_threshold(found: Sealing, threshold: int) -> None:
    admitted = admitted_of(private(PERCENT), found)
    assert admitted.threshold == threshold
    assert isinstance(admitted.event, Failing)
    assert admitted.event.delta == PERCENT
    assert isinstance(admitted.event.event, Laplace)


def test_groups_are_those_of_the_read_with_the_most_rows() -> None:
    few = units(source=f"{BOUNDED_VISITS} AS t WHERE t.n <= 1", key="t.c1")
    many = counted("m1", source=VISITS, key="t.c1")
    proposed = Mechanisms({"m0": UNIT_LAPLACE, "m1": UNIT_LAPLACE}, {}, units="m0", failing=PERCENT)
    assert admitted_of(private(PERCENT), few).threshold == 6
    for reads in ((few, many), (many, few)):
        assert admitted_of(proposed, *reads).threshold == 7


# The largest group.


@pytest.mark.parametrize(
    ("found", "sensitivity", "monotone"),
    [
        (BY_SEX, 1, True),
        (counted(key="t.c1", neighbours=REPLACE), 1, False),
        (counted(source=VISITS, key="t.c1"), 3, True),
    ],
)
@pytest.mark.parametrize("flip", [False, True])
def test_the_largest_group_is_chosen_for_the_rows_of_a_unit(
    found: Sealing, sensitivity: int, monotone: bool, flip: bool
) -> None:
    lying = LargestGroup(Fraction(1, 4), flip=flip, sensitivity=0, monotone=not monotone)
    admitted = admitted_of(Mechanisms({}, {}, top=lying), found)
    assert admitted.top == LargestGroup(
        Fraction(1, 4), flip=flip, sensitivity=sensitivity, monotone=monotone
    )
    assert admitted.event == (Pure(Fraction(1, 4)) if flip else Select(Fraction(1, 4)))


@pytest.mark.parametrize(
    ("proposed", "reads"),
    [
        (Mechanisms({}, {}, top=TOP), (BY_SEX, counted("m1", key="t.c1"))),
        (Mechanisms({}, {}, top=TOP), (units(key="t.c1"),)),
        (
            Mechanisms({}, {}, top=TOP),
            (
                partial(
                    read,
                    "COUNT(*); COUNT(*)",
                    {"m0": MeasureDraft(Kind.ROWS, (0,)), "m1": MeasureDraft(Kind.ROWS, (1,))},
                    key="t.c1",
                ),
            ),
        ),
        (Mechanisms({"m0": UNIT_LAPLACE}, {}, top=TOP), (BY_SEX,)),
        (replace(choice(), top=TOP), (BY_SEX,)),
        (Mechanisms({}, {}, top=TOP, units="m0", failing=PERCENT), (BY_SEX,)),
    ],
)
def test_the_largest_group_shows_nothing_but_itself(
    proposed: Mechanisms, reads: tuple[Sealing, ...]
) -> None:
    with pytest.raises(Unfit, match="shows more than the group"):
        admitted_of(proposed, *reads)


# Which tree is read, and what an engine can bear.


def test_the_engines_own_tree_is_read_where_it_shows_one() -> None:
    own = (
        '{"error": false, "statements": [{"node": {"type": "SELECT_NODE", "modifiers": [], '
        '"cte_map": {"map": []}, "select_list": [{"class": "FUNCTION", "type": "FUNCTION", '
        '"alias": "own", "function_name": "count_star", "distinct": false, "arguments": [], '
        '"is_operator": false}], "from_table": {"type": "BASE_TABLE", "alias": "t", '
        '"schema_name": "canon", "table_name": "town.rows"}, "where_clause": null, '
        '"group_expressions": [], "group_sets": []}, "named_param_map": []}]}'
    )
    sql = "SELECT COUNT(*) AS other FROM canon.rows AS t"
    assert parse(sql, "duckdb", own).outputs == (("own", Fold("count", None)),)
    assert parse(sql, "duckdb", None).outputs == (("other", Fold("count", None)),)


SHARED = "canon.`town.rows` AS t"


@pytest.mark.parametrize(("pattern", "fits"), [("%a%", True), ("a%b%", True), ("%a%b%", False)])
def test_two_parts_of_a_search_are_the_most_where_it_backtracks(pattern: str, fits: bool) -> None:
    sql = f"SELECT COUNT(*) AS r0 FROM {SHARED} WHERE t.c1 LIKE '{pattern}'"
    if fits:
        assert parse(sql, "spark", None)
    else:
        with pytest.raises(Unfit, match="as long as a row decides"):
            parse(sql, "spark", None)


@pytest.mark.parametrize(
    ("term", "fits"),
    [
        ("COUNT(t.c0)", True),
        ("COUNT(*)", True),
        ("SUM(CAST(t.c0 AS DECIMAL(19, 0)))", True),
        ("SUM(CAST(t.c0 AS DECIMAL(19, 0)) * CAST(t.c0 AS DECIMAL(19, 0)))", True),
        ("SUM(CAST(t.c0 AS DECIMAL(19, 0)) * CAST(t.c0 AS BIGINT))", False),
        ("SUM(CAST(t.c0 AS BIGINT) * CAST(t.c0 AS DECIMAL(19, 0)))", False),
        ("SUM(CAST(t.c0 AS BIGINT))", False),
        ("SUM(t.c0)", False),
        ("SUM(3)", False),
        ("COUNT(t.c0) + SUM(t.c0)", False),
    ],
)
def test_a_sum_is_wide_where_each_summand_is_a_decimal(term: str, fits: bool) -> None:
    sql = f"SELECT {term} AS r0 FROM {SHARED}"
    if fits:
        assert parse(sql, "spark", None)
    else:
        with pytest.raises(Unfit, match="could leave 64 bits"):
            parse(sql, "spark", None)
    assert parse(sql.replace("`", '"'), "postgres", None)


def test_what_was_judged_cannot_be_changed_afterwards() -> None:
    """A planner that keeps its dictionary and swaps a count for a sum gets nothing of it."""
    outputs = f"COUNT(t.c0) AS r0, {SUM.format(LOW_AND_HIGH)} AS r1"
    places = [0]
    asked = {"m": MeasureDraft(Kind.PRESENT, places)}  # type: ignore[arg-type]  # a list, as a liar would
    found = sealed_as(Draft(f"SELECT {outputs} FROM {ROWS}", asked))
    asked["m"] = MeasureDraft(Kind.SUM, (1,))
    places[0] = 1
    assert dict(found.draft.measures) == {"m": MeasureDraft(Kind.PRESENT, (0,))}
    with pytest.raises(TypeError):
        found.draft.measures["m"] = asked["m"]  # type: ignore[index]


class Free(LaplaceLaw):
    """A law that says of itself that it costs nothing."""

    def event(self, **_: Any) -> Any:
        return Composed(())


def test_only_known_laws_of_exact_sizes_are_priced() -> None:
    for law in (Free(Fraction(1)), LaplaceLaw(float("nan")), LaplaceLaw(1.5)):  # type: ignore[arg-type]
        with pytest.raises(Unfit, match=r"unknown law|of no size"):
            admitted_of(Mechanisms({"m0": law}, {}), counted())
    assert admitted_of(Mechanisms({"m0": UNIT_LAPLACE}, {}), counted()).event == Laplace(
        Fraction(1), Fraction(1)
    )


@pytest.mark.parametrize("failing", [float("nan"), float("inf"), 0.5, True])
def test_the_chance_of_a_threshold_is_a_fraction(failing: Any) -> None:
    proposed = Mechanisms({"m0": UNIT_LAPLACE}, {}, units="m0", failing=failing)
    with pytest.raises(Unfit, match="of no size"):
        admitted_of(proposed, units(key="t.c1"))
