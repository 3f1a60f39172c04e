"""The two laws of additive noise: their tails, and the error bars that follow.

Tails are certified fractions, except for a Gaussian of sigma above 300: there they come from
floating point with a stated error (Euler-Maclaurin, note 0003), outwards. These numbers describe
noise; none of them takes part in drawing it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self

from discreet.core.numbers import Number, plain, to_fraction
from discreet.errors import InvalidInput
from discreet.noise.exact.certified import exp_bounds
from discreet.noise.exact.tails import GaussianTail, LaplaceTail

SUMMED = 300  # the greatest sigma whose law is added up term by term
BITS = 128
DEEPEST = 1024  # bits after which a comparison is settled on the safe side
FLOAT_ERROR = Fraction(1, 10**12)  # relative; erfc, exp and sqrt are good to 1e-15


class Law(Protocol):
    """A symmetric law on the integers, the law of one answer's noise."""

    @property
    def variance(self) -> float:
        """Return the variance, to floating-point accuracy."""
        ...

    def tail_bounds(self, m: int, bits: int = BITS) -> tuple[Fraction, Fraction]:
        """Return fractions low <= P(|X| >= m) <= high."""
        ...


@dataclass(frozen=True, slots=True)
class LaplaceLaw:
    """P(x) proportional to exp(-|x| / scale) on the integers.

    >>> law = LaplaceLaw.of(1)
    >>> law.half_width(0.95), round(law.coverage(3), 4), round(law.tail(3), 3)
    (3, 0.9732, 0.073)
    >>> law.joint_half_width(10_000, 0.95), round(law.joint_failure(12, 10_000), 3)
    (12, 0.033)
    """

    scale: Fraction

    @classmethod
    def of(cls, scale: Number) -> Self:
        """Return the law with the scale exactly as written."""
        return cls(_positive(scale, "scale"))

    @property
    def variance(self) -> float:
        """Return the variance 2t / (1-t)^2 with t = exp(-1/scale), to floating-point accuracy."""
        rate = float(1 / self.scale)
        return 2 * math.exp(-rate) / math.expm1(-rate) ** 2

    def tail_bounds(self, m: int, bits: int = BITS) -> tuple[Fraction, Fraction]:
        """Return fractions low <= P(|X| >= m) <= high."""
        if m <= 0:
            return Fraction(1), Fraction(1)
        low, high = LaplaceTail(self.scale).bounds(m, bits)
        return 2 * low, min(2 * high, Fraction(1))

    def tail(self, m: int) -> float:
        """Return P(|X| >= m), rounded up."""
        return tail(self, m)

    def coverage(self, m: int) -> float:
        """Return P(|X| <= m), rounded down."""
        return coverage(self, m)

    def half_width(self, confidence: Number) -> int:
        """Return the least m with P(|X| <= m) >= confidence."""
        return half_width(self, confidence)

    def joint_half_width(self, count: int, confidence: Number) -> int:
        """Return m such that `count` answers are all within m, with this confidence."""
        return joint_half_width(self, count, confidence)

    def joint_failure(self, m: int, count: int) -> float:
        """Return a bound on the chance that one of `count` answers is further off than m."""
        return joint_failure(self, m, count)


@dataclass(frozen=True, slots=True)
class GaussianLaw:
    """P(x) proportional to exp(-x^2 / (2 sigma_squared)) on the integers.

    >>> law = GaussianLaw.of(100)
    >>> law.half_width(0.95), round(law.coverage(20), 4)
    (20, 0.9597)
    """

    sigma_squared: Fraction

    @classmethod
    def of(cls, sigma_squared: Number) -> Self:
        """Return the law with the squared sigma exactly as written."""
        return cls(_positive(sigma_squared, "sigma_squared"))

    @property
    def variance(self) -> float:
        """Return the variance, a little below sigma_squared, to floating-point accuracy."""
        square = float(self.sigma_squared)
        if square > 4:  # the difference is below 8 pi^2 sigma^4 exp(-2 pi^2 sigma^2) < 1e-31
            return square
        terms = [(k * k, math.exp(-k * k / (2 * square))) for k in range(1, 60)]
        return 2 * sum(k2 * w for k2, w in terms) / (1 + 2 * sum(w for _, w in terms))

    def tail_bounds(self, m: int, bits: int = BITS) -> tuple[Fraction, Fraction]:
        """Return fractions low <= P(|X| >= m) <= high."""
        if m <= 0:
            return Fraction(1), Fraction(1)
        if self.sigma_squared > SUMMED**2:
            return _wide_gaussian_tail(m, self.sigma_squared)
        low, high = GaussianTail(self.sigma_squared).bounds(m, bits)
        return 2 * low, min(2 * high, Fraction(1))

    def tail(self, m: int) -> float:
        """Return P(|X| >= m), rounded up."""
        return tail(self, m)

    def coverage(self, m: int) -> float:
        """Return P(|X| <= m), rounded down."""
        return coverage(self, m)

    def half_width(self, confidence: Number) -> int:
        """Return the least m with P(|X| <= m) >= confidence."""
        return half_width(self, confidence)

    def joint_half_width(self, count: int, confidence: Number) -> int:
        """Return m such that `count` answers are all within m, with this confidence."""
        return joint_half_width(self, count, confidence)

    def joint_failure(self, m: int, count: int) -> float:
        """Return a bound on the chance that one of `count` answers is further off than m."""
        return joint_failure(self, m, count)


def tail(law: Law, m: int) -> float:
    """Return P(|X| >= m), rounded up."""
    return _float_up(law.tail_bounds(m)[1])


def coverage(law: Law, m: int) -> float:
    """Return P(|X| <= m), rounded down."""
    return -_float_up(law.tail_bounds(m + 1)[1] - 1)


def half_width(law: Law, confidence: Number) -> int:
    """Return the least m with P(|X| <= m) >= confidence: the shortest symmetric interval."""
    return _least(law, 1 - to_confidence(confidence))


def joint_half_width(law: Law, count: int, confidence: Number) -> int:
    """Return the least m with count * P(|X| > m) <= 1 - confidence.

    Guarantee: all of `count` answers are within m with at least this confidence, whether or not
        their noises are independent (union bound).
    """
    if count < 1:
        raise InvalidInput(f"count must be at least 1, not {count}.")
    return _least(law, (1 - to_confidence(confidence)) / count)


def joint_failure(law: Law, m: int, count: int) -> float:
    """Return count * P(|X| > m), at most 1, rounded up."""
    return _float_up(min(count * law.tail_bounds(m + 1)[1], Fraction(1)))


def to_confidence(written: Number) -> Fraction:
    """Return the confidence exactly as written, or refuse it with a sentence."""
    value = to_fraction(written, name="confidence")
    if not 0 < value < 1:
        raise InvalidInput(
            f"confidence must lie between 0 and 1, not {plain(value)}.", hint="Usual: 0.95."
        )
    return value


def _positive(written: Number, name: str) -> Fraction:
    value = to_fraction(written, name=name)
    if value <= 0:
        raise InvalidInput(f"{name} must be greater than 0, not {plain(value)}.")
    return value


def _least(law: Law, failure: Fraction) -> int:
    """Return the least m with P(|X| > m) <= failure."""
    upper = 1
    while not _within(law, upper, failure):
        upper *= 2
    lower = -1
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if _within(law, middle, failure):
            upper = middle
        else:
            lower = middle
    return upper


def _within(law: Law, m: int, failure: Fraction) -> bool:
    bits = BITS
    while True:
        low, high = law.tail_bounds(m + 1, bits)
        if high <= failure:
            return True
        if low > failure or bits >= DEEPEST:
            return False
        bits *= 2


def _wide_gaussian_tail(m: int, sigma_squared: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of P(|X| >= m) by Euler-Maclaurin, for sigma above 300 (note 0003)."""
    square = float(sigma_squared)
    sigma = math.sqrt(square)
    distance = m / sigma
    if distance > 37:  # erfc would underflow: the law is sub-Gaussian [CKS20, Fact 28]
        power = exp_bounds(-Fraction(m * m, 2 * sigma_squared), DEEPEST)[1]
        return Fraction(0), Fraction(2 * power, 1 << DEEPEST)
    # All relative to g(0) = 1 and to the sum of all g(k), which is sigma sqrt(2 pi) to 1e-100.
    total = sigma * math.sqrt(2 * math.pi)
    weight = math.exp(-distance * distance / 2)
    integral = total / 2 * math.erfc(distance / math.sqrt(2))
    value = integral + weight / 2 + weight * distance / (12 * sigma)
    third = weight * abs(3 * distance - distance**3) / sigma**3
    slack = (third + (0 if distance > 2.4 else 6 / sigma**3)) / 720
    low = Fraction(2 * (value - 2 * slack) / total) * (1 - FLOAT_ERROR)
    high = Fraction(2 * (value + 2 * slack) / total) * (1 + FLOAT_ERROR)
    return max(low, Fraction(0)), min(high, Fraction(1))


def _float_up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
