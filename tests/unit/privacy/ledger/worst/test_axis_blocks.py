"""An axis as nested blocks: every level holds all atoms, and each block knows what is above and below it."""

import itertools

import numpy as np
import pytest

from discreet.base.event import Positions
from discreet.privacy.ledger.worst.grid import UNCUT, BlockTree, bounds


def tree(atoms: int) -> BlockTree:
    axis = UNCUT
    for position in range(atoms - 1):
        axis, _ = axis.refined(Positions.points([position]))
    assert axis.count == atoms
    return BlockTree(axis)


def held(made: BlockTree, level: int) -> list[set[int]]:
    """Return the atoms of each block of a level."""
    edges = made.edges[level].tolist()
    return [set(range(low, high)) for low, high in itertools.pairwise(edges)]


@pytest.mark.parametrize("atoms", [1, 2, 31, 32, 33, 40, 200])
def test_levels_go_from_everything_to_single_atoms(atoms):
    made = tree(atoms)
    assert held(made, 0) == [set(range(atoms))]
    assert held(made, made.depth) == [{atom} for atom in range(atoms)]


@pytest.mark.parametrize("atoms", [1, 7, 40, 200])
def test_each_block_lies_in_the_one_above_that_holds_it(atoms):
    made = tree(atoms)
    for level in range(made.depth + 1):
        for above in range(level + 1):
            wanted = [
                next(at for at, outer in enumerate(held(made, above)) if inner <= outer)
                for inner in held(made, level)
            ]
            assert made.ancestors(level, above).tolist() == wanted


@pytest.mark.parametrize("atoms", [7, 40, 200])
def test_the_children_of_blocks_are_all_that_lie_in_them(atoms):
    made = tree(atoms)
    for level in range(made.depth):
        blocks = np.arange(0, len(held(made, level)), 2)
        children, parents = made.children(level, blocks)
        wanted = [
            (child, place)
            for place, block in enumerate(blocks.tolist())
            for child, inner in enumerate(held(made, level + 1))
            if inner <= held(made, level)[block]
        ]
        assert list(zip(children.tolist(), parents.tolist(), strict=True)) == wanted


def test_what_is_remembered_of_positions_is_not_for_writing():
    lows, highs = bounds(Positions(((3, 9),)))
    for shared in (lows, highs):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 5
    assert bounds(Positions(((3, 9),)))[0].tolist() == [3]
