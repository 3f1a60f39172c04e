"""k-ary (generalized) randomized response, GRR: the true code, or one of the others; Warner's for two codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits
from discreet.errors import InvalidInput
from discreet.privacy.noise.coins import uniform
from discreet.privacy.noise.rng import Rng
from discreet.survey.randomizers.base import (
    WORD,
    AnswerDomain,
    AnswerSpace,
    Draws,
    Mechanism,
    NumberReports,
    Reports,
    ReportShape,
    Shares,
    Tally,
    check_epsilon,
    checked,
    checked_code,
    checked_codes,
    coins,
    smallest_type,
    truthful_parts,
)

MOST_CODES = 1 << 20


@dataclass(frozen=True, slots=True)
class KaryResponse(NumberReports):
    """The code is kept with probability keep / 2^32, else any one of the other codes is told.

    Guarantee: `keep` (k - 1) / (2^32 - keep) is the greatest ratio of any report's probabilities and is
        at most e^epsilon. [Warner 1965; Kairouz, Bonawitz & Ramage 2016; docs/notes/0042-survey.md]
    """

    codes: int
    keep: int
    name: str = "k-ary"
    hash_variance: ClassVar[float] = 0.0

    @classmethod
    def of(cls, codes: int, epsilon: Fraction, *, name: str = "k-ary") -> KaryResponse:
        """Return randomized response over `codes` codes at `epsilon`."""
        if not 2 <= codes <= MOST_CODES:
            raise InvalidInput("Randomized response needs between 2 and 1,048,576 options.")
        keep = truthful_parts(check_epsilon(epsilon), Fraction(codes - 1))
        return checked(cls(codes, keep, name), epsilon)

    @property
    def shape(self) -> ReportShape:
        """Return that a report is one of the codes."""
        return ReportShape(cells=self.codes)

    @property
    def own(self) -> Fraction:
        """Return how likely the true code is told."""
        return Fraction(self.keep, WORD)

    @property
    def other(self) -> Fraction:
        """Return how likely one given other code is told."""
        return (1 - self.own) / (self.codes - 1)

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return self.own / self.other

    def encode(self, value: int, draws: Draws) -> int:
        """Return the report of one code: a coin, then a lie, whether it is needed or not."""
        value = checked_code(value, self.codes)
        keep = draws.coin(self.keep)
        lie = draws.below(self.codes - 1)
        return value if keep else lie + (lie >= value)

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each code, by the same law."""
        codes = checked_codes(values, self.codes)
        kept = coins(self.keep, codes.size, rng)
        lies = uniform(self.codes - 1, codes.size, rng=rng)
        lies += lies >= codes
        return np.where(kept, codes, lies).astype(smallest_type(self.codes))

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports tell each code."""
        return tally[np.asarray(values, dtype=np.int64)].astype(np.float64)

    def supports(self, reports: Reports, values: Sequence[Any]) -> Bits:
        """Return which reports tell which codes."""
        told: Bits = np.asarray(reports)[:, None] == np.asarray(values)[None, :]
        return told


WARNER = Mechanism(
    "warner",
    AnswerDomain.TWO,
    lambda space, epsilon: KaryResponse.of(space.codes, epsilon, name="warner"),
    audited=AnswerSpace(codes=2),
)
MECHANISM = Mechanism(
    "k-ary",
    AnswerDomain.OPTIONS,
    lambda space, epsilon: KaryResponse.of(space.codes, epsilon),
    audited=AnswerSpace(codes=4),
)
