"""Randomizers of bounded numbers: Duchi's one bit, piecewise constant, and hybrid.

Duchi's response is one bit whose chance of being set grows with the number. Piecewise response names a number near
the true one more often than any other. Hybrid response is one of the two, chosen by a coin that does not look at
the number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Integers
from discreet.privacy.noise.coins import uniform
from discreet.privacy.noise.rng import Rng
from discreet.survey.randomizers.base import (
    STEPS,
    WORD,
    AnswerDomain,
    AnswerSpace,
    Draws,
    Mechanism,
    NumberRange,
    NumberReports,
    Reports,
    ReportShape,
    Shares,
    check_epsilon,
    checked,
    coins,
    lying_parts,
    truthful_parts,
    words32,
)


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


DUCHI = Mechanism(
    "duchi",
    AnswerDomain.NUMBERS,
    lambda space, epsilon: DuchiResponse.of(space.span, epsilon),
    audited=AnswerSpace(),
)


@dataclass(frozen=True, slots=True)
class PiecewiseResponse(NumberReports):
    """Position i is reported as one of `window` outputs i .. i + window - 1, or as one of the others.

    There are STEPS + window outputs, STEPS of them outside the window, whichever the position. The
    mean of the output is exactly linear in the position.

    Guarantee: an output in the window has probability keep / window, one outside (1 - keep) / STEPS; the
        ratio is at most e^epsilon. [Wang et al. 2019; docs/notes/0042-survey.md]
    """

    span: NumberRange
    window: int
    keep: int
    name: ClassVar[str] = "piecewise"

    @classmethod
    def of(cls, span: NumberRange, epsilon: Fraction) -> PiecewiseResponse:
        """Return piecewise response for numbers in `span` at `epsilon`; the window is the best one."""
        window = max(1, round(STEPS * math.exp(-float(check_epsilon(epsilon)) / 2)))
        return checked(cls(span, window, truthful_parts(epsilon, Fraction(STEPS, window))), epsilon)

    @property
    def shape(self) -> ReportShape:
        """Return that a report is one of the outputs."""
        return ReportShape(cells=STEPS + self.window)

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return Fraction(self.keep * STEPS, (WORD - self.keep) * self.window)

    def encode(self, value: float, draws: Draws) -> int:
        """Return the report of one number: its position, then the output."""
        return self.output(self.span.position(value, draws), draws)

    def output(self, position: int, draws: Draws) -> int:
        """Return the output of a position: a coin, a place in the window, a place outside."""
        keep = draws.coin(self.keep)
        near = position + draws.below(self.window)
        far = draws.below(STEPS)
        return near if keep else far + self.window * (far >= position)

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each number, by the same law."""
        return self.outputs(self.span.positions(values, rng), rng)

    def outputs(self, positions: Integers, rng: Rng) -> Reports:
        """Return the output of each position."""
        kept = coins(self.keep, positions.size, rng)
        near = positions + uniform(self.window, positions.size, rng=rng)
        far = uniform(STEPS, positions.size, rng=rng)
        far += self.window * (far >= positions)
        return np.where(kept, near, far).astype(np.uint16)

    def unbiased(self) -> Shares:
        """Return, for each report, the number whose expectation is the value (as 0 .. 1)."""
        intercept, slope = self._line()
        return (np.arange(self.shape.cells, dtype=np.float64) - intercept) / (slope * STEPS)

    def _line(self) -> tuple[float, float]:
        """Return a and b of: the mean output of position i is a + b i."""
        keep, cells = self.keep / WORD, self.shape.cells
        # Outputs outside the window have the mean (all - window's) / STEPS.
        all_outputs = cells * (cells - 1) / 2
        middle = (self.window - 1) / 2
        slope = keep - (1 - keep) * self.window / STEPS
        return keep * middle + (1 - keep) * (all_outputs - self.window * middle) / STEPS, slope

    def variances(self) -> Shares:
        """Return the variance of that number for values at each position of the lattice."""
        keep, values = self.keep / WORD, self.unbiased()
        totals = np.concatenate([[0.0], np.cumsum(values**2)])
        inside = totals[self.window :] - totals[: -self.window]
        squares = keep * inside / self.window + (1 - keep) * (totals[-1] - inside) / STEPS
        return np.asarray(squares - (np.arange(STEPS + 1) / STEPS) ** 2)


PIECEWISE = Mechanism(
    "piecewise",
    AnswerDomain.NUMBERS,
    lambda space, epsilon: PiecewiseResponse.of(space.span, epsilon),
    audited=AnswerSpace(),
)


@dataclass(frozen=True, slots=True)
class HybridResponse(NumberReports):
    """With probability share / 2^32 a piecewise report, else Duchi's, numbered after the piecewise ones.

    Guarantee: the coin is independent of the number and each branch keeps epsilon, so the whole does.
        [Wang et al. 2019; docs/notes/0042-survey.md]
    """

    piecewise: PiecewiseResponse
    duchi: DuchiResponse
    share: int
    name: ClassVar[str] = "hybrid"

    @classmethod
    def of(cls, span: NumberRange, epsilon: Fraction) -> HybridResponse:
        """Return hybrid response for numbers in `span` at `epsilon`."""
        share = int(WORD * (1 - math.exp(-float(epsilon) / 2)))
        return cls(
            PiecewiseResponse.of(span, epsilon),
            DuchiResponse.of(span, epsilon),
            min(share, WORD - 1),
        )

    @property
    def shape(self) -> ReportShape:
        """Return that a report is a piecewise output, or after those one of Duchi's two bits."""
        return ReportShape(cells=self.piecewise.shape.cells + 2)

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return max(self.piecewise.worst_ratio, self.duchi.worst_ratio)

    def encode(self, value: float, draws: Draws) -> int:
        """Return the report of one number: a coin for the branch, the position, the branch's report."""
        near = draws.coin(self.share)
        position = self.piecewise.span.position(value, draws)
        if near:
            return self.piecewise.output(position, draws)
        bit = draws.coin(self.duchi.base + position * self.duchi.rise)
        return self.piecewise.shape.cells + bit

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each number, by the same law."""
        positions = self.piecewise.span.positions(values, rng)
        near = coins(self.share, positions.size, rng)
        bits = self.duchi.bits(positions, rng).astype(np.uint16) + self.piecewise.shape.cells
        return np.where(near, self.piecewise.outputs(positions, rng), bits).astype(np.uint16)

    def unbiased(self) -> Shares:
        """Return, for each report, the number whose expectation is the value (as 0 .. 1)."""
        return np.concatenate([self.piecewise.unbiased(), self.duchi.unbiased()])

    def variances(self) -> Shares:
        """Return the variance of that number for values at each position of the lattice."""
        share = self.share / WORD
        # Both branches have the same mean, so the variance of the mixture is the mixture of variances.
        return share * self.piecewise.variances() + (1 - share) * self.duchi.variances()


HYBRID = Mechanism(
    "hybrid",
    AnswerDomain.NUMBERS,
    lambda space, epsilon: HybridResponse.of(space.span, epsilon),
    audited=AnswerSpace(),
)
