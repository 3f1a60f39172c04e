"""Coarse upper bound for charges that no grid can hold: fixed blocks, never too low."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from discreet.core.arrays import Integers
from discreet.ledger.worst.axes import Axis
from discreet.ledger.worst.block_bounds import BlockBounds
from discreet.ledger.worst.grid import SATURATED, AxisBox, BillGrid, Signed

THIN = 32  # blocks; a charge that touches no more is looked at in each of them
INNER = 512  # integers that one block may hold about its thin charges


class BlockGridQuota:
    """How many blocks may have a small grid of their own, whatever is asked."""

    def __init__(self, room: int) -> None:
        self.left = room

    def take(self) -> bool:
        """Return whether there is room for one more, which is taken."""
        if self.left <= 0:
            return False
        self.left -= 1
        return True


class Overflow:
    """A grid of fixed blocks. Wide charges are billed to every block that they touch.

    Many thin charges that are disjoint, such as single days, would pile up in their blocks. So each
    block has a small grid of its own for the thin charges that touch it, and is billed what that
    one's worst cell pays. Where there are too many of these, blocks without one are billed in full.
    """

    def __init__(self, starts: Mapping[str, Integers], room: int, quota: BlockGridQuota) -> None:
        grid = BillGrid(sorted(starts))
        wanted = max(1, int(room ** (1 / len(starts))))
        grid.axes = tuple(_blocks(starts[name], wanted) for name in grid.names)
        grid.cells = int(np.prod(grid.shape))
        self.block_bounds = BlockBounds(grid)
        self.quota = quota
        self._inner: dict[tuple[int, ...], BillGrid] = {}

    def thin(self, box: AxisBox) -> bool:
        """Return whether `box` touches so few blocks that each of them can look at it."""
        return _count(self._touched(box)) <= THIN

    def add(self, raised: Signed, amounts: Sequence[int]) -> None:
        """Bill `amounts` to all that `raised` boxes touch, none of which has a minus sign.

        Guarantee: every block is billed at least the greatest sum of its charges over its points:
            the wide ones in full, the thin ones by the worst cell of a grid that holds them all, or in
            full where the block has none.
        """
        for sign, box in raised:
            touched = self._touched(box)
            if _count(touched) > THIN:
                self.block_bounds.grid.cover(((sign, box),), amounts)
                continue
            self._prepare(amounts)
            for block in itertools.product(*(atoms.tolist() for atoms in touched)):
                self._nest(block, box, amounts)
        self.block_bounds.forget()

    def _touched(self, box: AxisBox) -> list[Integers]:
        grid = self.block_bounds.grid
        return [
            axis.touched(box[name]) if name in box else np.arange(axis.count)
            for name, axis in zip(grid.names, grid.axes, strict=True)
        ]

    def _prepare(self, amounts: Sequence[int]) -> None:
        grid = self.block_bounds.grid
        for component, amount in enumerate(amounts):
            if amount:
                grid.mass[component] = grid.mass.get(component, 0) + amount
                if component not in grid.planes:
                    grid.planes[component] = np.zeros(grid.shape, dtype=np.int64)

    def _nest(self, block: tuple[int, ...], box: AxisBox, amounts: Sequence[int]) -> None:
        inner = self._inner.get(block)
        if inner is None:
            if not self.quota.take():
                self._raise(block, amounts)
                return
            inner = self._inner[block] = BillGrid(self.block_bounds.grid.names)
        before = {c: int(plane.max()) for c, plane in inner.planes.items()}
        boxes = ((1, box),)
        fit = inner.fit(boxes)
        if fit.cells * len(amounts) <= INNER:
            inner.add(boxes, amounts, fit)
        else:
            inner.cover(boxes, amounts)
        highest = {c: int(inner.planes[c].max()) for c, amount in enumerate(amounts) if amount}
        rises = [highest[c] - before.get(c, 0) if c in highest else 0 for c in range(len(amounts))]
        self._raise(block, rises)

    def _raise(self, block: tuple[int, ...], amounts: Sequence[int]) -> None:
        for component, amount in enumerate(amounts):
            if amount:
                plane = self.block_bounds.grid.planes[component]
                plane[block] = min(int(plane[block]) + amount, SATURATED)


def _blocks(starts: Integers, wanted: int) -> Axis:
    """Return at most `wanted` ranges that begin at some of `starts`, about evenly chosen."""
    if len(starts) > wanted:
        starts = starts[np.unique(np.linspace(0, len(starts) - 1, wanted).astype(np.int64))]
    return Axis(starts, np.arange(len(starts)), len(starts))


def _count(touched: Sequence[Integers]) -> int:
    return int(np.prod([len(atoms) for atoms in touched]))
