"""Grids seen from afar: no block is bounded below what one of its cells pays, whatever is lent."""

import itertools

import numpy as np
import pytest

from discreet.base.event import Positions
from discreet.privacy.ledger.worst import search
from discreet.privacy.ledger.worst.grid import UNCUT, BillGrid, BlockTree, common
from discreet.privacy.ledger.worst.search import BlockBounds, balance, crowded

NAMES = ("a", "b")
SIZES = {"a": 120, "b": 60}


def made_bounds(seed: int, names=NAMES, charges: int = 40) -> BlockBounds:
    rng, grid = np.random.default_rng(seed), BillGrid(names)
    for _ in range(charges):
        box = {}
        for name in names:
            low, high = sorted(rng.integers(0, SIZES[name], size=2).tolist())
            box[name] = Positions(((low, high),))
        boxes = ((1, box),)
        grid.add(boxes, (int(rng.integers(1, 100)),), grid.fit(boxes))
    return BlockBounds(grid)


def trees(*all_bounds: BlockBounds) -> list[BlockTree]:
    """Return a tree for each axis that tells apart what any of the grids does."""
    found = []
    for name in NAMES:
        grids = [each.grid for each in all_bounds if name in each.grid.names]
        found.append(BlockTree(common([grid.axes[grid.names.index(name)] for grid in grids])))
    return found


def every_cell(planted: list[BlockTree], all_bounds) -> np.ndarray:
    """Return the bill of each pair of leaves, summed over the grids."""
    first = [np.unique(tree.axis.atom_of, return_index=True)[1] for tree in planted]
    points = [tree.axis.starts[at] for tree, at in zip(planted, first, strict=True)]
    total = np.zeros([tree.axis.count for tree in planted], dtype=np.int64)
    for each in all_bounds:
        grid = each.grid
        places = [
            axis.atoms_at(points[NAMES.index(name)])
            for name, axis in zip(grid.names, grid.axes, strict=True)
        ]
        shape = [len(points[i]) if name in grid.names else 1 for i, name in enumerate(NAMES)]
        total += grid.planes[0][np.ix_(*places)].reshape(shape)
    return total


def blocks_of(planted: list[BlockTree], levels) -> tuple[np.ndarray, list]:
    """Return every node of these levels, and the leaves that each one holds."""
    edges = [tree.edges[level].tolist() for tree, level in zip(planted, levels, strict=True)]
    numbers = list(itertools.product(*[range(len(each) - 1) for each in edges]))
    held = [
        np.ix_(*[range(e[i], e[i + 1]) for e, i in zip(edges, node, strict=True)])
        for node in numbers
    ]
    return np.array(numbers), held


def bounds_of(all_bounds, levels, nodes) -> np.ndarray:
    return sum(np.broadcast_to(each.bound(0, levels, nodes), len(nodes)) for each in all_bounds)


def require_above(planted, all_bounds, *, tight: bool = False) -> None:
    truth = every_cell(planted, all_bounds)
    for levels in itertools.product(*[range(tree.depth + 1) for tree in planted]):
        nodes, held = blocks_of(planted, levels)
        highest = np.array([truth[leaves].max() for leaves in held])
        found = bounds_of(all_bounds, levels, nodes)
        assert (found >= highest).all(), levels
        if tight or levels == tuple(tree.depth for tree in planted):
            assert (found == highest).all(), levels


def test_a_grid_alone_bounds_each_block_by_its_greatest_cell():
    one = made_bounds(1)
    planted = trees(one)
    assert all(tree.depth > 1 for tree in planted)
    one.use_trees(planted, NAMES)
    require_above(planted, [one], tight=True)


@pytest.mark.parametrize("atoms", [1, 2, 3])
def test_an_axis_of_very_few_atoms_is_no_exception(atoms):
    many, few = made_bounds(1), BillGrid(NAMES)
    for turn in range(30):
        box = {"a": Positions(((turn, 2 * turn),))}
        if atoms > 1:
            box["b"] = Positions.points([turn % (atoms - 1)])
        boxes = ((1, box),)
        few.add(boxes, (turn + 1,), few.fit(boxes))
    assert few.axes[1].count == atoms
    alone = BlockBounds(few)
    planted = trees(alone)
    alone.use_trees(planted, NAMES)
    require_above(planted, [alone], tight=True)
    both = [many, BlockBounds(few)]
    planted = trees(*both)
    for each in both:
        each.use_trees(planted, NAMES)
    balance(both, 0, sweeps=3)
    require_above(planted, both)


@pytest.mark.parametrize("seed", range(3))
def test_grids_that_lend_each_other_stay_above_in_every_block(seed):
    several = [made_bounds(seed), made_bounds(seed + 10, ("a",)), made_bounds(seed + 20, ("b",))]
    planted = trees(*several)
    for each in several:
        each.use_trees(planted, NAMES)
    balance(several, 0, sweeps=3)
    assert any(each.shifts for each in several)
    require_above(planted, several)


def test_what_was_lent_follows_its_leaves_to_a_finer_tree():
    several = [made_bounds(3), made_bounds(13, ("a",))]
    coarse = trees(*several)
    for each in several:
        each.use_trees(coarse, NAMES)
    balance(several, 0, sweeps=3)
    boxes = ((1, {"a": Positions.points(range(0, SIZES["a"], 3))}),)
    several[1].grid.add(boxes, (50,), several[1].grid.fit(boxes))
    several[1].forget()
    fine = trees(*several)
    assert fine[0].axis.count > coarse[0].axis.count
    for each in several:
        each.use_trees(fine, NAMES)
    assert not sum(each.shifts[0, 0] for each in several).any()
    require_above(fine, several)


def test_coarser_planes_where_a_fine_one_would_be_large_stay_above(monkeypatch):
    monkeypatch.setattr(search, "KEPT", 4)
    thin, other = made_bounds(5, charges=4), made_bounds(6, charges=60)
    planted = trees(thin, other)
    thin.use_trees(planted, NAMES)
    require_above(planted, [thin])


def test_pooled_planes_take_no_more_room_than_they_may(monkeypatch):
    monkeypatch.setattr(search, "KEPT", 64)
    one = made_bounds(1)
    planted = trees(one)
    one.use_trees(planted, NAMES)
    largest = 0
    for levels in itertools.product(*[range(tree.depth + 1) for tree in planted]):
        one.bound(0, levels, np.zeros((1, 2), dtype=np.int64))
        sizes = [plane.size for plane in one._planes.values()]
        largest = max(largest, *sizes)
        assert sum(sizes) <= max(64, one.grid.entries, largest)


def test_what_nobody_pays_has_no_greatest_entry():
    one = made_bounds(1)
    one.use_trees(trees(one), NAMES)
    assert one.top(0) == one.grid.planes[0].max()
    assert one.top(1) == 0
    assert one.bound(1, (0, 0), np.zeros((1, 2), dtype=np.int64)) == 0


def test_sums_are_crowded_once_they_pass_the_end_and_not_before(monkeypatch):
    monkeypatch.setattr(search, "SATURATED", 100)
    pair = []
    for amount in (60, 40):
        grid = BillGrid(("a",))
        grid.axes = (UNCUT,)
        grid.cover(((1, {}),), (amount,))
        pair.append(BlockBounds(grid))
    assert not crowded(pair, 0)
    pair[1].grid.cover(((1, {}),), (1,))
    pair[1].forget()
    assert crowded(pair, 0)
