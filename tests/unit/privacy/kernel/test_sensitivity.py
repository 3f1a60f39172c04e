"""How far one unit moves a measure, by hand: rows, groups, neighbours, and grains of large numbers."""

from __future__ import annotations

from itertools import product

import pytest

from discreet.base.unit import Neighbours
from discreet.privacy.kernel.mechanism import Bound, Kind, Stability

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
COUNT = Bound(Kind.ROWS, 0, 1)
MIXED = Bound(Kind.SUM, -3, 5)
BELOW = Bound(Kind.SUM, -7, 0)
UNITS = Bound(Kind.UNITS, 0, 1)
HUGE = 10**8
"""As much as one row may add before values are rounded to grains."""


@pytest.mark.parametrize(
    ("measure", "reach", "grain"),
    [
        (COUNT, 1, 1),
        (MIXED, 5, 1),
        (BELOW, 7, 1),
        (Bound(Kind.SUM, 0, 2 * HUGE - 1), 2 * HUGE - 1, 1),
        (Bound(Kind.SUM, 0, 2 * HUGE), 2 * HUGE, 2),
        (Bound(Kind.SUM, -3 * HUGE, HUGE), 3 * HUGE, 3),
    ],
)
def test_a_row_moves_a_measure_by_its_larger_end(measure: Bound, reach: int, grain: int) -> None:
    assert (measure.reach, measure.grain) == (reach, grain)


@pytest.mark.parametrize(
    ("stability", "measure", "l1", "l2_squared", "coordinates"),
    [
        # Somebody comes: each row moves one group by at most the reach, all perhaps the same one.
        (Stability(1, False, ADD), COUNT, 1, 1, 1),
        (Stability(4, False, ADD), COUNT, 4, 16, 1),
        (Stability(4, True, ADD), COUNT, 4, 16, 4),
        (Stability(4, True, ADD, 1), COUNT, 4, 16, 1),
        (Stability(4, True, ADD, 3), MIXED, 20, 400, 3),
        (Stability(4, False, ADD), BELOW, 28, 784, 1),
        # Somebody else comes instead, without groups: from one end of the range to the other.
        (Stability(4, False, REPLACE), COUNT, 4, 16, 1),
        (Stability(4, False, REPLACE), MIXED, 32, 1024, 1),
        (Stability(4, False, REPLACE), BELOW, 28, 784, 1),
        (Stability(4, False, REPLACE), Bound(Kind.SUM, 2, 5), 20, 400, 1),  # or without any row
        (Stability(4, False, REPLACE), Bound(Kind.SUM, -5, -2), 20, 400, 1),
        # With groups: out of one, into another, or within one from end to end.
        (Stability(4, True, REPLACE), COUNT, 8, 32, 8),
        (Stability(4, True, REPLACE, 1), COUNT, 8, 32, 2),
        (Stability(4, True, REPLACE), MIXED, 40, 1024, 8),  # (4 * 8)^2, more than 2 * (4 * 5)^2
        (Stability(4, True, REPLACE), BELOW, 56, 2 * 784, 8),
        (Stability(4, True, REPLACE), Bound(Kind.SUM, -5, 1), 40, 800, 8),  # 2 * 20^2
        (Stability(4, True, REPLACE), Bound(Kind.SUM, -1, 5), 40, 800, 8),
        (Stability(3, True, REPLACE), Bound(Kind.SUM, 0, 2), 12, 72, 6),
        # A person is one unit, in each of their groups.
        (Stability(4, False, ADD), UNITS, 1, 1, 1),
        (Stability(4, False, REPLACE), UNITS, 1, 1, 1),
        (Stability(4, True, ADD), UNITS, 4, 16, 4),
        (Stability(4, True, ADD, 1), UNITS, 1, 1, 1),
        (Stability(4, True, ADD, 9), UNITS, 4, 16, 4),
        (Stability(4, True, REPLACE, 1), UNITS, 2, 2, 2),
    ],
)
def test_one_unit_moves_a_measure_by_so_much(
    stability: Stability, measure: Bound, l1: int, l2_squared: int, coordinates: int
) -> None:
    found = stability.l1(measure), stability.l2_squared(measure), stability.coordinates
    assert found == (l1, l2_squared, coordinates)


THREE = Bound(Kind.SUM, 0, 3 * HUGE)
BOTH = Bound(Kind.SUM, -2 * HUGE, 3 * HUGE + 1)


@pytest.mark.parametrize(
    ("stability", "measure", "l1", "l2_squared"),
    [
        # In grains of 3, and one more in each group that moved, since each is rounded down.
        (Stability(1, False, ADD), THREE, HUGE + 1, (HUGE + 1) ** 2),
        (Stability(2, True, ADD), THREE, 2 * HUGE + 2, (2 * HUGE + 2) ** 2),
        (Stability(2, True, ADD, 1), THREE, 2 * HUGE + 1, (2 * HUGE + 1) ** 2),
        (Stability(1, False, REPLACE), BOTH, 166666667 + 1, 166666668**2),
        (Stability(1, True, REPLACE), THREE, 2 * HUGE + 2, 2 * (HUGE + 1) ** 2),
        # From end to end 500,000,001 is 166,666,667 grains; two groups may be rounded.
        (Stability(1, True, REPLACE), BOTH, 200000000 + 2, 166666669**2),
        # 100,000,000 and a third grains count as one more.
        (
            Stability(1, True, REPLACE),
            Bound(Kind.SUM, 0, 3 * HUGE + 1),
            200000000 + 2,
            2 * (HUGE + 2) ** 2,
        ),
    ],
)
def test_rounding_to_grains_is_paid_for(
    stability: Stability, measure: Bound, l1: int, l2_squared: int
) -> None:
    assert (stability.l1(measure), stability.l2_squared(measure)) == (l1, l2_squared)


TWO = Bound(Kind.SUM, 0, 2 * HUGE)


def test_the_least_grains_are_paid_for_too() -> None:
    assert Stability(1, False, ADD).l1(TWO) == HUGE + 1
    assert Stability(1, True, REPLACE).l2_squared(TWO) == 2 * (HUGE + 1) ** 2


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2, 1), (-1, 2), (-2, 0)])
def test_nobody_moves_more_in_a_small_world(
    neighbours: Neighbours, grouped: bool, low: int, high: int
) -> None:
    """Every unit with up to two rows, in two groups where there are groups, all pairs of them."""
    rows = [(value, group) for value in range(low, high + 1) for group in range(1 + grouped)]
    people = [(), *((row,) for row in rows), *product(rows, rows)]
    sums = {tuple(sum(v for v, g in each if g == at) for at in range(2)) for each in people}
    before = [(0, 0)] if neighbours is ADD else sums
    moves = [[abs(a - b) for a, b in zip(x, y, strict=True)] for x in sums for y in before]
    stability, measure = Stability(2, grouped, neighbours), Bound(Kind.SUM, low, high)
    assert max(map(sum, moves)) == stability.l1(measure)
    assert max(a * a + b * b for a, b in moves) == stability.l2_squared(measure)
