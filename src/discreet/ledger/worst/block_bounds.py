"""Upper bounds on the bills of whole blocks of grid cells, for branch and bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import Integers
from discreet.ledger.worst.axes import Axis
from discreet.ledger.worst.axis_blocks import AtomPool, BlockTree, pools
from discreet.ledger.worst.grid import SATURATED, BillGrid, first_atoms

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
