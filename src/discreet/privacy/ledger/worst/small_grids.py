"""Charges as a sum of small grids, one for each set of axes that charges restrict together.

A charge that no set can hold goes to the grid whose bound it raises least, or to an overflow of fixed blocks: a coarse
upper bound that is never too low.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from discreet.base.arrays import Bits, Integers
from discreet.base.event import Positions
from discreet.privacy.ledger.worst.grid import (
    SATURATED,
    Axis,
    AxisBox,
    BillGrid,
    BlockTree,
    RefinedGrid,
    Signed,
    common,
    join,
)
from discreet.privacy.ledger.worst.search import BlockBounds, Search, balance, crowded, undo_shifts


class Nearest:
    """Several grids that all know some axes, laid side by side along each of these.

    Guarantee: `excesses` tells of each grid how many times as many positions as a box has lie in the
        atoms that it touches, without those after the last cut.
    """

    def __init__(self, grids: Sequence[BillGrid]) -> None:
        self.grids = tuple(grids)
        self._axes = tuple(grid.axes for grid in self.grids)
        self._sides: dict[str, _Side] = {}

    def holds(self, grids: Sequence[BillGrid]) -> bool:
        """Return whether these are the grids, and none was split since."""
        return len(grids) == len(self.grids) and all(
            new is old and new.axes is axes
            for new, old, axes in zip(grids, self.grids, self._axes, strict=True)
        )

    def excesses(self, box: AxisBox) -> list[float]:
        """Return this for each grid; every one must know the axes of `box`."""
        shares = {}
        for name, positions in box.items():
            many = len(positions)
            shares[name] = [float(wide) / many for wide in self._side(name).widths(positions)]
        found = []
        for place, grid in enumerate(self.grids):
            share = 1.0
            for name in grid.names:
                if name in shares:
                    share *= shares[name][place]
            found.append(share)
        return found

    def _side(self, name: str) -> _Side:
        if name not in self._sides:
            self._sides[name] = _Side.of([g.axes[g.names.index(name)] for g in self.grids])
        return self._sides[name]


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The same axis of several grids, cut wherever one of them is.

    Row i of `atoms` has the atom of grid i for each segment; the atoms of all grids are numbered on,
    those of grid i from `offsets[i]`.
    """

    whole: Axis
    atoms: Integers
    offsets: Integers
    wide: Integers

    @classmethod
    def of(cls, axes: Sequence[Axis]) -> _Side:
        """Return these axes side by side."""
        starts = np.unique(np.concatenate([axis.starts for axis in axes]))
        counts = np.array([axis.count for axis in axes])
        offsets = np.cumsum(counts) - counts
        atoms = np.stack([axis.atoms_at(starts) for axis in axes]) + offsets[:, None]
        wide = np.concatenate([axis.widths for axis in axes])
        return cls(Axis(starts, np.arange(len(starts)), len(starts)), atoms, offsets, wide)

    def widths(self, positions: Positions) -> list[int]:
        """Return the width of `positions` on each axis."""
        reached: Bits = np.zeros(len(self.wide), dtype=np.bool_)
        reached[self.atoms[:, self.whole.touched(positions)]] = True
        sums: list[int] = np.add.reduceat(self.wide * reached, self.offsets).tolist()
        return sums


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


Scope: TypeAlias = frozenset[str]

SHARE = 16  # one table may take this part of all the room there is
SPARE = 256  # and this part the blocks of one overflow, for each component; as many have grids of their own
MOST_TABLES = 64
LOOKED_AT = 12  # tables compared for a charge that fits in none
SWEEPS = 4  # of shifting between tables; more bring little
EPOCH = 8  # trees and shifts are renewed when the charges have grown by this part


class GridSum:
    """A sum of grids. Exact until the room is used up, then never too low."""

    def __init__(self, cell_cap: int) -> None:
        self.cell_cap = cell_cap
        self.all_bounds: list[BlockBounds] = []
        self._home: dict[Scope, BlockBounds] = {}
        self._overflow: dict[Scope, Overflow] = {}
        self._quota = BlockGridQuota(cell_cap // SPARE)
        self._nearest: dict[Scope, Nearest] = {}
        self._trees: dict[str, BlockTree] = {}
        self.added = 0
        self._condensed = 64
        self._planted = 0
        self._balanced: set[int] = set()

    @property
    def grids(self) -> list[BillGrid]:
        """Return the summands."""
        return [block_bounds.grid for block_bounds in self.all_bounds]

    def add(self, boxes: Signed, amounts: Sequence[int]) -> None:
        """Bill `amounts` to `boxes`."""
        scope = frozenset(name for _, box in boxes for name in box)
        planes = sum(1 for amount in amounts if amount)
        block_bounds = self._home.get(scope)
        self.added += 1
        if block_bounds is not None:
            fit = block_bounds.grid.fit(boxes)
            if self._fits(block_bounds.grid, fit, planes):
                block_bounds.grid.add(boxes, amounts, fit)
                block_bounds.forget()
                return
            if self._full:
                self._squeeze(scope, boxes, amounts)
                return
        grid = self._open(scope).grid
        grid.add(boxes, amounts, grid.fit(boxes))

    @property
    def _used(self) -> int:
        return sum(block_bounds.grid.entries for block_bounds in self.all_bounds)

    @property
    def _full(self) -> bool:
        return self._used > self.cell_cap // 2 or len(self.all_bounds) >= MOST_TABLES

    def _fits(self, grid: BillGrid, fit: RefinedGrid, planes: int) -> bool:
        entries = fit.cells * max(planes, len(grid.planes))
        if entries <= grid.entries:
            return True
        room = self.cell_cap - self._used + grid.entries
        return entries <= min(self.cell_cap // SHARE, room)

    def _open(self, scope: Scope) -> BlockBounds:
        block_bounds = BlockBounds(BillGrid(sorted(scope)))
        self.all_bounds.append(block_bounds)
        self._home[scope] = block_bounds
        return block_bounds

    def _squeeze(self, scope: Scope, boxes: Signed, amounts: Sequence[int]) -> None:
        """Bill every cell that is touched, and split none, where that adds least.

        Boxes with a minus sign are left out: a cell that is only partly inside must not be paid
        back. What remains is larger than the charge, never smaller.
        """
        raised = tuple((sign, box) for sign, box in boxes if sign > 0)
        spare = self._overflow.get(scope)
        if spare is None:
            room = self.cell_cap // SPARE
            spare = Overflow(self._starts(scope), room, self._quota)
            self._overflow[scope] = spare
            self.all_bounds.append(spare.block_bounds)
        box = raised[0][1]
        if spare.thin(box):
            spare.add(raised, amounts)
            return
        able = [
            s for s in self.all_bounds if scope <= set(s.grid.names) and s is not spare.block_bounds
        ]
        some = [*able[-LOOKED_AT:], spare.block_bounds]
        excesses = self._near(scope, [block_bounds.grid for block_bounds in some]).excesses(box)
        least = min(range(len(some) - 1), key=excesses.__getitem__)
        if excesses[-1] <= excesses[least]:
            spare.add(raised, amounts)
        else:
            some[least].grid.cover(raised, amounts)
            some[least].forget()

    def _near(self, scope: Scope, grids: Sequence[BillGrid]) -> Nearest:
        known = self._nearest.get(scope)
        if known is None or not known.holds(grids):
            known = self._nearest[scope] = Nearest(grids)
        return known

    def _starts(self, scope: Scope) -> dict[str, Integers]:
        """Return where segments begin on each axis of `scope`."""
        found = {}
        for name in scope:
            axes = [g.axes[g.names.index(name)] for g in self.grids if name in g.names]
            found[name] = np.unique(np.concatenate([axis.starts for axis in axes]))
        return found

    def due(self, since: int) -> bool:
        """Return whether much was added since there were `since` charges."""
        return self.added > since * (EPOCH + 1) // EPOCH

    def search(self, names: Sequence[str], component: int) -> Search:
        """Return the view on which branch and bound works for `component`."""
        if self.added >= 2 * self._condensed:
            self.condense()
        if self.due(self._planted) or not all(name in self._trees for name in names):
            self._trees = {name: self._tree(name) for name in names}
            self._planted = self.added
            self._balanced.clear()
        trees = tuple(self._trees[name] for name in names)
        for block_bounds in self.all_bounds:
            block_bounds.use_trees(trees, names)
        if crowded(self.all_bounds, component):
            undo_shifts(self.all_bounds, component)
        elif component not in self._balanced:
            balance(self.all_bounds, component, sweeps=SWEEPS)
            self._balanced.add(component)
        return Search(tuple(names), trees, tuple(self.all_bounds))

    def _tree(self, name: str) -> BlockTree:
        known = self._trees.get(name)
        axes = [g.axes[g.names.index(name)] for g in self.grids if name in g.names]
        axis = common(axes)
        # Atoms only ever split, so as many as before are the same as before.
        return known if known is not None and known.axis.count == axis.count else BlockTree(axis)

    def condense(self) -> None:
        """Join tables while the joint one stays small: fewer summands bound more tightly."""
        self._condensed = max(64, self.added)
        cap = self.cell_cap // SHARE // 2
        spare = {id(each.block_bounds) for each in self._overflow.values()}
        plain = [
            block_bounds.grid for block_bounds in self.all_bounds if id(block_bounds) not in spare
        ]
        pending = sorted(plain, key=lambda grid: (-len(grid.names), -grid.cells))
        kept: list[BillGrid] = []
        home: dict[Scope, BillGrid] = {}
        for grid in pending:
            target = self._partner(grid, kept, cap)
            if target is None:
                kept.append(grid)
                home[frozenset(grid.names)] = grid
                continue
            at, joined = target
            replaced, kept[at] = kept[at], joined
            home = {s: joined if g is replaced else g for s, g in home.items()}
            home[frozenset(grid.names)] = joined
        self._balanced.clear()
        all_bounds = {id(grid): BlockBounds(grid) for grid in kept}
        self.all_bounds = [all_bounds[id(grid)] for grid in kept]
        self._home = {scope: all_bounds[id(grid)] for scope, grid in home.items()}
        for each in self._overflow.values():
            each.block_bounds = BlockBounds(each.block_bounds.grid)
            self.all_bounds.append(each.block_bounds)

    @staticmethod
    def _partner(grid: BillGrid, kept: Sequence[BillGrid], cap: int) -> tuple[int, BillGrid] | None:
        """Return the table that grows least by taking `grid` in, and the result."""
        best: tuple[int, BillGrid] | None = None
        for at, other in enumerate(kept):
            names = tuple(dict.fromkeys(itertools.chain(other.names, grid.names)))
            if len(names) > max(3, len(other.names)) or not set(grid.names) & set(other.names):
                continue  # many axes have too many views from afar
            joined = join([other, grid], names, cap=cap if best is None else best[1].entries)
            if joined is not None and (best is None or joined.cells < best[1].cells):
                best = (at, joined)
        return best

    def absorb(self, other: GridSum) -> None:
        """Take over the tables of `other`, whose axes are not ours."""
        self.all_bounds += other.all_bounds
        self._home.update(other._home)
        self._overflow.update(other._overflow)
        self._quota.left -= other.cell_cap // SPARE - other._quota.left
        for each in other._overflow.values():
            each.quota = self._quota
        self._trees.update(other._trees)
        self.added += other.added
