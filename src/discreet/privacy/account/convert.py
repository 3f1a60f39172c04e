"""From one currency to another: pure epsilon, zCDP and (epsilon, delta); amplification by subsampling.

Every result is a fraction rounded to the safe side: costs up, allowances down. A floating-point
search may choose *where* to evaluate a bound (any Renyi order is valid); it never carries the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from discreet.base.numbers import exp_upper, log_lower, log_upper, round_down, round_up, tanh_upper

GRID_DIGITS = 24
"""Computed costs are multiples of 10^-24, so that sums of millions of them stay short."""

CACHED = 4096

ONE = Fraction(1)
ZERO = Fraction(0)


def cost_up(value: Fraction) -> Fraction:
    """Return `value` rounded up to the common grid of computed costs."""
    return round_up(value, digits=GRID_DIGITS)


@lru_cache(maxsize=CACHED)
def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return the least rho (rounded up) such that every epsilon-DP mechanism is rho-zCDP.

    Guarantee: rho = epsilon * tanh(epsilon/2), reached by randomized response. With s = a - 1/2 its
    Renyi divergence of order a is (ln cosh(s epsilon) - ln cosh(epsilon/2)) / (a - 1), and
    u -> ln cosh(epsilon sqrt(u)) is concave: its tangent at u = 1/4 gives a * epsilon * tanh(epsilon/2).
    """
    return cost_up(epsilon * tanh_upper(epsilon / 2))


def rho_of_range(epsilon: Fraction) -> Fraction:
    """Return rho of a mechanism whose log-odds move by at most `epsilon` (exponential mechanism).

    Guarantee: epsilon^2/8-zCDP [Cesar & Rogers 2021], never worse than rho_of_pure.
    """
    return min(cost_up(epsilon * epsilon / 8), rho_of_pure(epsilon))


def rho_of_gaussian(l2_squared: Fraction, sigma_squared: Fraction) -> Fraction:
    """Return rho of (discrete) Gaussian noise [Canonne, Kamath & Steinke 2020, Theorem 4]."""
    return cost_up(l2_squared / (2 * sigma_squared))


@lru_cache(maxsize=CACHED)
def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon such that rho-zCDP implies (epsilon, delta)-DP, for a delta in (0, 1).

    Guarantee: for each order a > 1, epsilon = a rho + ln((a-1)/a) + (ln(1/delta) - ln a)/(a-1)
        [CKS20, Proposition 12]; the order is searched in floating point, the bound is certified.
    """
    if not rho:
        return ZERO
    log_delta, rate = _log_inverse(delta), float(rho)
    start = 1 + math.sqrt(log_delta / max(rate, 1e-300))
    order = _best_order(lambda a: a * rate + _penalty(a, log_delta), start)
    return cost_up(max(ZERO, order * rho + _penalty_upper(order, delta)))


@lru_cache(maxsize=CACHED)
def rho_of_target(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the greatest rho (rounded down) whose conversion at `delta` is at most `epsilon`."""
    log_delta, target = _log_inverse(delta), float(epsilon)
    start = 1 + 2 * log_delta / max(target, 1e-300)
    order = _best_order(lambda a: (_penalty(a, log_delta) - target) / a, start)
    allowed = (epsilon - _penalty_upper(order, delta)) / order
    return max(ZERO, round_down(allowed, digits=GRID_DIGITS))


@lru_cache(maxsize=CACHED)
def amplified(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Return epsilon after secret Poisson sampling at `rate`: ln(1 + rate (e^epsilon - 1)), up.

    Guarantee: for add/remove neighbours [Balle, Barthe & Gaboardi 2018]; a delta is
        multiplied by the rate. Not claimed for replace-one neighbours.
    """
    if not rate or not epsilon:
        return ZERO
    if rate == 1 or epsilon > 1000:
        return epsilon
    return min(epsilon, cost_up(log_upper(1 + rate * (exp_upper(epsilon) - 1))))


def _log_inverse(delta: Fraction) -> float:
    return math.log(delta.denominator) - math.log(delta.numerator)


@lru_cache(maxsize=CACHED)  # a budget has one delta
def _log_inverse_upper(delta: Fraction) -> Fraction:
    return log_upper(1 / delta)


def _penalty(order: float, log_delta: float) -> float:
    return math.log1p(-1 / order) + (log_delta - math.log(order)) / (order - 1)


def _penalty_upper(order: Fraction, delta: Fraction) -> Fraction:
    """Return what is added to a divergence of `order` to speak of (epsilon, delta), rounded up."""
    log_part = _log_inverse_upper(delta) - log_lower(order)
    return log_upper((order - 1) / order) + log_part / (order - 1)


_GOLDEN = (math.sqrt(5) - 1) / 2


def golden_section(
    objective: Callable[[float], float], low: float, high: float, *, rounds: int
) -> float:
    """Return about where `objective` is least between two ends, in floating point."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = objective(left), objective(right)
    for _ in range(rounds):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = objective(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = objective(right)
    return (low + high) / 2


def _best_order(objective: Callable[[float], float], start: float) -> Fraction:
    """Return an order near the least value of `objective`: golden section on ln(order - 1)."""
    centre = math.log(min(max(start - 1, 1e-12), 1e15))
    found = golden_section(
        lambda log: objective(1 + math.exp(log)), centre - 5, centre + 5, rounds=45
    )
    # Few digits are enough: the objective is flat at its least value, and any order is valid.
    return 1 + Fraction(f"{math.exp(found):.9g}")
