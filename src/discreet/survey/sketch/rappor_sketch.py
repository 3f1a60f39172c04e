"""RAPPOR for open questions: the permanent bits are a count mean sketch's report, and each report blurs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.noise.rng import Rng
from discreet.survey.randomizers.base import Reports, ReportShape, Shares, Tally
from discreet.survey.randomizers.rappor import BLUR, Blur, odds
from discreet.survey.randomizers.stream import Draws
from discreet.survey.sketch.count_mean import CountMeanSketch


@dataclass(frozen=True, slots=True)
class RapporSketch:
    """A row is drawn (RAPPOR's cohort) and the word's bucket in it set, all other bits not, each turned over
    once for this word of this device; every report is the row and those bits through `Blur`.

    Guarantee: that of the count mean sketch for all reports together; the blur sees nothing else.
        [Erlingsson, Pihur & Korolova 2014; docs/notes/0061-rappor.md]
    """

    kept: CountMeanSketch
    blur: Blur = BLUR
    name: ClassVar[str] = "rappor-sketch"

    @classmethod
    def of(cls, epsilon: Fraction, *, rows: int = 1024, buckets: int = 1024) -> RapporSketch:
        """Return the sketch of this size whose reports together keep `epsilon`."""
        return cls(CountMeanSketch.of(epsilon, rows=rows, buckets=buckets))

    @property
    def shape(self) -> ReportShape:
        """Return that a report is two bytes of row, then the bits."""
        return self.kept.shape

    @property
    def own(self) -> Fraction:
        """Return how likely a report sets the bit of the own word."""
        return self.blur.told(self.kept.own)

    @property
    def other(self) -> Fraction:
        """Return how likely a report sets the bit of another word, over all public hashes."""
        return self.blur.told(self.kept.other)

    @property
    def hash_variance(self) -> float:
        """Return the greatest variance of a share that collisions under the fixed hashes add."""
        return self.kept.hash_variance

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of all that a device ever reports."""
        return self.kept.worst_ratio

    @property
    def once_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one single report."""
        return odds(self.own) / odds(self.blur.told(1 - self.kept.own))

    def encode(self, value: str, draws: Draws) -> bytes:
        """Return a report of one word: row and bits for ever, then a coin a bit for this report."""
        kept = self.kept.encode(value, draws)
        bits = np.unpackbits(np.frombuffer(kept[2:], dtype=np.uint8), count=self.kept.buckets)
        return kept[:2] + self.blur.bits(bits.astype(np.bool_).tolist(), draws)

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return one report of a fresh device for each word, by the same law."""
        kept = self.keep_many(values, rng)
        told = self.blur.many(np.ascontiguousarray(kept[:, 2:]), self.kept.buckets, rng)
        return np.concatenate([kept[:, :2], told], axis=1)

    def keep_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return the permanent bits of a fresh device for each word: what endless reports would show."""
        return self.kept.encode_many(values, rng)

    def tally(self, reports: Reports) -> Tally:
        """Return how often each bit of each row was set, and how many reports each row has."""
        return self.kept.tally(reports)

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports set the bit of each word in their row."""
        return self.kept.supporters(tally, values)

    def supports(self, reports: Reports, values: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Return which reports set the bit of which words."""
        return self.kept.supports(reports, values)
