"""What every law of additive noise can say of itself: draw, event, tails, error bars, text.

A new law is one file beside this one and a line in `LAWS`; what it costs is said by the event that it
tells the accountant. Who chooses, prints or publishes noise asks the law, and names none. Tails are certified fractions, except for a Gaussian of sigma above 300: there they
come from floating point with a stated error (Euler-Maclaurin, note 0003), outwards. These numbers
describe noise; none of them takes part in drawing it.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.event import PrivacyEvent
from discreet.base.numbers import Number, least_whole, plain, to_fraction
from discreet.errors import InvalidInput
from discreet.privacy.noise.additive import DrawShape
from discreet.privacy.noise.rng import Rng
from discreet.privacy.noise.tails import Tail

BITS = 128
DEEPEST = 1024  # bits after which a comparison is settled on the safe side
LEAST = sys.float_info.min
"""What variance and mean size never go below, although narrower laws exist: others divide by them."""
REACH = 40  # standard deviations on each side; beyond lies less than 1e-20


class NoiseLaw(ABC):
    """A symmetric law on the integers: the law of one answer's noise."""

    __slots__ = ()

    name: ClassVar[str]
    """How the law is called wherever it is written down."""
    concentrated: ClassVar[bool]
    """How its price is counted: in rho, l2_squared / (2 size), or else in epsilon, l1 / size."""
    heavy: ClassVar[bool]
    """Whether its tail falls like exp(-x), and not like exp(-x^2)."""
    width95: ClassVar[float]
    """Half the width of a 95% interval in standard deviations, where one draw may be most of the noise."""

    if TYPE_CHECKING:

        def __init__(self, size: Fraction) -> None: ...

    @classmethod
    def costing(cls, amount: Fraction, moved: Fraction | int) -> Self:
        """Return the law that costs `amount` (rho or epsilon) on what moves so far (squared L2 or L1)."""
        return cls(Fraction(moved) / (2 * amount if cls.concentrated else amount))

    @property
    @abstractmethod
    def size(self) -> Fraction:
        """Return its one parameter, exactly: a scale, or a squared sigma."""

    @property
    @abstractmethod
    def scale_shown(self) -> float:
        """Return the number that people call its scale: b, or sigma."""

    @property
    @abstractmethod
    def words(self) -> str:
        """Return the law in words."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Return the variance, to floating-point accuracy; at least `LEAST`."""

    @property
    @abstractmethod
    def error95(self) -> float:
        """Return about what 95% of draws stay within, never 0: by it one law is chosen over another."""

    @property
    @abstractmethod
    def mean_size(self) -> float:
        """Return the mean of |X|, never below the truth."""

    @property
    @abstractmethod
    def one_sided(self) -> Tail:
        """Return P(X >= m), with certified bounds."""

    @abstractmethod
    def draw(self, shape: DrawShape, rng: Rng) -> Integers:
        """Return independent noise, exactly of this law."""

    @abstractmethod
    def event(
        self,
        *,
        l1: Callable[[], Fraction | int],
        l2_squared: Callable[[], Fraction | int],
        coordinates: int | None = None,
    ) -> PrivacyEvent:
        """Return what to tell the accountant of a vector that moves by so much between neighbours."""

    @abstractmethod
    def upper(self, k: Floats) -> Floats:
        """Return P(X >= k) for whole numbers k >= 1, to about 1e-12."""

    @abstractmethod
    def chi_square(self, noise: Floats, variance: float) -> tuple[float, int]:
        """Return about a chi-square of draws of this law with another variance, and its degrees of freedom."""

    def survival(self, k: Floats) -> Floats:
        """Return P(X >= k) for whole numbers k, to about 1e-12."""
        upper = self.upper(np.where(k >= 1, k, 1 - k))
        return np.where(k >= 1, upper, 1 - upper)

    def tail_bounds(self, m: int, bits: int = BITS) -> tuple[Fraction, Fraction]:
        """Return fractions low <= P(|X| >= m) <= high."""
        if m <= 0:
            return Fraction(1), Fraction(1)
        low, high = self.one_sided.bounds(m, bits)
        return 2 * low, min(2 * high, Fraction(1))

    def to_json(self) -> list[str]:
        """Return the law as two texts: its name and its size."""
        return [self.name, str(self.size)]

    def half_width(self, confidence: Number) -> int:
        """Return the least m with P(|X| <= m) >= confidence: the shortest symmetric interval."""
        return _least(self, 1 - to_confidence(confidence))

    def joint_half_width(self, count: int, confidence: Number) -> int:
        """Return the least m with count * P(|X| > m) <= 1 - confidence.

        Guarantee: all of `count` answers are within m with at least this confidence, whether or not
            their noises are independent (union bound).
        """
        if count < 1:
            raise InvalidInput(f"count must be at least 1, not {count}.")
        return _least(self, (1 - to_confidence(confidence)) / count)


def to_confidence(written: Number) -> Fraction:
    """Return the confidence exactly as written, or refuse it with a sentence."""
    value = to_fraction(written, name="confidence")
    if not 0 < value < 1:
        raise InvalidInput(
            f"confidence must lie between 0 and 1, not {plain(value)}.", hint="Usual: 0.95."
        )
    return value


@lru_cache(maxsize=1024)
def _least(law: NoiseLaw, failure: Fraction) -> int:
    """Return the least m with P(|X| > m) <= failure; the same for every group of an answer."""
    upper = 1
    while not _within(law, upper, failure):
        upper *= 2
    return least_whole(0, upper, lambda m: _within(law, m, failure))


def _within(law: NoiseLaw, m: int, failure: Fraction) -> bool:
    bits = BITS
    while True:
        low, high = law.tail_bounds(m + 1, bits)
        if high <= failure:
            return True
        if low > failure or bits >= DEEPEST:
            return False
        bits *= 2


def positive(written: Number, name: str) -> Fraction:
    """Return a parameter exactly as written, or refuse it with a sentence."""
    value = to_fraction(written, name=name)
    if value <= 0:
        raise InvalidInput(f"{name} must be greater than 0, not {plain(value)}.")
    return value
