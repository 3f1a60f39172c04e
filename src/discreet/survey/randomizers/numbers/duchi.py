"""Duchi's response: one bit whose chance of being set grows with the number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Integers
from discreet.noise.rng import Rng
from discreet.survey.randomizers.base import NumberReports, Reports, ReportShape, Shares
from discreet.survey.randomizers.device_coins import WORD, Draws
from discreet.survey.randomizers.dyadic import check_epsilon, checked, lying_parts, words32
from discreet.survey.randomizers.mechanism import AnswerDomain, AnswerSpace, Mechanism
from discreet.survey.randomizers.numbers.lattice import STEPS, NumberRange


@dataclass(frozen=True, slots=True)
class DuchiResponse(NumberReports):
    """At position i the bit is set with probability (base + i * rise) / 2^32: exactly linear.

    Guarantee: the chance lies between base / 2^32 and 1 - base / 2^32, whose ratio is at most
        e^epsilon. [Duchi, Jordan & Wainwright 2018; docs/notes/0042-survey.md]
    """

    span: NumberRange
    base: int
    rise: int
    name: ClassVar[str] = "duchi"

    @classmethod
    def of(cls, span: NumberRange, epsilon: Fraction) -> DuchiResponse:
        """Return Duchi's response for numbers in `span` at `epsilon`."""
        rise = (WORD - 2 * lying_parts(check_epsilon(epsilon))) // STEPS
        return checked(cls(span, (WORD - STEPS * rise) // 2, rise), epsilon)

    @property
    def shape(self) -> ReportShape:
        """Return that a report is one bit."""
        return ReportShape(cells=2)

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return Fraction(WORD - self.base, self.base)

    def encode(self, value: float, draws: Draws) -> int:
        """Return the report of one number: its position, then a coin."""
        position = self.span.position(value, draws)
        return int(draws.coin(self.base + position * self.rise))

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each number, by the same law."""
        return self.bits(self.span.positions(values, rng), rng)

    def bits(self, positions: Integers, rng: Rng) -> Reports:
        """Return the coin of each position."""
        return (words32(positions.size, rng) < self.base + positions * self.rise).astype(np.uint8)

    def unbiased(self) -> Shares:
        """Return, for each report, the number whose expectation is the value (as 0 .. 1)."""
        slope = self.rise * STEPS / WORD
        return (np.array([0.0, 1.0]) - self.base / WORD) / slope

    def variances(self) -> Shares:
        """Return the variance of that number for values at each position of the lattice."""
        one = (self.base + np.arange(STEPS + 1) * self.rise) / WORD
        slope = self.rise * STEPS / WORD
        return np.asarray(one * (1 - one) / slope**2)


MECHANISM = Mechanism(
    "duchi",
    AnswerDomain.NUMBERS,
    lambda space, epsilon: DuchiResponse.of(space.span, epsilon),
    audited=AnswerSpace(),
)
