"""Hybrid response: piecewise or Duchi's, chosen by a coin that does not look at the number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.noise.rng import Rng
from discreet.survey.randomizers.base import NumberReports, Reports, ReportShape, Shares
from discreet.survey.randomizers.device_coins import WORD, Draws
from discreet.survey.randomizers.dyadic import coins
from discreet.survey.randomizers.mechanism import AnswerDomain, AnswerSpace, Mechanism
from discreet.survey.randomizers.numbers.duchi import DuchiResponse
from discreet.survey.randomizers.numbers.lattice import NumberRange
from discreet.survey.randomizers.numbers.piecewise import PiecewiseResponse


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


MECHANISM = Mechanism(
    "hybrid",
    AnswerDomain.NUMBERS,
    lambda space, epsilon: HybridResponse.of(space.span, epsilon),
    audited=AnswerSpace(),
)
