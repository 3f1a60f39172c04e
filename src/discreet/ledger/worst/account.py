"""The bill of one budget or share: every charge counted, and the bound on its worst-hit person."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from discreet.account.composition import Limits
from discreet.core.cost import FREE, Cost
from discreet.core.hash_chain import canonical
from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import EVERYONE, Region
from discreet.ledger.entry import Balance
from discreet.ledger.integer_amounts import CEILING, COMPONENTS, AmountResolution
from discreet.ledger.policy import Limit
from discreet.ledger.worst.worst_hit import Worst


@dataclass(slots=True)
class Account:
    """The bill of one budget or of one analyst's share of it.

    `bills` counts how often each (region, cost) was charged, as exact text; `bound` is what the
    latest entry recorded for the worst-hit person. The fast view `_worst` is derived from the bills
    when first needed, and again when the limit changes. `_tried` are charges that the view holds
    already and that the bills get once they are durable.
    """

    limit: Limit | None = None
    last_limit: Limit | None = None
    bound: Mapping[str, Any] = field(default_factory=FREE.to_json)
    charges: int = 0
    bills: Counter[tuple[str, str]] = field(default_factory=Counter)
    _highest: tuple[Epsilon, Delta] | None = None
    _limits: Limits | None = None
    _resolution: AmountResolution | None = None
    _worst: Worst | None = None
    _tried: list[tuple[str, str]] = field(default_factory=list)

    def set_limit(self, limit: Limit | None) -> None:
        """Put `limit` in force; the counting unit follows the highest limit there ever was."""
        self.limit, self._limits, self._worst = limit, None, None
        if limit is not None:
            self.last_limit = limit
            old = self._highest
            self._highest = (
                (max(old[0], limit.epsilon), max(old[1], limit.delta))
                if old
                else (limit.epsilon, limit.delta)
            )

    @property
    def highest(self) -> tuple[Epsilon, Delta] | None:
        """Return the highest limits that ever were in force; None if there was none."""
        return self._highest

    @property
    def limits(self) -> Limits:
        """Return the filters of the limit in force."""
        assert self.limit is not None
        if self._limits is None:
            self._limits = limits_of(self.limit.epsilon, self.limit.delta)
        return self._limits

    def _view(self) -> tuple[Worst, AmountResolution]:
        if self._worst is None or self._resolution is None:
            assert self._highest is not None
            highest = limits_of(*self._highest)
            resolution = AmountResolution.of(
                highest.epsilon, highest.delta, highest.rho, highest.rho_delta
            )
            assert self.last_limit is not None
            neighbours = self.last_limit.neighbours
            worst = Worst(COMPONENTS, ceiling=(CEILING,) * COMPONENTS, neighbours=neighbours)
            worst.extend(self._billed(resolution))
            # Last of all: a count that was interrupted must not be taken for the whole bill.
            self._resolution, self._worst = resolution, worst
        return self._worst, self._resolution

    def _billed(self, resolution: AmountResolution) -> Iterator[tuple[Region, tuple[int, ...]]]:
        for (region, cost), times in self.bills.items():
            amounts = resolution.amounts(cost_of(cost))
            yield region_of(region), tuple(min(CEILING, times * amount) for amount in amounts)

    def peak(self) -> Cost:
        """Return a bound on what the worst-hit person has paid, component by component."""
        worst, resolution = self._view()
        return resolution.cost(tuple(worst.peak()))

    def peak_with(self, region: Region, cost: Cost) -> Cost:
        """Return that bound as it would be after charging `cost` to everyone in `region`."""
        worst, resolution = self._view()
        if region.empty:
            return resolution.cost(tuple(worst.peak()))
        return resolution.cost(tuple(worst.peak_with(region, resolution.amounts(cost))))

    def where(self, component: int) -> Region:
        """Return the people with the greatest bill."""
        return self._view()[0].where(component) if self.charges else EVERYONE

    @property
    def top(self) -> Cost:
        """Return the bound that the latest entry recorded; it needs no view."""
        return Cost.from_json(dict(self.bound))

    def balance(self, cost: Cost) -> Balance:
        """Return `cost` against the limit in force."""
        assert self.limit is not None
        epsilon, delta = self.limits.spent(cost)
        return Balance(self.limit.epsilon.value, self.limit.delta.value, epsilon, delta)

    def add(self, region: str, cost: str, *, bound: Mapping[str, Any]) -> None:
        """Enter one charge that led to `bound`; its region and cost are canonical texts."""
        texts = region, cost
        self.charges += 1
        self.bound = bound
        box = region_of(texts[0])
        if box.empty:
            return
        self.bills[texts] += 1
        if self._tried and self._tried[0] == texts:
            self._tried.pop(0)
        elif self._worst is not None and self._resolution is not None:
            self._worst.add(box, self._resolution.amounts(cost_of(texts[1])))

    def try_charge(self, region: Region, cost: Cost) -> None:
        """Let the bounds count one more charge, which `add` enters once it is durable.

        If it never is, `forget_tried` must follow: bounds that count too much would refuse too much.
        """
        if not region.empty:
            worst, resolution = self._view()
            worst.add(region, resolution.amounts(cost))
            self._tried.append((canonical(region.to_json()), canonical(cost.to_json())))

    def forget_tried(self) -> None:
        """Count no charge any more that was only tried."""
        if self._tried:
            self._tried, self._worst = [], None

    def flatten(self, total: Cost) -> None:
        """Forget who paid what: from now on everyone has paid `total`."""
        self.bills = Counter({(canonical(EVERYONE.to_json()), canonical(total.to_json())): 1})
        self.charges += 1
        self.bound, self._worst = total.to_json(), None


@lru_cache(maxsize=256)
def limits_of(epsilon: Epsilon, delta: Delta) -> Limits:
    """Return the filters of a limit, remembered: their rho takes a search."""
    return Limits.of(epsilon, delta)


@lru_cache(maxsize=4096)
def cost_of(text: str) -> Cost:
    """Return the cost that a canonical text says, remembered."""
    return Cost.from_json(json.loads(text))


@lru_cache(maxsize=4096)
def is_below_zero(text: str) -> bool:
    """Return whether a cost, as canonical text, has a part below 0."""
    cost = cost_of(text)
    parts = (cost.epsilon, cost.delta, cost.rho, cost.rho_delta)
    return any(part is not None and part < 0 for part in parts)


@lru_cache(maxsize=4096)
def region_of(text: str) -> Region:
    """Return the region that a canonical text says, remembered."""
    return Region.from_json(json.loads(text))
