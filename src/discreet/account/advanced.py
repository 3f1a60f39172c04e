"""Advanced and optimal composition of k equal steps fixed beforehand: for teaching and as an oracle in tests.

None of this may stop or choose steps by what was seen: fixed-k composition is not a filter.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from discreet.account.convert import ONE, ZERO
from discreet.core.certified_functions import decimal_down, decimal_up
from discreet.core.numbers import least_whole, round_up

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
