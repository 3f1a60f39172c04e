"""Counting in Renyi divergences at a fixed grid of orders, each rounded up.

Wins over zCDP where the curve is not a straight line: Laplace noise, and noise on secret samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.account.convert import ZERO, cost_up, delta_of_renyi, epsilon_of_renyi, renyi_of_pure
from discreet.account.curves.renyi_laws import laplace_divergence, sampled_divergences
from discreet.account.tally import is_private, tally
from discreet.core.cost import sum_known
from discreet.core.event import (
    Composed,
    Failing,
    Gaussian,
    Laplace,
    NonPrivate,
    PrivacyEvent,
    Repeated,
    Sampled,
    Select,
)
from discreet.errors import InvalidInput

ORDERS: tuple[Fraction, ...] = (
    *(Fraction(quarters, 4) for quarters in (5, 6, 7, 9, 10, 14, 18)),
    *(Fraction(order) for order in (*range(2, 13), *range(14, 22, 2), *range(24, 40, 4))),
    *(Fraction(order) for order in (40, 48, 56, 64, 96, 128, 256)),
)
"""Orders that suit epsilons from a hundredth to ten."""

Divergences: TypeAlias = tuple[Fraction | None, ...]


@dataclass(frozen=True, slots=True)
class RenyiCost:
    """Divergences at the accountant's orders (None: no bound known), and a chance of failure."""

    divergences: Divergences
    delta: Fraction


@dataclass(frozen=True, slots=True)
class RenyiAccountant:
    """Adds divergences order by order; at the end the best order is chosen.

    Guarantee: choosing the order afterwards is sound for costs fixed beforehand. For costs chosen on
        the way, use Filter.renyi, which divides delta among the orders.
    """

    orders: tuple[Fraction, ...] = ORDERS

    def supports(self, event: PrivacyEvent) -> bool:
        """Return whether every part carries a guarantee."""
        return is_private(event)

    def cost(self, event: PrivacyEvent) -> RenyiCost:
        """Return the divergences of `event` at all orders."""
        return _RULES.get(type(event), _by_tally)(self, event)

    def total(self, costs: Iterable[RenyiCost]) -> RenyiCost:
        """Return the sums over `costs`, order by order."""
        total = RenyiCost(tuple(ZERO for _ in self.orders), ZERO)
        for cost in costs:
            total = RenyiCost(
                tuple(map(sum_known, total.divergences, cost.divergences)), total.delta + cost.delta
            )
        return total

    def epsilon(self, cost: RenyiCost, delta: Fraction) -> Fraction | None:
        """Return the least conversion over the orders, at what of `delta` is left."""
        left = delta - cost.delta
        if left == 0 and all(value == 0 for value in cost.divergences):
            return ZERO
        if left <= 0:
            return None
        found = [
            epsilon_of_renyi(value, order, left) if value else ZERO
            for order, value in zip(self.orders, cost.divergences, strict=True)
            if value is not None
        ]
        return min(found, default=None)

    def delta(self, cost: RenyiCost, epsilon: Fraction) -> Fraction:
        """Return the least conversion over the orders, plus the failures."""
        found = [
            delta_of_renyi(value, order, epsilon) if value else ZERO
            for order, value in zip(self.orders, cost.divergences, strict=True)
            if value is not None
        ]
        return min(Fraction(1), min(found, default=Fraction(1)) + cost.delta)


def _each(
    accountant: RenyiAccountant,
    divergence: Callable[[Fraction], Fraction],
    delta: Fraction = ZERO,
) -> RenyiCost:
    return RenyiCost(tuple(divergence(order) for order in accountant.orders), delta)


def _laplace(accountant: RenyiAccountant, event: Laplace) -> RenyiCost:
    return _each(accountant, lambda order: laplace_divergence(event.scale, event.l1, order))


def _straight(accountant: RenyiAccountant, rho: Fraction, delta: Fraction = ZERO) -> RenyiCost:
    return _each(accountant, lambda order: cost_up(order * rho), delta)


def _select(accountant: RenyiAccountant, event: Select) -> RenyiCost:
    rho = event.epsilon**2 / 8
    return _each(
        accountant,
        lambda order: min(cost_up(order * rho), renyi_of_pure(event.epsilon, order)),
    )


def _by_tally(accountant: RenyiAccountant, event: PrivacyEvent) -> RenyiCost:
    """Return what follows for an event of which no more is known than its epsilon or its rho."""
    found = tally(event)
    if not found.soft:
        return _each(accountant, lambda order: renyi_of_pure(found.epsilon, order), found.delta)
    if found.rho is None:
        return RenyiCost(tuple(None for _ in accountant.orders), found.delta)
    return _straight(accountant, found.rho, found.delta)


def _non_private(_by: RenyiAccountant, _event: NonPrivate) -> RenyiCost:
    raise InvalidInput("A release without a guarantee has no Renyi divergence.")


def _failing(accountant: RenyiAccountant, event: Failing) -> RenyiCost:
    inner = accountant.cost(event.event)
    return RenyiCost(inner.divergences, inner.delta + event.delta)


def _repeated(accountant: RenyiAccountant, event: Repeated) -> RenyiCost:
    once = accountant.cost(event.event)
    many = tuple(None if value is None else value * event.count for value in once.divergences)
    return RenyiCost(many, once.delta * event.count)


def _sampled(accountant: RenyiAccountant, event: Sampled) -> RenyiCost:
    inner = event.event
    if event.rate == 1:
        return accountant.cost(inner)
    found = tally(inner)
    if not found.soft:
        # Sampling a pure mechanism gives a pure mechanism; its divergence is then at most that of
        # randomized response with the amplified epsilon.
        whole = tally(event)
        return _each(accountant, lambda order: renyi_of_pure(whole.epsilon, order), whole.delta)
    if found.delta:
        raise InvalidInput("Sampling an event that may fail and is not pure has no Renyi rule.")
    values = sampled_divergences(inner, event.rate, accountant.orders, _divergence_of)
    return RenyiCost(values, ZERO)


def _divergence_of(event: PrivacyEvent, order: Fraction) -> Fraction | None:
    return RenyiAccountant((order,)).cost(event).divergences[0]


Rule: TypeAlias = Callable[[RenyiAccountant, Any], RenyiCost]

_RULES: dict[type[PrivacyEvent], Rule] = {
    Laplace: _laplace,
    Gaussian: lambda by, event: _straight(by, event.l2_squared / (2 * event.sigma_squared)),
    Select: _select,
    Failing: _failing,
    Composed: lambda by, event: by.total(by.cost(part) for part in event.events),
    Repeated: _repeated,
    Sampled: _sampled,
    NonPrivate: _non_private,
}
