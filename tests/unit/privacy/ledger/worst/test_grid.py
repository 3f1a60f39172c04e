"""Grids of bills against a plain table of every position: added, joined, asked and found again."""

import random

import numpy as np
import pytest

from discreet.base.event import Positions
from discreet.errors import InternalError
from discreet.privacy.ledger.worst import grid as grid_module
from discreet.privacy.ledger.worst.grid import SATURATED, BillGrid, join
from discreet.privacy.ledger.worst.small_grids import Nearest

SIZES = {"a": 12, "b": 7, "c": 5}
LOW = -1


def positions(rng: random.Random, size: int) -> Positions:
    if rng.random() < 0.5:
        return Positions.of([tuple(sorted((rng.randrange(LOW, size), rng.randrange(LOW, size))))])
    return Positions.points(rng.sample(range(LOW, size), rng.randint(1, 4)))


def box(rng: random.Random, names) -> dict:
    return {name: positions(rng, SIZES[name]) for name in names if rng.random() < 0.8}


def held(asked, names) -> np.ndarray:
    """Return which points of the plain table lie in a box."""
    sides = [
        [name not in asked or at in asked[name] for at in range(LOW, SIZES[name])] for name in names
    ]
    inside = np.array(True)
    for side in sides:
        inside = np.logical_and.outer(inside, np.array(side))
    return inside


def spread(grid: BillGrid, component: int, names) -> np.ndarray:
    """Return what a grid bills to every point."""
    where = []
    for name in names:
        axis = grid.axes[grid.names.index(name)]
        where.append(axis.atoms_at(np.arange(LOW, SIZES[name])))
    order = [grid.names.index(name) for name in names]
    return grid.planes[component].transpose(order)[np.ix_(*where)]


def filled(seed: int, names, *, signs=(1,), many: int = 8) -> tuple[BillGrid, np.ndarray]:
    """Return a grid after charges of several boxes each, and the plain table of the same."""
    rng, grid = random.Random(seed), BillGrid(names)
    truth = np.zeros([SIZES[name] - LOW for name in names], dtype=np.int64)
    for _ in range(many):
        boxes = tuple((rng.choice(signs), box(rng, names)) for _ in range(rng.randint(1, 3)))
        amount = rng.randrange(1, 50)
        grid.add(boxes, (amount,), grid.fit(boxes))
        for sign, each in boxes:
            truth += sign * amount * held(each, names)
    return grid, truth


@pytest.mark.parametrize("signs", [(1,), (1, -1)])
@pytest.mark.parametrize("seed", range(6))
def test_a_charge_of_several_boxes_bills_each_point_by_their_signs(seed, signs):
    grid, truth = filled(seed, ("a", "b"), signs=signs)
    assert (spread(grid, 0, ("a", "b")) == truth).all()
    assert grid.cells == grid.planes[0].size


@pytest.mark.parametrize("slices", [0, 64])
@pytest.mark.parametrize("seed", range(4))
def test_the_greatest_bill_in_a_box_is_found_and_so_is_who_pays_it(seed, slices, monkeypatch):
    monkeypatch.setattr(grid_module, "MAX_SLICES", slices)  # cells as slices, or as one mesh
    names, rng = ("a", "b", "c"), random.Random(seed)
    grid, truth = filled(seed, names)
    for _ in range(10):
        asked = box(rng, names)
        highest = grid.highest(asked, 0)
        assert highest == truth[held(asked, names)].max()
        cell = grid.locate(asked, 0, highest)
        assert grid.planes[0][cell] == highest
        for name, axis, atom in zip(names, grid.axes, cell, strict=True):
            assert name not in asked or axis.positions(atom) & asked[name]


def test_a_bill_that_nobody_in_the_box_pays_is_not_found():
    grid, truth = filled(1, ("a", "b"))
    with pytest.raises(InternalError):
        grid.locate({}, 0, int(truth.max()) + 1)


def test_what_was_never_billed_is_nothing_anywhere():
    grid, _ = filled(1, ("a", "b"))
    asked = {"a": Positions.points([3])}
    assert grid.highest(asked, 1) == 0
    atom, _ = grid.locate(asked, 1, 0)
    assert 3 in grid.axes[0].positions(atom)


@pytest.mark.parametrize("seed", range(6))
def test_joined_grids_are_the_sum_of_both_whatever_axes_they_have(seed):
    names = ("c", "a", "b")
    (one, first), (other, second) = filled(seed, ("b", "a")), filled(seed + 50, ("a", "c"))
    joined = join([one, other], names, cap=10**6)
    truth = first.T[None, :, :] + second.T[:, :, None]
    assert (spread(joined, 0, names) == truth).all()
    assert joined.mass[0] == one.mass[0] + other.mass[0]


def test_components_are_joined_each_with_its_own():
    one, other = BillGrid(("a",)), BillGrid(("a",))
    for grid, amounts in ((one, (3, 0)), (other, (0, 4))):
        boxes = ((1, {"a": Positions(((2, 5),))}),)
        grid.add(boxes, amounts, grid.fit(boxes))
    joined = join([one, other], ("a",), cap=100)
    assert {c: int(plane.max()) for c, plane in joined.planes.items()} == {0: 3, 1: 4}
    assert joined.mass == {0: 3, 1: 4}


def test_a_joint_grid_takes_as_many_entries_as_it_may_and_no_more():
    one, other = filled(1, ("a",))[0], filled(2, ("b",))[0]
    needed = one.cells * other.cells
    assert join([one, other], ("a", "b"), cap=needed).entries == needed
    assert join([one, other], ("a", "b"), cap=needed - 1) is None


def test_bills_stop_before_they_could_wrap():
    boxes = ((1, {"a": Positions(((2, 5),))}),)
    grid = BillGrid(("a",))
    for _ in range(3):
        grid.add(boxes, (SATURATED - 1,), grid.fit(boxes))
    assert grid.highest({}, 0) == SATURATED == 2**60
    joined = join([grid] * 12, ("a",), cap=100)
    assert joined.highest({}, 0) == SATURATED


@pytest.mark.parametrize("seed", range(4))
def test_without_splitting_every_cell_that_is_touched_pays(seed):
    names, rng = ("a", "b"), random.Random(seed)
    grid, truth = filled(seed, names, many=3)
    for _ in range(5):
        asked = box(rng, names)
        grid.cover(((1, asked),), (7,))
        truth += 7 * held(asked, names)
        assert (spread(grid, 0, names) >= truth).all()


def test_the_excess_is_how_much_wider_the_touched_atoms_are():
    grid = BillGrid(("a",))
    boxes = ((1, {"a": Positions(((0, 5),))}), (1, {"a": Positions(((6, 9),))}))
    grid.add(boxes, (1,), grid.fit(boxes))
    assert Nearest([grid]).excesses({"a": Positions(((0, 5),))}) == [1.0]
    assert Nearest([grid]).excesses({"a": Positions(((0, 2),))}) == [2.0]
    assert Nearest([grid]).excesses({"a": Positions(((5, 6),))}) == [5.0]
    assert Nearest([grid]).excesses({}) == [1.0]
