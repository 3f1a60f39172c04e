"""Composition of promises: group privacy, privacy filters, and the composition of k equal steps.

A filter says whether the next adaptive charge still fits what a dataset may spend. A budget (E, D) with
D > 0 is watched by two filters side by side, and a charge passes if either accepts the new total:
(A) sum of epsilon <= E and sum of delta <= D/2; (B) sum of rho <= R and sum of rho_delta <= D/4, where R
converts to E at D/4. With D = 0 only (A) exists. Proof: docs/notes/0007.

Optimal composition (`optimal_delta`, `optimal_epsilon`) is for k equal steps fixed beforehand: for teaching
and as an oracle in tests. It may not stop or choose steps by what was seen: fixed-k composition is not a filter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from discreet.base.event import FREE, Cost
from discreet.base.numbers import (
    Delta,
    Epsilon,
    Number,
    decimal_down,
    decimal_up,
    exp_lower,
    exp_upper,
    least_whole,
    round_up,
)
from discreet.errors import InvalidInput
from discreet.privacy.account.convert import ONE, ZERO, cost_up, epsilon_of_rho, rho_of_target


def group_epsilon(epsilon: Fraction, size: int) -> Fraction:
    """Return the epsilon that a group of `size` people is promised: size times as much."""
    _check(size)
    return epsilon * size


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    """Return the delta that goes with `group_epsilon`, rounded up, at most 1.

    Guarantee: delta * (1 + e^eps + ... + e^((size-1) eps)) [Dwork & Roth 2014, Theorem 2.2, hybrid
        argument]. It grows with e^(size epsilon): the promise to large groups is empty.
    """
    _check(size)
    if not epsilon:
        return min(ONE, delta * size)
    ratio = (exp_upper(size * epsilon) - 1) / (exp_lower(epsilon) - 1)
    return min(ONE, cost_up(delta * ratio)) if delta else Fraction(0)


def _check(size: int) -> None:
    if size < 0:
        raise InvalidInput("A group has at least 0 people.")


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


_CONTEXT = Context(prec=60, Emin=-999_999, Emax=999_999)
_MARGIN = Decimal("1e-32")


def optimal_delta(
    epsilon: Fraction, count: int, target: Fraction, *, delta: Fraction = ZERO
) -> Fraction:
    """Return the least delta at `target` that holds for every `count` (epsilon, delta)-DP steps.

    Guarantee: exact up to rounding up [Kairouz, Oh & Viswanath 2015, Theorem 3.3]: with l of k coins
        against, the losses are (k - 2l) eps; delta' = 1 - (1-delta)^k (1 - sum of excesses).
    """
    with localcontext(_CONTEXT):
        one = decimal_up(epsilon).exp()
        wanted = decimal_down(target).exp()
        total = excess = Decimal(0)
        toward, against = one**count, Decimal(1)
        for coins in range(count // 2 + 1):
            # C(k, l) (e^((k-l) eps) - e^target e^(l eps)); from where the loss is below the target on,
            # nothing is added.
            gap = toward - wanted * against
            if gap <= 0:
                break
            ways = math.comb(count, coins)
            excess += ways * gap
            total += ways * toward
            toward, against = toward / one, against * one
        # Every term is right to 32 digits of its larger part: arguments have 40, and counts stay below 10^7.
        share = (excess + total * _MARGIN) / (1 + one) ** count
    clean = min(ONE, Fraction(share) * (1 + Fraction(1, 10**30)))
    return min(ONE, round_up(1 - (1 - delta) ** count * (1 - clean), digits=60))


def optimal_epsilon(epsilon: Fraction, count: int, wanted: Fraction) -> Fraction:
    """Return the least epsilon, to 6 digits and rounded up, of `count` pure steps at delta `wanted`."""

    def enough(millionths: int) -> bool:
        return optimal_delta(epsilon, count, Fraction(millionths, 10**6)) <= wanted

    return Fraction(least_whole(0, math.ceil(epsilon * count * 10**6), enough), 10**6)
