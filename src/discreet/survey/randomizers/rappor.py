"""RAPPOR: one bit an option, turned over once and for ever, and each report blurs those bits anew.

For open questions the permanent bits are a count mean sketch's report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.privacy.noise.rng import Rng
from discreet.survey.randomizers.base import (
    WORD,
    AnswerDomain,
    AnswerSpace,
    Draws,
    Mechanism,
    Reports,
    check_epsilon,
    checked,
    checked_code,
    checked_codes,
    coins,
    lying_parts,
)
from discreet.survey.randomizers.bits import BitReports, packed, packed_coins, random_bits
from discreet.survey.randomizers.count_mean import CountMeanSketch

MOST_CODES = 1 << 16
QUIET, LOUD = WORD // 4, 3 * (WORD // 4)
"""How often a report sets a bit that is not set for ever, and one that is, in parts of 2^32."""
_ROWS = 1 << 14  # reports that are blurred at one time


@dataclass(frozen=True, slots=True)
class InstantaneousResponse:
    """The instantaneous step: a set bit is told with probability loud / 2^32, any other with quiet / 2^32.

    Guarantee: it never sees the answer, only bits that are randomised already; so any number of reports
        made from the same bits tells no more than those bits. [Erlingsson, Pihur & Korolova 2014]
    """

    quiet: int = QUIET
    loud: int = LOUD

    def told(self, one: Fraction) -> Fraction:
        """Return how likely a report's bit is set, where the bit below it is with probability `one`."""
        return one * Fraction(self.loud, WORD) + (1 - one) * Fraction(self.quiet, WORD)

    def bits(self, kept: Sequence[bool], draws: Draws) -> bytes:
        """Return the bits of one report: a coin each, in order."""
        return packed([draws.coin(self.loud if bit else self.quiet) for bit in kept])

    def many(self, kept: Reports, width: int, rng: Rng) -> Reports:
        """Return one report for each row of packed bits, by the same law."""
        told = np.empty_like(kept)
        length, words = kept.shape[1], -(-width // 64)
        for start in range(0, len(kept), _ROWS):
            rows = kept[start : start + _ROWS]
            loud, quiet = (
                packed_coins(parts, len(rows) * words, rng)
                .view(np.uint8)
                .reshape(len(rows), words * 8)[:, :length]
                for parts in (self.loud, self.quiet)
            )
            told[start : start + _ROWS] = (rows & loud) | (~rows & quiet)
        told[:, -1] &= 0xFF << (-width % 8) & 0xFF
        return told


BLUR = InstantaneousResponse()


@dataclass(frozen=True, slots=True)
class Rappor(BitReports):
    """Permanent step: the answer's bit set, all others not, each turned over with probability lie / 2^32, once
    for this answer of this device. Instantaneous step: every report tells those bits through `InstantaneousResponse`.

    Guarantee: the permanent bits of two answers differ in the laws of two bits, so their ratio is at most
        ((1 - q) / q)^2, at most e^epsilon; all reports ever made from them tell no more. One report alone
        tells less: `once_ratio`. [Erlingsson, Pihur & Korolova 2014; docs/notes/0061-rappor.md]
    """

    codes: int
    lie: int
    blur: InstantaneousResponse = BLUR
    name: ClassVar[str] = "rappor"
    hash_variance: ClassVar[float] = 0.0

    @classmethod
    def of(cls, codes: int, epsilon: Fraction) -> Rappor:
        """Return RAPPOR over `codes` codes whose reports together keep `epsilon`."""
        if not 2 <= codes <= MOST_CODES:
            raise InvalidInput("RAPPOR needs between 2 and 65,536 options.")
        return checked(cls(codes, lying_parts(check_epsilon(epsilon) / 2)), epsilon)

    @property
    def own(self) -> Fraction:
        """Return how likely a report sets the bit of the answer."""
        return self.blur.told(1 - Fraction(self.lie, WORD))

    @property
    def other(self) -> Fraction:
        """Return how likely a report sets any other bit."""
        return self.blur.told(Fraction(self.lie, WORD))

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of all that a device ever reports."""
        return Fraction(WORD - self.lie, self.lie) ** 2

    @property
    def once_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one single report."""
        return odds(self.own) / odds(self.other)

    def encode(self, value: int, draws: Draws) -> bytes:
        """Return a report of one code: a coin a bit for ever, then a coin a bit for this report."""
        value = checked_code(value, self.codes)
        kept = [(code == value) != draws.coin(self.lie) for code in range(self.codes)]
        return self.blur.bits(kept, draws)

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return one report of a fresh device for each code, by the same law."""
        return self.blur.many(self.keep_many(values, rng), self.codes, rng)

    def keep_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return the permanent bits of a fresh device for each code: what endless reports would show."""
        codes = checked_codes(values, self.codes)
        own = ~coins(self.lie, codes.size, rng)
        return random_bits(self.lie, codes, own, self.codes, rng)


def odds(share: Fraction) -> Fraction:
    """Return how much likelier a bit is set than not."""
    return share / (1 - share)


RAPPOR = Mechanism(
    "rappor",
    AnswerDomain.OPTIONS,
    lambda space, epsilon: Rappor.of(space.codes, epsilon),
    audited=AnswerSpace(codes=5),
    kept=True,
)


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


RAPPOR_SKETCH = Mechanism(
    "rappor-sketch",
    AnswerDomain.WORDS,
    lambda space, epsilon: RapporSketch.of(epsilon, rows=space.rows, buckets=space.buckets),
    audited=AnswerSpace(rows=4, buckets=8),
    kept=True,
)
