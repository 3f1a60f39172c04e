"""Axes that charges tie together, and the greatest bill over their points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.core.region import Positions
from discreet.ledger.worst.grid import AxisBox, BillGrid, Signed, join
from discreet.ledger.worst.small_grids import GridSum

Signature: TypeAlias = tuple[tuple[str, Positions], ...]

LOOSE = 24  # a bound further than 1/24 above is worth filling the tables anew
NEAR = 32  # a bound within 1/32 of a bill that somebody pays is not worth another search


@dataclass(frozen=True, slots=True)
class BillBound:
    """`upper` bounds every bill in a box; somebody in `spot` pays `value`, or it is None."""

    upper: int
    value: int
    spot: AxisBox | None


class TiedAxes:
    """The charges on axes that are tied together; other groups' axes are free of them.

    `upper` is the bound of the greatest bill, `best` the greatest bill known to occur, at every
    point of the box `spot`; one of each for every component.
    """

    def __init__(self, components: int, cell_cap: int) -> None:
        self.cell_cap = cell_cap
        self.names: tuple[str, ...] = ()
        self.tables = GridSum(cell_cap)
        self.grid: BillGrid | None = BillGrid(())
        self.upper = [0] * components
        self.best = [0] * components
        self.total = [0] * components
        self._renewed = 0
        self._tabled = 0
        self._charges: dict[Signature, tuple[Signed, tuple[int, ...]]] = {}
        self.spot: list[AxisBox] = [{} for _ in range(components)]

    def highest(self, box: AxisBox, component: int, amount: int) -> BillBound:
        """Return a bound of the greatest bill in `box`, where `amount` is about to be added.

        It is exact where there is a grid. Otherwise it may be as high as does no harm: the greatest
        bill of all stays where it was, or within 1/NEAR of a bill that somebody pays already.
        """
        upper, best = self.upper[component], self.best[component]
        spot = meet(self.spot[component], box)
        if spot is not None and (upper - best) * NEAR <= best:
            return BillBound(upper, best, spot)
        known = BillBound(upper, best, spot) if spot is not None else BillBound(upper, -1, None)
        floor = max(upper, best + best // NEAR) - amount if amount else -1
        return self._searched(box, component, floor, known)

    def _searched(self, box: AxisBox, component: int, floor: int, known: BillBound) -> BillBound:
        if self.grid is not None:
            return self._exact(self.grid, box, component, known)
        found = self.tables.search(self.names, component).highest(
            component, box, max(floor, known.value)
        )
        bound = min(known.upper, max(found.upper, floor, known.value))
        if found.point is None or found.value <= known.value:
            return BillBound(bound, known.value, known.spot)
        points = zip(self.names, found.point, strict=True)
        return BillBound(bound, found.value, {n: Positions(((at, at),)) for n, at in points})

    @staticmethod
    def _exact(grid: BillGrid, box: AxisBox, component: int, known: BillBound) -> BillBound:
        value = grid.highest(box, component)
        if value <= known.value:
            return BillBound(known.value, known.value, known.spot)
        cell = grid.locate(box, component, value)
        axes = zip(grid.names, grid.axes, cell, strict=True)
        return BillBound(value, value, {name: axis.positions(atom) for name, axis, atom in axes})

    def add(self, boxes: Signed, amounts: Sequence[int], peaks: Sequence[BillBound | None]) -> None:
        """Bill `amounts` to `boxes`; `peaks` are the bounds within the first of them, before."""
        self.fill(boxes, amounts)
        if self.grid is not None:
            fit = self.grid.fit(boxes)
            fresh = sum(
                1 for c, amount in enumerate(amounts) if amount and c not in self.grid.planes
            )
            if fit.cells * (len(self.grid.planes) + fresh) <= self.cell_cap:
                self.grid.add(boxes, amounts, fit)
            else:
                self.grid = None
        self._raise(boxes[0][1], amounts, peaks)

    def refresh(self) -> None:
        """Search all points again when much was added since: bounds taken in a hurry get loose."""
        if self.grid is None and self.tables.due(self._renewed):
            self._renew_all()
            loose = any((u - b) * LOOSE > b for u, b in zip(self.upper, self.best, strict=True))
            if loose and len(self._charges) >= 2 * self._tabled:
                self._tabulate()
                self._renew_all()

    def _renew_all(self) -> None:
        self._renewed = self.tables.added
        for component, total in enumerate(self.total):
            if total:
                self._renew(component)

    def _tabulate(self) -> None:
        """Fill new tables: those that grew charge by charge share their room less well."""
        self._tabled = len(self._charges)
        self.tables = GridSum(self.cell_cap)
        for boxes, amounts in self._charges.values():
            self.tables.add(boxes, amounts)
        self.tables.condense()
        # Bills of the old tables may be higher than those of the new ones.
        self.best = [-1 if total else 0 for total in self.total]

    def _raise(
        self, box: AxisBox, amounts: Sequence[int], peaks: Sequence[BillBound | None]
    ) -> None:
        for component, (amount, peak) in enumerate(zip(amounts, peaks, strict=True)):
            if peak is None:
                continue
            upper = max(self.upper[component], peak.upper + amount)
            self.upper[component] = min(upper, self.total[component])
            spot = None if peak.spot is None else meet(peak.spot, box)
            if spot is not None and peak.value + amount > self.best[component]:
                self.best[component], self.spot[component] = peak.value + amount, spot

    def fill(self, boxes: Signed, amounts: Sequence[int]) -> None:
        """Bill `amounts` to `boxes` in the tables only; `settle` must follow."""
        fresh = {name for _, box in boxes for name in box} - set(self.names)
        if fresh:
            self.names = (*self.names, *sorted(fresh))
            self._widen()
        for component, amount in enumerate(amounts):
            self.total[component] += amount
        self.tables.add(boxes, amounts)
        key = tuple(sorted(boxes[0][1].items()))
        known = self._charges.get(key, (boxes, (0,) * len(amounts)))[1]
        self._charges[key] = (boxes, tuple(a + b for a, b in zip(known, amounts, strict=True)))

    def _widen(self) -> None:
        if self.grid is not None:
            self.grid = join([self.grid], self.names, cap=self.cell_cap)

    def settle(self) -> None:
        """Bring grid, bounds and spots up to date after `fill`."""
        self.tables.condense()
        self.grid = join(self.tables.grids, self.names, cap=self.cell_cap)
        # What was known before is a lower bound, but no longer an upper one.
        self.upper = list(self.total)
        self._renew_all()
        self._tabled = len(self._charges)

    def _renew(self, component: int) -> None:
        peak = self._searched({}, component, -1, BillBound(self.upper[component], -1, None))
        self.upper[component] = peak.upper
        if peak.spot is not None and peak.value > self.best[component]:
            self.best[component], self.spot[component] = peak.value, peak.spot

    def absorb(self, other: TiedAxes) -> None:
        """Take over the axes and charges of `other`, which shares none of ours."""
        self.names = (*self.names, *other.names)
        self.tables.absorb(other.tables)
        self._charges.update(other._charges)
        for component in range(len(self.upper)):
            self.upper[component] += other.upper[component]
            self.best[component] += other.best[component]
            self.total[component] += other.total[component]
            self.spot[component] = {**self.spot[component], **other.spot[component]}
        both = [grid for grid in (self.grid, other.grid) if grid is not None]
        self.grid = join(both, self.names, cap=self.cell_cap) if len(both) == 2 else None


def meet(first: AxisBox, second: AxisBox) -> AxisBox | None:
    """Return the common part of two boxes, or None if there is none."""
    joint = dict(first)
    for name, positions in second.items():
        joint[name] = joint[name] & positions if name in joint else positions
        if not joint[name]:
            return None
    return joint
