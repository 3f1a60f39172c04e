"""What a data set may spend, and whether the next charge still fits: filters for adaptive costs.

A budget (E, D) with D > 0 is watched by two filters side by side, and a charge passes if either
accepts the new total: (A) sum of epsilon <= E and sum of delta <= D/2; (B) sum of rho <= R and sum of
rho_delta <= D/4, where R converts to E at D/4. With D = 0 only (A) exists. Proof: docs/notes/0007.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.account.convert import ZERO, epsilon_of_rho, renyi_of_target, rho_of_target
from discreet.core.cost import FREE, Cost
from discreet.core.numbers import Delta, Epsilon, Number
from discreet.errors import BudgetExceeded, InvalidInput


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one account: `epsilon` and `delta` as promised, and what filter B may spend.

    Guarantee: if every charge is asked with `allows(total including it)` before it is answered, the
        whole interaction, however its costs were chosen, is (epsilon, delta)-DP. [notes/0007; Rogers
        et al. 2016; Feldman & Zrnic 2021; Whitehouse et al. 2023]

    >>> limits = Limits.of("1", "1e-9")
    >>> limits.allows(Cost(Fraction(1), Fraction(0), None, Fraction(0)))
    True
    """

    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    rho_delta: Fraction

    @classmethod
    def of(cls, epsilon: Number | Epsilon, delta: Number | Delta = 0) -> Limits:
        """Return the limits of an (epsilon, delta) promise."""
        total, failure = Epsilon.of(epsilon).value, Delta.of(delta).value
        rho = rho_of_target(total, failure / 4) if failure else ZERO
        return cls(total, failure, rho, failure / 4)

    def within_epsilon(self, cost: Cost) -> bool:
        """Return whether filter A holds: sums of epsilon and delta."""
        return (
            cost.epsilon is not None
            and cost.epsilon <= self.epsilon
            and cost.delta <= self.delta / 2
        )

    def within_rho(self, cost: Cost) -> bool:
        """Return whether filter B holds: sums of rho and rho_delta."""
        return (
            self.delta > 0
            and cost.rho is not None
            and cost.rho <= self.rho
            and cost.rho_delta <= self.rho_delta
        )

    def allows(self, cost: Cost) -> bool:
        """Return whether a running total of `cost` stays within the promise."""
        return self.within_epsilon(cost) or self.within_rho(cost)

    def spent(self, cost: Cost) -> tuple[Fraction, Fraction]:
        """Return (epsilon, delta) to show for a total of `cost`: the smaller reading that holds.

        For gauges and messages, rounded up; the promise itself is `allows`. A total beyond both
        limits is read by whichever way can express it, so that it shows as too much.
        """
        if cost == FREE:
            return ZERO, ZERO
        readings = []
        if cost.epsilon is not None:
            readings.append((self.within_epsilon(cost), (cost.epsilon, cost.delta)))
        if cost.rho is not None and self.delta:
            converted = epsilon_of_rho(cost.rho, self.delta / 4)
            if self.within_rho(cost):
                converted = min(converted, self.epsilon)  # what R itself was chosen for
            delta = cost.rho_delta + self.delta / 4
            readings.append((self.within_rho(cost), (converted, delta)))
        if not readings:
            raise InvalidInput("This cost can be expressed in neither currency of the account.")
        holding = [reading for holds, reading in readings if holds]
        return min(holding or [reading for _, reading in readings])


@dataclass(frozen=True, slots=True)
class BudgetFilter:
    """One running total in one or more currencies, with a limit for each: passes if any one holds.

    `limits` and `spent` run over the currencies; each currency carries its own failure probability
    beside it. Made by `pure`, `zcdp` or `renyi`; `after` returns the next filter or refuses.

    Guarantee: costs may be chosen after seeing earlier answers; the answers of all accepted steps
        together are (epsilon, delta)-DP. Several currencies share delta equally [notes/0007].
    """

    epsilon: Fraction
    delta: Fraction
    limits: tuple[Fraction, ...]
    failure_limit: Fraction
    spent: tuple[Fraction, ...]
    failure: Fraction = ZERO

    @classmethod
    def pure(cls, epsilon: Epsilon, delta: Delta | None = None) -> BudgetFilter:
        """Return a filter over sums of epsilon and delta."""
        allowed = delta.value if delta else ZERO
        return cls(epsilon.value, allowed, (epsilon.value,), allowed, (ZERO,))

    @classmethod
    def zcdp(cls, epsilon: Epsilon, delta: Delta) -> BudgetFilter:
        """Return a filter over sums of rho, half of delta kept for mechanisms that may fail."""
        half = delta.value / 2
        rho = rho_of_target(epsilon.value, half)
        return cls(epsilon.value, delta.value, (rho,), half, (ZERO,))

    @classmethod
    def renyi(cls, orders: tuple[Fraction, ...], epsilon: Epsilon, delta: Delta) -> BudgetFilter:
        """Return a filter over sums of Renyi divergences at these orders, fixed beforehand.

        Each order gets an equal share of delta, because which order holds at the end may depend on
        the answers.
        """
        share = delta.value / len(orders)
        limits = tuple(renyi_of_target(epsilon.value, share, order) for order in orders)
        return cls(epsilon.value, delta.value, limits, ZERO, tuple(ZERO for _ in orders))

    def after(self, *costs: Fraction, failure: Fraction = ZERO) -> BudgetFilter:
        """Return this filter with one more step paid, or raise BudgetExceeded and pay nothing."""
        if len(costs) != len(self.limits):
            raise InvalidInput(f"This filter counts {len(self.limits)} costs for each step.")
        if failure < 0 or any(cost < 0 for cost in costs):
            raise InvalidInput("A cost must not be negative.")
        spent = tuple(old + new for old, new in zip(self.spent, costs, strict=True))
        failed = self.failure + failure
        holds = any(total <= limit for total, limit in zip(spent, self.limits, strict=True))
        if not holds or failed > self.failure_limit:
            raise BudgetExceeded(
                "This step does not fit into what is left.", hint="Ask for a smaller cost."
            )
        return replace(self, spent=spent, failure=failed)
