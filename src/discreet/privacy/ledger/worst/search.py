"""Branch and bound: the greatest bill inside a box when no grid can hold every cell.

Upper bounds on the bills of whole blocks of cells come first, then the search over them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.arrays import Integers
from discreet.base.event import Positions
from discreet.privacy.ledger.worst.grid import (
    SATURATED,
    AtomPool,
    Axis,
    AxisBox,
    BillGrid,
    BlockTree,
    bounds,
    first_atoms,
    pools,
)

KEPT = 2**16  # integers that a small grid may keep in pooled planes; a large one, as many as it has


class BlockBounds:
    """A grid under the trees of its axes: for any levels, the greatest entry of each block.

    `shifts` are amounts that are shifted between grids along an axis, one for each leaf. Those of all
    grids of an axis add up to nothing at every leaf, so the sum of all grids is what it was; but
    the sum of their greatest entries can come down a long way.
    """

    def __init__(self, grid: BillGrid) -> None:
        self.grid = grid
        self.columns: tuple[int, ...] = ()  # for each axis its column in the search's node table
        self.shifts: dict[tuple[int, int], Integers] = {}  # by component and dimension
        self._kept = 0
        self._tops: dict[int, int] = {}
        self._planes: dict[tuple[int, tuple[int, ...]], Integers] = {}
        self._pools: dict[int, tuple[AtomPool, ...]] = {}
        self._axes: dict[int, Axis] = {}
        self._trees: dict[int, BlockTree] = {}

    def forget(self) -> None:
        """Drop what was computed before the grid changed."""
        self._planes.clear()
        self._kept = 0
        self._tops.clear()

    def top(self, component: int) -> int:
        """Return the greatest entry of the grid itself."""
        if component not in self._tops:
            plane = self.grid.planes.get(component)
            self._tops[component] = 0 if plane is None else int(plane.max())
        return self._tops[component]

    def use_trees(self, trees: Sequence[BlockTree], names: Sequence[str]) -> None:
        """Look through `trees` from now on, one for each of `names`."""
        self.columns = tuple(names.index(name) for name in self.grid.names)
        for dimension, column in enumerate(self.columns):
            axis, tree = self.grid.axes[dimension], trees[column]
            old = self._trees.get(dimension)
            if self._axes.get(dimension) is axis and old is tree:
                continue
            if old is not None and old is not tree:
                for key in [key for key in self.shifts if key[1] == dimension]:
                    self.shifts[key] = self.shifts[key][first_atoms(old.axis, tree.axis)]
            self._pools[dimension] = pools(tree, axis)
            self._axes[dimension], self._trees[dimension] = axis, tree
            self._planes.clear()
            self._kept = 0

    def _affordable(self, levels: tuple[int, ...]) -> tuple[int, ...]:
        """Return the finest levels, none below `levels`, whose plane is not much above the grid.

        A coarser block bounds all that a finer one does: looser, but never too low.
        """
        seen = list(levels)
        most = max(KEPT // 4, self.grid.cells)
        while True:
            wide = [len(self._pools[d][level].offsets) for d, level in enumerate(seen)]
            if math.prod(wide) <= most:
                return tuple(seen)
            coarse = [d for d, level in enumerate(seen) if 0 < level < self._trees[d].depth]
            if not coarse:
                return tuple(seen)
            seen[max(coarse, key=wide.__getitem__)] -= 1

    def _plane(self, component: int, levels: tuple[int, ...]) -> Integers:
        plane = self._planes.get((component, levels))
        if plane is None:
            plane = self.grid.planes[component]
            for dimension in sorted(
                range(len(levels)), key=levels.__getitem__
            ):  # coarse ones first
                level = levels[dimension]
                last = level == self._trees[dimension].depth
                shift = None if last else self.shifts.get((component, dimension))
                plane = self._pools[dimension][level].shrink(plane, dimension, shift)
            plane = np.ascontiguousarray(plane)
            self._keep((component, levels), plane)
        return plane

    def _keep(self, key: tuple[int, tuple[int, ...]], plane: Integers) -> None:
        self._kept += plane.size
        if self._kept > max(KEPT, self.grid.entries):
            self._planes.clear()
            self._kept = plane.size
        self._planes[key] = plane

    def bound(self, component: int, levels: Sequence[int], nodes: Integers) -> Integers | int:
        """Return a bound of the shifted bill of every cell of each row of `nodes`.

        Shifts of axes that have come down to single leaves are left out: they cancel in the sum.
        """
        if component not in self.grid.planes:
            return 0  # nothing billed and, by `balance`, nothing shifted
        asked = tuple(levels[column] for column in self.columns)
        seen = self._affordable(asked)
        plane = self._plane(component, seen)
        index: Integers | int = 0
        for dimension, (level, column) in enumerate(zip(seen, self.columns, strict=True)):
            if level:
                place = self._pools[dimension][level].place
                if level < asked[dimension]:
                    place = place[self._trees[dimension].ancestors(asked[dimension], level)]
                index = index * plane.shape[dimension] + place[nodes[:, column]]
        if isinstance(index, int):
            return int(plane.reshape(-1)[0])
        return plane.reshape(-1)[index]

    def marginal(self, component: int, dimension: int) -> Integers:
        """Return, for each leaf of one axis, a bound of the shifted bills there."""
        levels = [0] * len(self.columns)
        levels[dimension] = self._trees[dimension].depth
        pool = self._pools[dimension][-1]
        values = self._plane(component, tuple(levels)).reshape(-1)[pool.place]
        shift = self.shifts.get((component, dimension))
        return values if shift is None else values + shift


def crowded(all_bounds: Sequence[BlockBounds], component: int) -> bool:
    """Return whether sums over `all_bounds` could leave 64 bits."""
    return sum(block_bounds.top(component) for block_bounds in all_bounds) > SATURATED


def balance(all_bounds: Sequence[BlockBounds], component: int, *, sweeps: int) -> None:
    """Shift amounts between grids along their axes, so that the sum of their peaks falls.

    They must not be crowded.

    Guarantee: along each axis the shifts add up to exactly nothing at every leaf.
    """
    paying = [block_bounds for block_bounds in all_bounds if component in block_bounds.grid.planes]
    columns = sorted({column for block_bounds in paying for column in block_bounds.columns})
    for _ in range(sweeps):
        for column in columns:
            sharing = [(s, s.columns.index(column)) for s in paying if column in s.columns]
            if len(sharing) > 1:
                _share(sharing, component)
    if any(int(np.abs(shift).max()) > SATURATED for s in paying for shift in s.shifts.values()):
        undo_shifts(all_bounds, component)


def undo_shifts(all_bounds: Sequence[BlockBounds], component: int) -> None:
    """Take back all that was shifted between grids."""
    for block_bounds in (s for s in all_bounds if any(key[0] == component for key in s.shifts)):
        block_bounds.shifts = {
            key: v for key, v in block_bounds.shifts.items() if key[0] != component
        }
        block_bounds.forget()


def _share(sharing: Sequence[tuple[BlockBounds, int]], component: int) -> None:
    marginals = [block_bounds.marginal(component, dimension) for block_bounds, dimension in sharing]
    total = np.sum(marginals, axis=0)
    each = total // len(sharing)
    rest = total - each * len(sharing)
    for place, ((block_bounds, dimension), marginal) in enumerate(
        zip(sharing, marginals, strict=True)
    ):
        shift = each - marginal + (rest if place == 0 else 0)
        key = (component, dimension)
        block_bounds.shifts[key] = (
            block_bounds.shifts[key] + shift if key in block_bounds.shifts else shift
        )
        block_bounds.forget()


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
