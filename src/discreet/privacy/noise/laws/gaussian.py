"""The discrete Gaussian law [Canonne, Kamath & Steinke 2020]."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.event import Gaussian
from discreet.base.numbers import Number
from discreet.privacy.noise.additive import DrawShape, discrete_gaussian_squared
from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.laws.law import BITS, DEEPEST, LEAST, REACH, NoiseLaw, positive
from discreet.privacy.noise.rng import Rng
from discreet.privacy.noise.tails import GaussianTail

SUMMED = 300  # the greatest sigma whose law is added up term by term
NARROW = 10_000  # the greatest sigma whose mean size is added up term by term
FLOAT_ERROR = Fraction(1, 10**12)  # relative; erfc, exp and sqrt are good to 1e-15


@dataclass(frozen=True, slots=True)
class GaussianLaw(NoiseLaw):
    """P(x) proportional to exp(-x^2 / (2 sigma_squared)) on the integers.

    >>> law = GaussianLaw.of(100)
    >>> law.half_width(0.95), law.joint_half_width(10_000, 0.95)
    (20, 46)
    """

    name: ClassVar[str] = "gaussian"
    concentrated: ClassVar[bool] = True
    heavy: ClassVar[bool] = False
    width95: ClassVar[float] = 1.959964
    sigma_squared: Fraction

    @classmethod
    def of(cls, sigma_squared: Number) -> Self:
        """Return the law with the squared sigma exactly as written."""
        return cls(positive(sigma_squared, "sigma_squared"))

    @property
    def size(self) -> Fraction:
        """Return the squared sigma."""
        return self.sigma_squared

    @property
    def scale_shown(self) -> float:
        """Return sigma."""
        return math.sqrt(float(self.sigma_squared))

    @property
    def words(self) -> str:
        """Return the law in words."""
        return f"discrete Gaussian noise of standard deviation {self.scale_shown:.6g}"

    @property
    def variance(self) -> float:
        """Return the variance, a little below sigma_squared, to floating-point accuracy."""
        square = float(self.sigma_squared)
        if square > 4:  # the difference is below 8 pi^2 sigma^4 exp(-2 pi^2 sigma^2) < 1e-31
            return square
        terms = [(k * k, math.exp(-k * k / (2 * square))) for k in range(1, 60)]
        found = 2 * sum(k2 * w for k2, w in terms) / (1 + 2 * sum(w for _, w in terms))
        return max(found, LEAST)

    @property
    def error95(self) -> float:
        """Return 1.96 standard deviations."""
        return 1.96 * math.sqrt(float(self.variance))

    @property
    def mean_size(self) -> float:
        """Return the mean of |X|, never below the truth."""
        sigma = self.scale_shown
        if sigma > NARROW:
            return sigma * math.sqrt(2 / math.pi)  # the continuous law's, which is the larger one
        points = np.arange(1, int(12 * sigma) + 12)
        weights = np.exp(-(points**2) / (2 * sigma**2))
        return max(float(2 * (points * weights).sum() / (1 + 2 * weights.sum())), LEAST)

    @property
    def one_sided(self) -> GaussianTail:
        """Return P(X >= m), with certified bounds."""
        return GaussianTail(self.sigma_squared)

    def draw(self, shape: DrawShape, rng: Rng) -> Integers:
        """Return independent noise, exactly of this law."""
        return discrete_gaussian_squared(self.sigma_squared, shape, rng=rng)

    def event(
        self,
        *,
        l1: Callable[[], Fraction | int],  # noqa: ARG002  # another law asks for it
        l2_squared: Callable[[], Fraction | int],
        coordinates: int | None = None,
    ) -> Gaussian:
        """Return the event of a vector whose squared L2 move is at most `l2_squared`."""
        return Gaussian(self.sigma_squared, Fraction(l2_squared()), coordinates)

    def chi_square(self, noise: Floats, variance: float) -> tuple[float, int]:
        """Return the squares over the variance: one degree a draw."""
        return float((noise**2).sum()) / variance, noise.size

    def upper(self, k: Floats) -> Floats:
        """Return P(X >= k) for whole numbers k >= 1, to about 1e-12."""
        square = float(self.sigma_squared)
        sigma = math.sqrt(square)
        if sigma <= SUMMED:
            length = math.ceil(REACH * sigma) + 2
            weights = np.exp(-(np.arange(length) ** 2) / (2 * square))
            sums = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
            chosen: Floats = sums[np.minimum(k, length).astype(np.int64)] / (2 * sums[0] - 1)
            return chosen
        distance = np.minimum(k / sigma, REACH)
        erfc = np.array([math.erfc(d) for d in (distance / math.sqrt(2)).tolist()])
        ends = np.exp(-distance * distance / 2) * (0.5 + distance / (12 * sigma))
        total: Floats = erfc / 2 + ends / (sigma * math.sqrt(2 * math.pi))
        return total

    def tail_bounds(self, m: int, bits: int = BITS) -> tuple[Fraction, Fraction]:
        """Return fractions low <= P(|X| >= m) <= high."""
        if m > 0 and self.sigma_squared > SUMMED**2:
            return _wide_gaussian_tail(m, self.sigma_squared)
        return NoiseLaw.tail_bounds(self, m, bits)


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
