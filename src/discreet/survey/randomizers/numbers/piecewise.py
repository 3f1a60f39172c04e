"""Piecewise response on a lattice: a number near the true one more often than any other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Integers
from discreet.noise.coins import uniform
from discreet.noise.rng import Rng
from discreet.survey.randomizers.base import NumberReports, Reports, ReportShape, Shares
from discreet.survey.randomizers.device_coins import WORD, Draws
from discreet.survey.randomizers.dyadic import check_epsilon, checked, coins, truthful_parts
from discreet.survey.randomizers.mechanism import AnswerDomain, AnswerSpace, Mechanism
from discreet.survey.randomizers.numbers.lattice import STEPS, NumberRange


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


MECHANISM = Mechanism(
    "piecewise",
    AnswerDomain.NUMBERS,
    lambda space, epsilon: PiecewiseResponse.of(space.span, epsilon),
    audited=AnswerSpace(),
)
