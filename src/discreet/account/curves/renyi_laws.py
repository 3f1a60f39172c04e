"""Renyi divergences of particular laws, rounded up: discrete Laplace, and noise on Poisson samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from discreet.account.convert import cost_up, renyi_of_pure
from discreet.core.bounds import decimal_up, exp_lower, exp_upper, log_upper
from discreet.core.event import Gaussian, PrivacyEvent

_UP = Context(prec=40, rounding=ROUND_CEILING, Emin=-9999, Emax=MAX_EMAX)

# decimal's integer powers may be off by a unit or two in the last of 40 digits; sums round up.
_MARGIN = 1 + Decimal("1e-30")

GENERAL_ORDER_LIMIT = 64
"""Beyond this order the general sampling bound is not computed: it needs every integer order below."""


@lru_cache(maxsize=4096)
def laplace_divergence(scale: Fraction, l1: Fraction, order: Fraction) -> Fraction:
    """Return the divergence of discrete Laplace noise under a move of at most l1, rounded up.

    Guarantee: with t = e^(-1/scale) and an integer shift k in one coordinate, the exact value is
        ln[A e^((a-1) k/scale) + B e^(-a k/scale)] / (a-1), A = (1 - t^(2a)) / C,
        B = (t - t^(2a-1)) / C, C = (1 + t)(1 - t^(2a-1)). It is convex in k and 0 at 0, so a move spread
        over several coordinates costs no more than the whole of it in one.
    """
    shift = l1.numerator // l1.denominator
    loss = shift / scale
    if not shift:
        return Fraction(0)
    simple = renyi_of_pure(loss, order)
    if order * loss > 2000 or scale > 10**12:
        return simple  # nothing to win, or more digits needed than we carry
    t_high, t_low = exp_upper(-1 / scale), exp_lower(-1 / scale)
    odd_high, odd_low = exp_upper(-(2 * order - 1) / scale), exp_lower(-(2 * order - 1) / scale)
    below = (1 + t_low) * (1 - odd_high)
    a = (1 - exp_lower(-2 * order / scale)) / below
    b = (t_high - odd_low) / below
    inside = a * exp_upper((order - 1) * loss) + b * exp_upper(-order * loss)
    return min(simple, cost_up(max(Fraction(0), log_upper(inside) / (order - 1))))


def sampled_divergences(
    event: PrivacyEvent,
    rate: Fraction,
    orders: tuple[Fraction, ...],
    divergence: Callable[[PrivacyEvent, Fraction], Fraction | None],
) -> tuple[Fraction | None, ...]:
    """Return bounds at `orders` for `event` on a Poisson sample; a divergence grows with its order,
    so that of the next integer order is used for an order in between."""
    found: dict[int, Fraction | None] = {}
    for order in orders:
        whole = max(2, math.ceil(order))
        if whole in found:
            continue
        if isinstance(event, Gaussian):
            found[whole] = _sampled_gaussian(event.l2_squared / event.sigma_squared, rate, whole)
        elif whole <= GENERAL_ORDER_LIMIT:
            found[whole] = _sampled_general(event, rate, whole, divergence)
        else:
            found[whole] = None
    return tuple(found[max(2, math.ceil(order))] for order in orders)


@lru_cache(maxsize=4096)
def _sampled_gaussian(ratio: Fraction, rate: Fraction, order: int) -> Fraction:
    """Return ln[sum_k C(a,k) (1-q)^(a-k) q^k e^(k(k-1) ratio/2)] / (a-1), rounded up.

    Guarantee: [Mironov, Talwar & Zhang 2019]. Each moment of the likelihood ratio is the
        same for the discrete law under an integer shift, because shifting the sum over all integers
        changes nothing; the reflection x -> shift - x swaps the two laws, as their symmetry argument asks.
    """
    with localcontext(_UP):
        total = Decimal(0)
        sampled, missed = decimal_up(rate), decimal_up(1 - rate)
        growth = decimal_up(ratio).exp().next_plus()
        power, step = Decimal(1), Decimal(1)  # e^(k(k-1)/2 ratio) and e^(k ratio)
        for k in range(order + 1):
            total += math.comb(order, k) * missed ** (order - k) * sampled**k * power
            power *= step
            step *= growth
        total *= _MARGIN
        log = total.ln().next_plus()
    return cost_up(max(Fraction(0), Fraction(log) / (order - 1)))


def _sampled_general(
    event: PrivacyEvent,
    rate: Fraction,
    order: int,
    divergence: Callable[[PrivacyEvent, Fraction], Fraction | None],
) -> Fraction | None:
    """Return the bound for any mechanism [Zhu & Wang 2019], rounded up."""
    with localcontext(_UP):
        q, p = decimal_up(rate), decimal_up(1 - rate)
        total = p ** (order - 1) * (order * q - q + 1)
        for k in range(2, order + 1):
            value = divergence(event, Fraction(k))
            if value is None:
                return None
            weight = math.comb(order, k) * p ** (order - k) * q**k * (1 if k == 2 else 3)
            total += weight * decimal_up((k - 1) * value).exp().next_plus()
        log = (total * _MARGIN).ln().next_plus()
    bound = cost_up(max(Fraction(0), Fraction(log) / (order - 1)))
    plain = divergence(event, Fraction(order))
    return bound if plain is None else min(bound, plain)
