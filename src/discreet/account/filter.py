"""Privacy filters: whether the next adaptive charge still fits what a data set may spend.

A budget (E, D) with D > 0 is watched by two filters side by side, and a charge passes if either
accepts the new total: (A) sum of epsilon <= E and sum of delta <= D/2; (B) sum of rho <= R and sum of
rho_delta <= D/4, where R converts to E at D/4. With D = 0 only (A) exists. Proof: docs/notes/0007.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.account.convert import ZERO, epsilon_of_rho, rho_of_target
from discreet.core.cost import FREE, Cost
from discreet.core.numbers import Delta, Epsilon, Number
from discreet.errors import InvalidInput


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
