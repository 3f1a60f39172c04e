"""The discrete Laplace law, two-sided geometric."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.event import Laplace
from discreet.base.numbers import Number, plain
from discreet.privacy.noise.additive import DrawShape, discrete_laplace
from discreet.privacy.noise.laws.law import LEAST, NoiseLaw, positive
from discreet.privacy.noise.rng import Rng
from discreet.privacy.noise.tails import LaplaceTail


@dataclass(frozen=True, slots=True)
class LaplaceLaw(NoiseLaw):
    """P(x) proportional to exp(-|x| / scale) on the integers.

    >>> law = LaplaceLaw.of(1)
    >>> law.half_width(0.95), law.joint_half_width(10_000, 0.95)
    (3, 12)
    """

    name: ClassVar[str] = "laplace"
    concentrated: ClassVar[bool] = False
    heavy: ClassVar[bool] = True
    width95: ClassVar[float] = 2.12
    scale: Fraction

    @classmethod
    def of(cls, scale: Number) -> Self:
        """Return the law with the scale exactly as written."""
        return cls(positive(scale, "scale"))

    @property
    def size(self) -> Fraction:
        """Return the scale."""
        return self.scale

    @property
    def scale_shown(self) -> float:
        """Return the scale."""
        return float(self.scale)

    @property
    def words(self) -> str:
        """Return the law in words."""
        return f"discrete Laplace noise of scale {plain(self.scale, significant=6)}"

    @property
    def variance(self) -> float:
        """Return the variance 2t / (1-t)^2 with t = exp(-1/scale), to floating-point accuracy."""
        rate = float(1 / self.scale)
        return max(2 * math.exp(-rate) / math.expm1(-rate) ** 2, LEAST)

    @property
    def error95(self) -> float:
        """Return ln 20 scales."""
        return 2.9957 * math.sqrt(float(self.variance) / 2)

    @property
    def mean_size(self) -> float:
        """Return the mean of |X|.

        >>> round(LaplaceLaw.of(1).mean_size, 4)
        0.8509
        """
        rate = float(1 / self.scale)
        return max(2 * math.exp(-rate) / -math.expm1(-2 * rate), LEAST)

    @property
    def one_sided(self) -> LaplaceTail:
        """Return P(X >= m), with certified bounds."""
        return LaplaceTail(self.scale)

    def draw(self, shape: DrawShape, rng: Rng) -> Integers:
        """Return independent noise, exactly of this law."""
        return discrete_laplace(self.scale, shape, rng=rng)

    def event(
        self,
        *,
        l1: Callable[[], Fraction | int],
        l2_squared: Callable[[], Fraction | int],  # noqa: ARG002  # another law asks for it
        coordinates: int | None = None,  # noqa: ARG002
    ) -> Laplace:
        """Return the event of a vector that moves by at most `l1` in L1."""
        return Laplace(self.scale, Fraction(l1()))

    def chi_square(self, noise: Floats, variance: float) -> tuple[float, int]:
        """Return the sizes, doubled, over the scale: two degrees a draw."""
        return 2 * float(np.abs(noise).sum()) / math.sqrt(variance / 2), 2 * noise.size

    def upper(self, k: Floats) -> Floats:
        """Return P(X >= k) for whole numbers k >= 1, to about 1e-12."""
        rate = float(1 / self.scale)
        found: Floats = np.exp(-k * rate) / (1 + math.exp(-rate))
        return found
