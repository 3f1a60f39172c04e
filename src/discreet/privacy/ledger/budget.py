"""Budgets: who may spend how much, and the bill of one budget or share.

A policy names the limit of each budget and the caps of each analyst. An account counts every charge on one of them,
in exact whole numbers of a decimal unit, and bounds what its worst-hit person has paid.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from discreet.base.event import EVERYONE, FREE, Cost, Region
from discreet.base.numbers import Delta, Epsilon, Number
from discreet.base.proof import canonical
from discreet.base.unit import Neighbours
from discreet.errors import CatalogError
from discreet.privacy.account.composition import Limits
from discreet.privacy.ledger.entry import Balance
from discreet.privacy.ledger.worst.worst_hit import Worst


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The total that a budget may ever pay, and what counts as neighbouring data."""

    epsilon: Epsilon
    delta: Delta
    neighbours: Neighbours

    @classmethod
    def of(
        cls, epsilon: Number, delta: Number = 0, neighbours: Neighbours = Neighbours.ADD_REMOVE
    ) -> BudgetPolicy:
        """Return the policy with these amounts as written; delta 0 is the pure currency."""
        return cls(Epsilon.of(epsilon), Delta.of(delta), neighbours)


@dataclass(frozen=True, slots=True)
class Cap:
    """What one analyst may spend from one budget, on top of that budget's own total.

    `delta` None means that the budget's delta alone limits.
    """

    epsilon: Epsilon
    delta: Delta | None = None

    @classmethod
    def of(cls, epsilon: Number, delta: Number | None = None) -> Cap:
        """Return the cap with these amounts as written."""
        return cls(Epsilon.of(epsilon), None if delta is None else Delta.of(delta))


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit in force: of a budget (`analyst` None) or of one analyst's share of it."""

    budget: str
    analyst: str | None
    epsilon: Epsilon
    delta: Delta
    neighbours: Neighbours

    def to_json(self) -> dict[str, Any]:
        """Return exact text, the form that the history keeps."""
        return {
            "epsilon": str(self.epsilon.value),
            "delta": str(self.delta.value),
            "neighbours": self.neighbours.value,
        }

    @classmethod
    def from_json(cls, budget: str, analyst: str | None, data: dict[str, Any]) -> Limit:
        """Return the limit that `to_json` wrote."""
        return cls(
            budget,
            analyst,
            Epsilon.of(data["epsilon"]),
            Delta.of(data["delta"]),
            Neighbours(data["neighbours"]),
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """All budgets and all caps, as the owner wrote them.

    Guarantee: an analyst who is not listed for a budget cannot spend from it. The budget's own
    total holds for all analysts together, so colluding analysts gain nothing.
    """

    budgets: Mapping[str, BudgetPolicy]
    analysts: Mapping[str, Mapping[str, Cap]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for analyst, caps in self.analysts.items():
            for budget in caps:
                if budget not in self.budgets:
                    raise CatalogError(
                        f"Analyst '{analyst}' has a share in '{budget}', which is no budget.",
                        hint=f"Budgets: {', '.join(sorted(self.budgets)) or 'none'}.",
                    )

    def limits(self) -> Iterator[Limit]:
        """Yield every limit that this policy puts in force, in a fixed order."""
        for name, budget in sorted(self.budgets.items()):
            yield Limit(name, None, budget.epsilon, budget.delta, budget.neighbours)
        for analyst, caps in sorted(self.analysts.items()):
            for name, cap in sorted(caps.items()):
                budget = self.budgets[name]
                delta = budget.delta if cap.delta is None else cap.delta
                yield Limit(name, analyst, cap.epsilon, delta, budget.neighbours)


Amounts: TypeAlias = tuple[int, ...]

COMPONENTS = 4
"""epsilon, delta, rho, rho_delta."""

CEILING = 10**17
"""Where a bill saturates: at least ten times every limit, and small enough for 64-bit sums."""

DIGITS = 15
"""A limit is at least 10^15 units, so amounts with that many digits below it are exact."""

_WITHOUT_LIMIT = (Fraction(1), Fraction(1, 10**9), Fraction(1), Fraction(1, 10**9))


@dataclass(frozen=True, slots=True)
class AmountResolution:
    """How finely each component is counted, as a number of decimal digits.

    Guarantee: an amount with at most DIGITS decimal digits below its limit is counted exactly, in
    any number of additions; a finer one is rounded up, never down.
    """

    digits: tuple[int, int, int, int]

    @classmethod
    def of(
        cls, epsilon: Fraction, delta: Fraction, rho: Fraction, rho_delta: Fraction
    ) -> AmountResolution:
        """Return the resolution for these limits; a limit of 0 is counted at a usual fineness."""
        first, second, third, fourth = (
            _digits(limit or usual)
            for limit, usual in zip((epsilon, delta, rho, rho_delta), _WITHOUT_LIMIT, strict=True)
        )
        return cls((first, second, third, fourth))

    def amounts(self, cost: Cost) -> Amounts:
        """Return `cost` in whole units, rounded up; what cannot be expressed is the ceiling."""
        parts = (cost.epsilon, cost.delta, cost.rho, cost.rho_delta)
        return tuple(
            CEILING if part is None else min(CEILING, _ceil(part, digits))
            for part, digits in zip(parts, self.digits, strict=True)
        )

    def cost(self, amounts: Amounts) -> Cost:
        """Return the exact cost that `amounts` stand for; a saturated bill is None, or above."""
        epsilon, delta, rho, rho_delta = (
            Fraction(amount, 1) / 10**digits if digits >= 0 else Fraction(amount * 10**-digits)
            for amount, digits in zip(amounts, self.digits, strict=True)
        )
        return Cost(
            epsilon=None if amounts[0] >= CEILING else epsilon,
            delta=delta,
            rho=None if amounts[2] >= CEILING else rho,
            rho_delta=rho_delta,
        )


def _digits(limit: Fraction) -> int:
    digits = DIGITS
    while limit * Fraction(10) ** digits < 10**DIGITS:
        digits += 1
    while limit * Fraction(10) ** (digits - 1) >= 10**DIGITS:
        digits -= 1
    return digits


def _ceil(value: Fraction, digits: int) -> int:
    if digits >= 0:
        scale: int = 10**digits
        return -(-value.numerator * scale // value.denominator)
    coarse: int = 10**-digits
    return -(-value.numerator // (value.denominator * coarse))


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
