"""The greatest bill inside a box when no grid can hold every cell: branch and bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Integers
from discreet.core.region import Positions
from discreet.ledger.worst.axes import bounds
from discreet.ledger.worst.axis_blocks import BlockTree
from discreet.ledger.worst.block_bounds import BlockBounds, crowded
from discreet.ledger.worst.grid import SATURATED, AxisBox

NARROW = 16
"""Blocks kept in the first dive, whose only aim is a good point."""

WIDE = 512
"""Blocks kept in the second pass. A public number: no clock decides when the search stops."""


@dataclass(frozen=True, slots=True)
class WorstBox:
    """`upper` bounds every bill in the box; `point` has one position per axis and pays `value`."""

    upper: int
    value: int
    point: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Search:
    """The sum of several grids over the axes `names`, each axis with its tree of blocks."""

    names: tuple[str, ...]
    trees: tuple[BlockTree, ...]
    all_bounds: tuple[BlockBounds, ...]

    def highest(self, component: int, box: AxisBox, floor: int) -> WorstBox:
        """Return a bound of the greatest bill in `box`, and a point that comes close.

        Bills up to `floor` are of no interest: where none is higher, any bound up to it will do.

        Guarantee: max(upper, floor) is never below the greatest bill in `box`. Blocks are dropped
            only if their bound is at most the floor or the value of a point in the box, or if
            their bound is remembered in `upper`.
        """
        reach = _Reach(self, component, box)
        first = reach.descend(floor, WorstBox(0, -1, None), NARROW)
        if first.upper <= max(floor, first.value):
            return first
        return reach.descend(max(floor, first.value), first, WIDE)


class _Reach:
    """One search: which blocks and positions of each axis the box allows."""

    def __init__(self, search: Search, component: int, box: AxisBox) -> None:
        self.search, self.component = search, component
        # Sums that could leave 64 bits are cut at every step. That would be wrong with shifts, whose
        # later terms may be negative; but a crowded component has none (see `balance`).
        self.crowded = crowded(search.all_bounds, component)
        self.allowed: list[Integers | None] = []
        self.sample: list[Integers] = []  # for each atom one of its positions inside the box
        for name, tree in zip(search.names, search.trees, strict=True):
            positions = box.get(name)
            self.allowed.append(None if positions is None else tree.axis.touched(positions))
            self.sample.append(_samples(tree, positions))
        self.steps = self._plan(box)

    def _plan(self, box: AxisBox) -> list[int]:
        """Return which axis to refine at each step: the box's own first, then heavy ones."""
        search = self.search
        weight = [0] * len(search.names)
        for block_bounds in search.all_bounds:
            for column in block_bounds.columns:
                weight[column] += block_bounds.grid.mass.get(self.component, 0)
        mine = [c for c, name in enumerate(search.names) if name in box]
        steps = [column for column in mine for _ in range(search.trees[column].depth)]
        rest = sorted(set(range(len(search.names))) - set(mine), key=lambda c: -weight[c])
        deepest = max((search.trees[c].depth for c in rest), default=0)
        for level in range(deepest):
            steps += [column for column in rest if search.trees[column].depth > level]
        return steps

    def descend(self, floor: int, known: WorstBox, width: int) -> WorstBox:
        """Return the better of `known` and what keeping `width` blocks at a time finds."""
        levels = [0] * len(self.search.names)
        nodes = np.zeros((1, len(self.search.names)), dtype=np.int64)
        uppers = self._uppers(levels, nodes)
        dropped = 0
        for column in self.steps:
            keep = np.flatnonzero(uppers > floor)
            if len(keep) > width:
                order = np.argpartition(-uppers[keep], width)
                dropped = max(dropped, int(uppers[keep[order[width:]]].max()))
                keep = keep[order[:width]]
            if not len(keep):
                return WorstBox(max(dropped, known.value), known.value, known.point)
            nodes = self._split(nodes[keep], column, levels[column])
            levels[column] += 1
            uppers = self._uppers(levels, nodes)
        values, points = self._values(nodes)
        best = int(values.argmax())
        if int(values[best]) > known.value:
            known = WorstBox(0, int(values[best]), tuple(int(p) for p in points[best]))
        upper = max(dropped, int(uppers.max()), known.value)
        return WorstBox(upper, known.value, known.point)

    def _split(self, nodes: Integers, column: int, level: int) -> Integers:
        tree = self.search.trees[column]
        blocks, parent = tree.children(level, nodes[:, column])
        atoms = self.allowed[column]
        if atoms is not None:
            inside = tree.reached(level + 1, atoms)[blocks]
            blocks, parent = blocks[inside], parent[inside]
        split = nodes[parent]
        split[:, column] = blocks
        return split

    def _uppers(self, levels: Sequence[int], nodes: Integers) -> Integers:
        total = np.zeros(len(nodes), dtype=np.int64)
        for block_bounds in self.search.all_bounds:
            total += block_bounds.bound(self.component, levels, nodes)
            if self.crowded:
                np.minimum(total, SATURATED, out=total)
        return total

    def _values(self, nodes: Integers) -> tuple[Integers, Integers]:
        points = np.stack([s[nodes[:, c]] for c, s in enumerate(self.sample)], axis=1)
        total = np.zeros(len(nodes), dtype=np.int64)
        for block_bounds in self.search.all_bounds:
            plane = block_bounds.grid.planes.get(self.component)
            if plane is not None:
                axes = zip(block_bounds.grid.axes, block_bounds.columns, strict=True)
                total += plane[tuple(axis.atoms_at(points[:, c]) for axis, c in axes)]
                np.minimum(total, SATURATED, out=total)
        return total, points


def _samples(tree: BlockTree, positions: Positions | None) -> Integers:
    axis = tree.axis
    if positions is None:
        _, first = np.unique(axis.atom_of, return_index=True)
        return axis.starts[first]
    inside = np.union1d(bounds(positions)[0], axis.starts[axis.inside(positions)])
    atoms, first = np.unique(axis.atoms_at(inside), return_index=True)
    sample = np.full(axis.count, -1, dtype=np.int64)
    sample[atoms] = inside[first]
    return sample
