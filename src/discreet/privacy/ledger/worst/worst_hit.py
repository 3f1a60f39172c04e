"""What the worst-hit person has paid: parallel composition over regions, for axes that charges tie together.

A unit sits at one point of the product of all axes and pays for every charge whose region holds
that point. What counts is the greatest such bill, not the sum of all charges: charges on disjoint
regions compose in parallel, whoever asked them and whenever (docs/notes/0010-worst-hit-person.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.base.event import NULL, Positions, Region
from discreet.base.unit import Neighbours
from discreet.errors import InternalError
from discreet.privacy.ledger.worst.grid import SATURATED, AxisBox, BillGrid, Signed, join
from discreet.privacy.ledger.worst.small_grids import GridSum

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


Amounts: TypeAlias = tuple[int, ...]

BEFORE, AFTER = "<", ">"
"""With replace-one neighbours each axis is there twice: where the person was, and where the replacement is."""

CELL_CAP = 2**23
"""Integers that one set of tied axes may hold in its grid, and again in its tables: 64 MB each."""


@dataclass(frozen=True, slots=True)
class _Quote:
    """What a charge would do: the bounds inside its region before it, for each group it touches."""

    region: Region
    amounts: Amounts
    peak: Amounts
    inside: tuple[BillBound | None, ...]


class Worst:
    """A bound of the greatest bill over all points, kept up to date charge by charge.

    Guarantee: for every component, `peak` is at least the bill of every point (every pair of points
        for replace-one neighbours), or at least the ceiling. It is exact while the cells of tied
        axes fit under `cell_cap`. It depends on the charges and their order only, never on a clock.
    """

    def __init__(
        self,
        components: int,
        *,
        ceiling: Sequence[int],
        neighbours: Neighbours,
        cell_cap: int = CELL_CAP,
    ) -> None:
        if len(ceiling) != components or not all(0 < c <= SATURATED for c in ceiling):
            raise InternalError("Each component needs a ceiling above 0 and at most 2^60.")
        self._components = components
        self._ceiling = tuple(ceiling)
        self._pairs = neighbours is Neighbours.REPLACE_ONE
        self._cell_cap = cell_cap
        self._base = [0] * components
        self._total = [0] * components
        self._full = [False] * components
        self._groups: dict[str, TiedAxes] = {}
        self._charges: dict[Region, Amounts] = {}
        self._quote: _Quote | None = None

    def peak(self) -> Amounts:
        """Return a bound of the greatest bill, component by component."""
        groups = self._distinct(self._groups.values())
        return self._capped(
            [base + sum(g.upper[c] for g in groups) for c, base in enumerate(self._base)],
            self._total,
        )

    def peak_with(self, region: Region, amounts: Sequence[int]) -> Amounts:
        """Return what `peak` would be after this charge, without making it."""
        return self._priced(region, self._checked(amounts)).peak

    def add(self, region: Region, amounts: Sequence[int]) -> None:
        """Bill `amounts` to everyone in `region`."""
        paid = self._checked(amounts)
        quote = self._priced(region, paid)
        self._quote = None
        if region.empty or not any(paid):
            return
        boxes, live = self._record(region, paid)
        if not region.axes:
            self._base = [base + amount for base, amount in zip(self._base, live, strict=True)]
        else:
            self._group(boxes).add(boxes, live, quote.inside)
        for component, value in enumerate(quote.peak):
            self._full[component] |= value >= self._ceiling[component]

    def extend(self, charges: Iterable[tuple[Region, Sequence[int]]]) -> None:
        """Bill many charges at once; far faster than one by one."""
        self._quote = None
        merged: dict[Region, Amounts] = {}
        for region, amounts in charges:
            paid = self._checked(amounts)
            merged[region] = _plus(merged.get(region, (0,) * self._components), paid)
        touched: dict[int, TiedAxes] = {}
        for region, paid in merged.items():
            if region.empty or not any(paid):
                continue
            boxes, live = self._record(region, paid)
            if not region.axes:
                self._base = [base + amount for base, amount in zip(self._base, live, strict=True)]
                continue
            group = self._group(boxes)
            group.fill(boxes, live)
            touched[id(group)] = group
        alive = self._distinct(self._groups.values())
        for group in alive:
            if id(group) in touched:
                group.settle()
        for component, value in enumerate(self.peak()):
            self._full[component] |= value >= self._ceiling[component]

    def where(self, component: int = 0) -> Region:
        """Return a region whose members pay the greatest known bill.

        It is the common part of all charges that one worst-hit point has paid, so it names only
        axes that matter. For replace-one neighbours it is where one of the pair lies.
        """
        for region, amounts in self._charges.items():
            if amounts[component] >= self._ceiling[component]:
                return region  # one charge alone went as high as bills go
        spot: AxisBox = {}
        for group in self._distinct(self._groups.values()):
            spot = {**spot, **group.spot[component]}
        prefix = len(BEFORE) if self._pairs else 0
        point = {
            name[prefix:]: positions.spans[0][0]
            for name, positions in spot.items()
            if not self._pairs or name.startswith(BEFORE)
        }
        common: AxisBox = {}
        for region, amounts in self._charges.items():
            held = all(point.get(name, NULL) in positions for name, positions in region.axes)
            if amounts[component] and held:
                common = meet(common, dict(region.axes)) or common
        return Region.of(common)

    def _priced(self, region: Region, amounts: Amounts) -> _Quote:
        known = self._quote
        if known is not None and known.region == region and known.amounts == amounts:
            return known
        boxes = self._boxes(region)
        for group in self._touched(boxes):
            group.refresh()
        inside: list[BillBound | None] = [None] * self._components
        uppers = list(self.peak())
        if not region.empty:
            for component, amount in enumerate(amounts):
                if amount and not self._full[component]:
                    inside[component], uppers[component] = self._inside(boxes, component, amount)
        totals = [t + a for t, a in zip(self._total, amounts, strict=True)]
        peak = self._capped(uppers, totals)
        self._quote = _Quote(region, amounts, peak, tuple(inside))
        return self._quote

    def _inside(self, boxes: Signed, component: int, amount: int) -> tuple[BillBound, int]:
        """Return the bound within the first of `boxes`, and the overall one after `amount`."""
        box = boxes[0][1]
        touched = self._touched(boxes)
        upper, value, spot = 0, 0, dict(box)
        for group in touched:
            mine = {name: positions for name, positions in box.items() if name in group.names}
            peak = group.highest(mine, component, amount if len(touched) == 1 else 0)
            upper += peak.upper
            value = -1 if value < 0 or peak.spot is None else value + peak.value
            spot = {**spot, **(peak.spot or {})}
        before = sum(group.upper[component] for group in touched)
        others = [g for g in self._distinct(self._groups.values()) if g not in touched]
        rest = self._base[component] + sum(group.upper[component] for group in others)
        found = BillBound(upper, value, None if value < 0 else spot)
        return found, rest + max(before, upper + amount)

    def _record(self, region: Region, amounts: Amounts) -> tuple[Signed, Amounts]:
        """Remember a charge; return its boxes and what still has to be billed to cells."""
        self._charges[region] = _plus(self._charges.get(region, (0,) * self._components), amounts)
        for component, amount in enumerate(amounts):
            self._total[component] += amount
            # One amount as large as the ceiling settles it: nothing can be added any more.
            self._full[component] |= amount >= self._ceiling[component]
        live = tuple(
            0 if full else amount for amount, full in zip(amounts, self._full, strict=True)
        )
        return self._boxes(region), live

    def _boxes(self, region: Region) -> Signed:
        return boxes_of_pairs(region) if self._pairs else boxes_of_region(region)

    def _group(self, boxes: Signed) -> TiedAxes:
        """Return the one group of all axes of `boxes`, joining groups as needed."""
        touched = self._touched(boxes)
        group = touched[0] if touched else TiedAxes(self._components, self._cell_cap)
        for other in touched[1:]:
            group.absorb(other)
        for name in (*group.names, *(name for _, box in boxes for name in box)):
            self._groups[name] = group
        return group

    def _touched(self, boxes: Signed) -> list[TiedAxes]:
        names = sorted({name for _, box in boxes for name in box})
        return self._distinct(self._groups[name] for name in names if name in self._groups)

    def _capped(self, uppers: Sequence[int], totals: Sequence[int]) -> Amounts:
        return tuple(
            ceiling if full else min(upper, total, ceiling)
            for upper, total, ceiling, full in zip(
                uppers, totals, self._ceiling, self._full, strict=True
            )
        )

    def _checked(self, amounts: Sequence[int]) -> Amounts:
        if len(amounts) != self._components or any(amount < 0 for amount in amounts):
            raise InternalError("A charge has one amount, not negative, for each component.")
        return tuple(min(int(a), c) for a, c in zip(amounts, self._ceiling, strict=True))

    @staticmethod
    def _distinct(groups: Iterable[TiedAxes]) -> list[TiedAxes]:
        return list({id(group): group for group in groups}.values())


def _plus(first: Amounts, second: Amounts) -> Amounts:
    return tuple(a + b for a, b in zip(first, second, strict=True))


def boxes_of_region(region: Region) -> Signed:
    """Return the boxes that bill a charge once to every point of `region`."""
    return ((1, dict(region.axes)),)


def boxes_of_pairs(region: Region) -> Signed:
    """Return the boxes that bill a charge once to every pair with a point in `region`.

    Guarantee: [x or y in B] = [x in B] + [y in B] - [x in B][y in B], term by term.
    """
    before, after = _side(region, BEFORE), _side(region, AFTER)
    return ((1, before), (1, after), (-1, {**before, **after}))


def _side(region: Region, side: str) -> AxisBox:
    return {side + name: positions for name, positions in region.axes}
