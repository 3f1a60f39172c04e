"""Certified delta of discrete Gaussian noise under an integer shift, by its own sum.

With weights w(k) = exp(-k^2 / (2 sigma^2)), N their sum over all integers and T(m) that over k >= m,
noise on an integer that moves by at most s is (epsilon, delta)-DP exactly for
delta = (T(m) - e^epsilon T(m + s)) / N, m = ceil(epsilon sigma^2 / s - s / 2) [CKS20, Theorem 7].
Small sigma: T is added up term by term. Large sigma: Euler-Maclaurin with an explicit remainder. All in
50-digit decimals; each bound is then widened by a relative 10^-38, far above the rounding of the few
thousand operations behind it. The continuous formula would understate delta (docs/notes/0009).
"""

from __future__ import annotations

import math
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    localcontext,
)
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

_CONTEXT = Context(prec=50, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX)
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
_MARGIN = Decimal("1e-38")
_SMALL = Decimal("1e-45")
_NEGLIGIBLE = Decimal("1e-4000")
_GRID_DIGITS = 60
_DIRECT_LIMIT = 2500  # sigma up to 50 is summed directly: at most about 750 terms


class DecimalBracket(NamedTuple):
    """Two decimals with the true value between them."""

    low: Decimal
    high: Decimal


@lru_cache(maxsize=4096)
def delta_bounds(
    *, sigma_squared: Fraction, shift: int, epsilon: Fraction
) -> tuple[Fraction, Fraction]:
    """Return fractions below and above the exact delta of an integer shift of at most `shift`.

    Guarantee: the upper one holds for every smaller shift too, because the noise is log-concave: the
        best test is a half line, and its power grows with the shift.
    """
    if shift == 0:
        return Fraction(0), Fraction(0)
    first = math.ceil(epsilon * sigma_squared / shift - Fraction(shift, 2))
    with localcontext(_CONTEXT):
        variance = Decimal(sigma_squared.numerator) / Decimal(sigma_squared.denominator)
        factor = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        total = _normaliser(variance)
        near, far = _from(first, variance, total), _tail(first + shift, variance)
        high = near.high - factor * (1 - _MARGIN) * far.low
        low = near.low - factor * (1 + _MARGIN) * far.high
        return _fraction(low / total.high, up=False), _fraction(high / total.low, up=True)


def _from(first: int, variance: Decimal, total: DecimalBracket) -> DecimalBracket:
    """Return T(first) for any integer, by symmetry where it is not positive."""
    if first > 0:
        return _tail(first, variance)
    rest = _tail(1 - first, variance)
    return DecimalBracket(total.low - rest.high, total.high - rest.low)


def _normaliser(variance: Decimal) -> DecimalBracket:
    if variance <= _DIRECT_LIMIT:
        half = _direct(0, variance)
        return DecimalBracket(2 * half.low - 1, 2 * half.high - 1)
    # Poisson summation: N = sigma sqrt(2 pi) (1 + 2 sum_j exp(-2 pi^2 sigma^2 j^2)), and the sum is
    # below exp(-49000) here.
    return _widen((2 * _PI * variance).sqrt(), Decimal(0))


def _tail(first: int, variance: Decimal) -> DecimalBracket:
    """Return bounds of T(first) for first >= 1."""
    if first * first > 20_000 * variance:
        # T(m) <= w(m) (1 + sigma^2/m) and w(m) < e^-10000: below 10^-4000 for any sigma in use.
        return DecimalBracket(Decimal(0), _NEGLIGIBLE)
    return _direct(first, variance) if variance <= _DIRECT_LIMIT else _smooth(first, variance)


def _direct(first: int, variance: Decimal) -> DecimalBracket:
    """Return bounds of T(first) by adding up; each weight follows from the one before."""
    weight = (-(first * first) / (2 * variance)).exp()
    ratio = (-(2 * first + 1) / (2 * variance)).exp()
    step = (-1 / variance).exp()
    total = Decimal(0)
    while True:
        total += weight
        weight *= ratio
        if weight < total * _SMALL:
            break
        ratio *= step
    return _widen(total, weight / (1 - ratio))  # later ratios are smaller: a geometric series


def _smooth(first: int, variance: Decimal) -> DecimalBracket:
    """Return bounds of T(first) by Euler-Maclaurin up to the fifth derivative.

    f(x) = exp(-x^2/(2 sigma^2)) has f^(n)(x) = (-1/sigma)^n He_n(x/sigma) f(x). The remainder is at
    most |B_6|/6! times the integral of |f^(6)|, which moments of the normal law bound.
    """
    sigma = variance.sqrt()
    a = first / sigma
    height = (-a * a / 2).exp()
    integral = _normal_integral(a, height)
    corrections = height / 2
    corrections += a * height / (12 * sigma)
    corrections -= (a**3 - 3 * a) * height / (720 * sigma**3)
    corrections += (a**5 - 10 * a**3 + 15 * a) * height / (30240 * sigma**5)
    j0 = integral.high
    j2 = a * height + j0
    j4 = a**3 * height + 3 * j2
    j6 = a**5 * height + 5 * j4
    remainder = (j6 + 15 * j4 + 45 * j2 + 15 * j0) / (30240 * sigma**5)
    low = sigma * integral.low + corrections - remainder
    high = sigma * integral.high + corrections + remainder
    return DecimalBracket(low * (1 - _MARGIN), high * (1 + _MARGIN))


def _normal_integral(a: Decimal, height: Decimal) -> DecimalBracket:
    """Return bounds of the integral of exp(-y^2/2) from a to infinity; height is exp(-a^2/2)."""
    if a < 3:
        # Integral from 0 to a: height * sum of a^(2n+1) / (2n+1)!!, all terms positive.
        term = total = a
        n = 0
        while term > total * _SMALL or n < 20:  # from n = 20 on, terms at least halve
            n += 1
            term = term * a * a / (2 * n + 1)
            total += term
        whole = (_PI / 2).sqrt()
        low, high = height * total * (1 - _MARGIN), height * (total + 2 * term) * (1 + _MARGIN)
        return DecimalBracket(whole * (1 - _MARGIN) - high, whole * (1 + _MARGIN) - low)
    # Mills' ratio as 1/(a + 1/(a + 2/(a + 3/...))): cut after an even and after an odd number of
    # levels, the two values lie on both sides of the truth.
    one, other = _mills(a, 120), _mills(a, 121)
    low, high = min(one, other), max(one, other)
    return DecimalBracket(height * low * (1 - _MARGIN), height * high * (1 + _MARGIN))


def _mills(a: Decimal, levels: int) -> Decimal:
    value = a
    for level in range(levels, 0, -1):
        value = a + level / value
    return 1 / value


def _widen(value: Decimal, extra: Decimal) -> DecimalBracket:
    return DecimalBracket(value * (1 - _MARGIN), (value + extra) * (1 + _MARGIN))


def _fraction(value: Decimal, *, up: bool) -> Fraction:
    """Return `value` within [0, 1], a multiple of 10^-60, rounded in the given direction."""
    clipped = min(max(value, Decimal(0)), Decimal(1)).scaleb(_GRID_DIGITS)
    whole = clipped.to_integral_value(rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return Fraction(int(whole), 10**_GRID_DIGITS)
