"""Composition of a number of equal steps fixed beforehand: for teaching and as an oracle in tests.

None of this may stop or choose steps by what was seen: fixed-k composition is not a filter.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.account.convert import cost_up
from discreet.core.bounds import exp_lower, exp_upper, log_upper, sqrt_upper
from discreet.core.numbers import round_up

ONE = Fraction(1)
ZERO = Fraction(0)


def advanced_epsilon(epsilon: Fraction, count: int, slack: Fraction) -> Fraction:
    """Return the epsilon of `count` steps at an extra delta of `slack`, by the classic theorem.

    Guarantee: sqrt(2 k ln(1/slack)) eps + k eps (e^eps - 1) [Dwork, Rothblum & Vadhan 2010], never
        more than the plain sum. The deltas of the steps add up beside it.
    """
    spread = sqrt_upper(2 * count * log_upper(1 / slack)) * epsilon
    drift = count * epsilon * (exp_upper(epsilon) - 1)
    return min(count * epsilon, cost_up(spread + drift))


def optimal_delta(
    epsilon: Fraction, count: int, target: Fraction, *, delta: Fraction = ZERO
) -> Fraction:
    """Return the least delta at `target` that holds for every `count` (epsilon, delta)-DP steps.

    Guarantee: exact up to rounding up [Kairouz, Oh & Viswanath 2015, Theorem 3.3]: with l of k coins
        against, the losses are (k - 2l) eps; delta' = 1 - (1-delta)^k (1 - sum of excesses).
    """
    up, down = exp_upper(epsilon), exp_lower(epsilon)
    wanted = exp_lower(target)
    excess = ZERO
    power_up, power_down = up**count, ONE
    for against in range(count // 2 + 1):
        # C(k, l) * (e^((k-l) eps) - e^target e^(l eps)): stop once the loss is below the target.
        gap = power_up - wanted * power_down
        if gap <= 0:
            break
        excess += math.comb(count, against) * gap
        power_up = round_up(power_up / down, digits=60)
        power_down *= down
    share = min(ONE, excess / (1 + down) ** count)
    return min(ONE, round_up(1 - (1 - delta) ** count * (1 - share), digits=60))


def optimal_epsilon(epsilon: Fraction, count: int, wanted: Fraction) -> Fraction:
    """Return the least epsilon, to 6 digits and rounded up, of `count` pure steps at delta `wanted`."""
    low, high = 0, math.ceil(epsilon * count * 10**6)
    while low < high:
        middle = (low + high) // 2
        if optimal_delta(epsilon, count, Fraction(middle, 10**6)) <= wanted:
            high = middle
        else:
            low = middle + 1
    return Fraction(high, 10**6)
