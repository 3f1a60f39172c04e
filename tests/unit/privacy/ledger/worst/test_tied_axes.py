"""Tied axes: a grid as long as it fits, sums that bound what is not searched, and nothing lost on joining."""

import itertools

import pytest

from discreet.base.event import EVERYONE, Positions, Region
from discreet.base.unit import Neighbours
from discreet.privacy.ledger.worst.worst_hit import NEAR, TiedAxes, Worst, meet


def span(low: int, high: int) -> Positions:
    return Positions(((low, high),))


def add(group: TiedAxes, amounts, **box) -> None:
    boxes = ((1, box),)
    peaks = [group.highest(box, c, amount) if amount else None for c, amount in enumerate(amounts)]
    group.add(boxes, amounts, peaks)


@pytest.mark.parametrize(("cap", "kept"), [(2, True), (1, False)])
def test_a_grid_is_kept_up_to_its_cap_and_no_further(cap, kept):
    group = TiedAxes(1, cap)
    add(group, (5,), a=span(0, 3))  # two cells: in and out
    assert (group.grid is not None) is kept
    assert (group.upper, group.best) == ([5], [5])


@pytest.mark.parametrize(("cap", "kept"), [(6, True), (5, False)])
def test_every_component_that_is_paid_takes_its_cells(cap, kept):
    group = TiedAxes(3, cap)
    add(group, (5, 0, 7), a=span(0, 3))
    add(group, (1, 0, 1), a=span(2, 5))  # in the first, in both, in the second, in none
    assert group.grid is None
    group = TiedAxes(3, cap)
    add(group, (5, 0, 7), a=span(0, 3))
    add(group, (5, 2, 7), a=span(0, 3))  # two cells for each of three
    assert (group.grid is not None) is kept
    assert group.upper == [10, 2, 14]


@pytest.mark.parametrize("cap", [1, 10**6])
def test_no_bound_is_above_the_sum_of_all_that_was_paid(cap):
    group = TiedAxes(2, cap)
    for day in range(20):
        add(group, (3, 0), day=span(day, day), hour=span(day % 4, 3))
    assert group.total == [60, 0]
    assert 3 <= group.upper[0] <= 60
    assert group.upper[1] == group.best[1] == 0
    group.settle()
    assert group.upper[1] == group.best[1] == 0
    assert 3 <= group.best[0] <= group.upper[0] <= 60


def worst(cap: int = 10**6, neighbours=Neighbours.ADD_REMOVE) -> Worst:
    return Worst(1, ceiling=(10**9,), neighbours=neighbours, cell_cap=cap)


AXES = ("a", "b", "c", "d")


@pytest.mark.parametrize("cap", [1, 10**6])
@pytest.mark.parametrize("many", [2, 3, 4])
def test_a_charge_on_several_axes_takes_over_all_that_was_paid_on_each(cap, many):
    """Whoever lies in every region pays all of it, before the axes are tied and after."""
    found = worst(cap)
    for turn, name in enumerate(AXES):
        found.add(Region.of({name: span(0, 3)}), (10**turn,))
    bridge = Region.of({name: span(0, 3) for name in AXES[:many]})
    found.add(bridge, (50_000,))
    assert found.peak() == (51_111,)
    found.add(bridge, (50_000,))
    assert found.peak() == (101_111,)
    beside = Region.of({name: span(9, 9) for name in AXES[:many]})
    found.add(beside, (70_000,))
    most = 101_111 if cap > 1 else 101_111 + 101_111 // NEAR  # nobody is in both
    assert 101_111 <= found.peak()[0] <= most


@pytest.mark.parametrize("cap", [1, 30, 10**6])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_in_which_axes_are_tied_loses_nothing(cap, order):
    charges = [
        ({"a": span(0, 3)}, 1),
        ({"b": span(0, 3)}, 10),
        ({"c": span(0, 3)}, 100),
    ]
    ties = [
        ({"a": span(1, 2), "b": span(1, 2)}, 1000),
        ({"b": span(1, 2), "c": span(1, 2)}, 10_000),
        ({"a": span(1, 2), "c": span(1, 2)}, 100_000),
    ]
    found, at_once = worst(cap), worst(cap)
    every = charges + [ties[at] for at in order]
    for axes, amount in every:
        found.add(Region.of(axes), (amount,))
    at_once.extend((Region.of(axes), (amount,)) for axes, amount in every)
    assert found.peak() == at_once.peak() == (111_111,)


def test_what_everyone_pays_comes_on_top_whenever_it_is_asked():
    charges = [(EVERYONE, 7), (Region.of({"a": span(0, 3)}), 5), (EVERYONE, 2)]
    for order in itertools.permutations(charges):
        found, at_once = worst(), worst()
        for region, amount in order:
            found.add(region, (amount,))
        at_once.extend((region, (amount,)) for region, amount in order)
        assert found.peak() == at_once.peak() == (14,)


def test_the_common_part_of_boxes():
    assert meet({"a": span(0, 5)}, {"a": span(3, 9)}) == {"a": span(3, 5)}
    assert meet({"a": span(0, 5)}, {"b": span(3, 9)}) == {"a": span(0, 5), "b": span(3, 9)}
    assert meet({"a": span(0, 5)}, {"a": span(6, 9), "b": span(0, 0)}) is None
    assert meet({}, {}) == {}
