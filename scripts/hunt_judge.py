"""How far neighbours may be apart, for `hunt.py`: exact results beside what the kernel admitted."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from hunt_world import World

from discreet.base.schema import BooleanDomain, CategoryDomain, NumberDomain
from discreet.privacy.kernel.look import ExactResults, rank_utilities
from discreet.privacy.kernel.seal import Read
from discreet.ask.plan.plan import Plan
from discreet.ask.release.sealing import Sealed


def gaps_of(one: ExactResults, two: ExactResults, name: str) -> list[int]:
    """Return by how much a measure differs in each group where it does."""
    first = dict(zip(one.groups, one.measures[name], strict=True))
    second = dict(zip(two.groups, two.measures[name], strict=True))
    gaps = (first.get(g, 0) - second.get(g, 0) for g in {*first, *second})
    return [gap for gap in gaps if gap]


def _chosen(sealed: Sealed, name: str, one: ExactResults, two: ExactResults) -> Fraction:
    """Return how far the utilities of a quantile are apart, over all groups."""
    selection = sealed.mechanisms.selections[name]
    sides = [dict(zip(s.groups, s.histograms[name], strict=True)) for s in (one, two)]
    nothing, total = np.zeros(selection.bins, dtype=np.int64), 0
    for group in {*sides[0], *sides[1]}:
        a, b = (rank_utilities(side.get(group, nothing), selection.quantile) for side in sides)
        total += int(np.abs(a - b).max())
    return Fraction(total, selection.quantile.denominator)


def compared(
    plan: Plan, sealed: Sealed, one: ExactResults, two: ExactResults, *, outside: bool
) -> list[str]:
    """Return in what two neighbours are further apart than was admitted."""
    found: list[str] = []
    mechanisms = sealed.mechanisms
    loss = Fraction(0)
    for read in sealed.reads:
        limit = read.stability
        for name, bound in read.bounds.items():
            gaps = gaps_of(one, two, name)
            l1, l2 = sum(map(abs, gaps)), sum(gap * gap for gap in gaps)
            if (
                l1 > limit.l1(bound)
                or l2 > limit.l2_squared(bound)
                or len(gaps) > limit.coordinates
            ):
                found.append(
                    f"{name} {bound} moves by {gaps[:5]}, noise is for {limit.l1(bound)} {limit}"
                )
            if gaps and outside:
                found.append(
                    f"{name}: somebody outside of the billed region moves it by {gaps[:5]}"
                )
            law = mechanisms.laws.get(name)
            if law is not None and law.name == "laplace":
                loss += Fraction(l1) / law.size
            if (
                mechanisms.top is not None
                and gaps
                and max(map(abs, gaps)) > mechanisms.top.sensitivity
            ):
                found.append(f"the largest group: {gaps[:5]} for {mechanisms.top.sensitivity}")
    if loss > plan.epsilon.value:
        found.append(f"epsilon {float(loss)} of {float(plan.epsilon.value)}")
    for name, selection in mechanisms.selections.items():
        moved = _chosen(sealed, name, one, two)
        if moved > selection.sensitivity or (moved and outside):
            found.append(
                f"utilities move by {moved} for {selection.sensitivity}, outside: {outside}"
            )
    return found + _lonely(sealed, one, two, outside=outside)


def _lonely(sealed: Sealed, one: ExactResults, two: ExactResults, *, outside: bool) -> list[str]:
    """Return whether groups that one neighbour alone has are too likely to be shown."""
    units, threshold = sealed.mechanisms.units, sealed.mechanisms.threshold
    if units is None or threshold is None:
        return []
    sides = [dict(zip(s.groups, s.measures[units], strict=True)) for s in (one, two)]
    counts = [side[g] for side, other in (sides, sides[::-1]) for g in side if g not in other]
    law = sealed.mechanisms.laws[units]
    chances = (law.one_sided.bounds(threshold - count, 128)[1] for count in counts)
    chance = sum(chances, Fraction(0))
    if chance > sealed.mechanisms.failing or (counts and outside):
        return [f"groups of one unit {counts} appear with {float(chance)}, outside: {outside}"]
    return []


class Regions:
    """Where the person of each further database sits, by the rows that are stored of them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.own: list[dict[str, Counter[Any]]] = []
        self.broken: list[str] = []
        base = world.canonical[0]
        for place in range(world.size):
            mine = {name: world.canonical[place][name] - base[name] for name in base}
            self.own.append(mine)
            self._check(place, mine)

    def _check(self, place: int, mine: dict[str, Counter[Any]]) -> None:
        units = set()
        for name, rows in mine.items():
            if self.world.canonical[0][name] - self.world.canonical[place][name]:
                self.broken.append(f"somebody more changes the stored rows of others in {name}")
            columns = self.world.columns[name]
            units |= {row[columns.index("u")] for row in rows if "u" in columns}
            if name == "town.folk" and rows.total() > 1:
                self.broken.append("one row more is several")
        if len(units) > 1:
            self.broken.append(f"one person is {len(units)}")

    def outside(self, read: Read, place: int) -> bool:
        """Return whether the person of a database sits outside of what a read bills."""
        for (name, column), positions in read.facts.region.items():
            at = self.world.columns[name].index(f"c{column}")
            domain = self.world.catalog.table(name.split(".")[1]).columns[column].by_day().domain
            values = {row[at] for row in self.own[place][name]}
            if not values or any(_position(value, domain) not in positions for value in values):
                return True
        return False


def _position(value: Any, domain: Any) -> int:
    if value is None:
        return -1
    if isinstance(domain, CategoryDomain):
        return domain.values.index(value)
    if isinstance(domain, BooleanDomain):
        return int(value)
    if isinstance(domain, NumberDomain):
        return int(value) - int(domain.lower / domain.step)
    gap = value - domain.lower
    return int(getattr(gap, "days", gap))
