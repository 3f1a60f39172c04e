"""Charges as a sum of small grids, one for each set of axes that charges restrict together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from discreet.core.arrays import Integers
from discreet.ledger.worst.axes import common
from discreet.ledger.worst.axis_blocks import BlockTree
from discreet.ledger.worst.block_bounds import BlockBounds, balance, crowded, undo_shifts
from discreet.ledger.worst.grid import BillGrid, RefinedGrid, Signed, join
from discreet.ledger.worst.nearest import Nearest
from discreet.ledger.worst.overflow import BlockGridQuota, Overflow
from discreet.ledger.worst.search import Search

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
