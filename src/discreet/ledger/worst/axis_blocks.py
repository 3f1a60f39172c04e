"""An axis as nested blocks of atoms, and how a grid's atoms are pooled under them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from discreet.core.arrays import Bits, Integers
from discreet.ledger.worst.axes import Axis

BRANCHING = 32  # children of a node; small axes go from "anywhere" to single atoms in one step


@dataclass(frozen=True, slots=True, eq=False)
class BlockTree:
    """An axis as nested blocks of atoms: level 0 is all of it, the last level single atoms."""

    axis: Axis
    edges: tuple[Integers, ...] = field(init=False)

    def __post_init__(self) -> None:
        depth = max(1, math.ceil(math.log(max(2, self.axis.count), BRANCHING)))
        edges = [np.array([0, self.axis.count])]
        for level in range(1, depth + 1):
            blocks = math.ceil(self.axis.count ** (level / depth))
            if level == depth:
                blocks = self.axis.count
            inner = np.linspace(0, self.axis.count, blocks + 1).round().astype(np.int64)
            edges.append(np.union1d(edges[-1], inner))  # nested: blocks never straddle parents
        object.__setattr__(self, "edges", tuple(edges))

    @property
    def depth(self) -> int:
        """Return the number of the last level."""
        return len(self.edges) - 1

    def children(self, level: int, blocks: Integers) -> tuple[Integers, Integers]:
        """Return the blocks one level below `blocks`, and for each the place of its parent."""
        finer = np.searchsorted(self.edges[level + 1], self.edges[level])
        first, number = finer[blocks], finer[blocks + 1] - finer[blocks]
        parent = np.repeat(np.arange(len(blocks)), number)
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(number) - number, number)
        return first[parent] + offset, parent

    def ancestors(self, level: int, above: int) -> Integers:
        """Return, for each block of `level`, the block of the level `above` that holds it."""
        return np.searchsorted(self.edges[above], self.edges[level][:-1], side="right") - 1

    def reached(self, level: int, atoms: Integers) -> Bits:
        """Return which blocks of `level` contain one of `atoms`."""
        found = np.zeros(len(self.edges[level]) - 1, dtype=np.bool_)
        found[np.searchsorted(self.edges[level], atoms, side="right") - 1] = True
        return found


@dataclass(frozen=True, slots=True, eq=False)
class AtomPool:
    """For one level of a tree: where a pooled plane keeps each block, and what is pooled there.

    Place i covers the grid's atoms members[offsets[i] : offsets[i + 1]]. Member j stands for the
    leaves order[begins[j] : begins[j + 1]] of the tree: those of its block that touch its atom.
    """

    place: Integers
    members: Integers
    offsets: Integers
    order: Integers
    begins: Integers

    def shrink(self, plane: Integers, dimension: int, shift: Integers | None) -> Integers:
        """Return the greatest entry of each place along `dimension`, after adding `shift`."""
        whole = len(self.offsets) == 1  # then the members are simply all atoms, in order
        taken = plane if whole else plane.take(self.members, axis=dimension)
        if shift is not None:
            added = np.maximum.reduceat(shift[self.order], self.begins)
            taken = taken + added.reshape([-1 if d == dimension else 1 for d in range(plane.ndim)])
        if whole:
            highest: Integers = taken.max(axis=dimension, keepdims=True)
            return highest
        if len(self.members) == len(self.offsets):
            return taken
        return np.maximum.reduceat(taken, self.offsets, axis=dimension)


def pools(tree: BlockTree, mine: Axis) -> tuple[AtomPool, ...]:
    """Return one pool for each level of `tree`, over the atoms of `mine`.

    Guarantee: the place of a block covers every atom of `mine` that shares a position with it.
    """
    starts = np.union1d(tree.axis.starts, mine.starts)
    pairs = np.unique(tree.axis.atoms_at(starts) * mine.count + mine.atoms_at(starts))
    leaf, atom = pairs // mine.count, pairs % mine.count
    found: list[AtomPool] = []
    for edges in tree.edges[:-1]:
        block = np.searchsorted(edges, leaf, side="right") - 1
        found.append(_blocks(block, atom, leaf, mine.count))
    return (*found, _leaves(leaf, atom, tree.axis.count))


def _blocks(block: Integers, atom: Integers, leaf: Integers, atoms: int) -> AtomPool:
    keys = block * atoms + atom
    order = np.argsort(keys, kind="stable")
    members, begins = np.unique(keys[order], return_index=True)
    _, offsets = np.unique(members // atoms, return_index=True)
    return AtomPool(np.arange(len(offsets)), members % atoms, offsets, leaf[order], begins)


def _leaves(leaf: Integers, atom: Integers, leaves: int) -> AtomPool:
    size = np.bincount(leaf, minlength=leaves)
    begin = np.cumsum(size) - size
    alone = size == 1
    # Leaves within a single atom share that atom's place; each other leaf has its own.
    single, place_of_alone = np.unique(atom[begin[alone]], return_inverse=True)
    place = np.empty(leaves, dtype=np.int64)
    place[alone] = place_of_alone
    place[~alone] = len(single) + np.arange(int((~alone).sum()))
    members = np.concatenate((single, atom[~alone[leaf]]))
    widths = np.concatenate((np.ones(len(single), dtype=np.int64), size[~alone]))
    nothing = np.zeros(0, dtype=np.int64)
    return AtomPool(place, members, np.cumsum(widths) - widths, nothing, nothing)
