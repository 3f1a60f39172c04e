"""RAPPOR for open questions: the permanent bits are a count mean sketch's report, and each report blurs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.noise.rng import Rng
from discreet.survey.randomizers.base import Reports
from discreet.survey.randomizers.device_coins import WORD, Draws
from discreet.survey.randomizers.mechanism import AnswerDomain, AnswerSpace, Mechanism
from discreet.survey.randomizers.rappor import BLUR, InstantaneousResponse, odds
from discreet.survey.sketch.count_mean import CountMeanSketch


@dataclass(frozen=True, slots=True)
class RapporSketch(CountMeanSketch):
    """A row is drawn (RAPPOR's cohort) and the word's bucket in it set, all other bits not, each turned over
    once for this word of this device; every report is the row and those bits through `InstantaneousResponse`.

    Guarantee: that of the count mean sketch for all reports together; the blur sees nothing else.
        [Erlingsson, Pihur & Korolova 2014; docs/notes/0061-rappor.md]
    """

    blur: InstantaneousResponse = BLUR
    name: ClassVar[str] = "rappor-sketch"

    def told(self, one: Fraction) -> Fraction:
        """Return how likely a report sets a bit that is kept with probability `one`."""
        return self.blur.told(one)

    @property
    def once_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one single report."""
        return odds(self.own) / odds(self.told(Fraction(self.lie, WORD)))

    def encode(self, value: str, draws: Draws) -> bytes:
        """Return a report of one word: row and bits for ever, then a coin a bit for this report."""
        kept = CountMeanSketch.encode(self, value, draws)
        bits = np.unpackbits(np.frombuffer(kept[2:], dtype=np.uint8), count=self.buckets)
        return kept[:2] + self.blur.bits(bits.astype(np.bool_).tolist(), draws)

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return one report of a fresh device for each word, by the same law."""
        kept = self.keep_many(values, rng)
        told = self.blur.many(np.ascontiguousarray(kept[:, 2:]), self.buckets, rng)
        return np.concatenate([kept[:, :2], told], axis=1)

    def keep_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return the permanent bits of a fresh device for each word: what endless reports would show."""
        return CountMeanSketch.encode_many(self, values, rng)


MECHANISM = Mechanism(
    "rappor-sketch",
    AnswerDomain.WORDS,
    lambda space, epsilon: RapporSketch.of(epsilon, rows=space.rows, buckets=space.buckets),
    audited=AnswerSpace(rows=4, buckets=8),
    kept=True,
)
