"""Hadamard count mean sketch: one bit of the transformed row, turned over by a coin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Integers
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
    coins,
    lying_parts,
    smallest_type,
)
from discreet.survey.randomizers.count_mean import (
    bucket,
    buckets_of,
    check_size,
    own_buckets,
    sums_over_rows,
    words_of,
)


@dataclass(frozen=True, slots=True)
class HadamardSketch(NumberReports):
    """A report is a row, a column and one bit: the sign of the Hadamard matrix at (column, the word's bucket),
    turned over with probability lie / 2^32. Number: (row * buckets + column) * 2 + bit.

    Guarantee: row and column do not depend on the word; the bit is Warner's response at epsilon.
        [Apple 2017; docs/notes/0042-survey.md]
    """

    rows: int
    buckets: int
    lie: int
    name: ClassVar[str] = "hadamard-sketch"

    @classmethod
    def of(cls, epsilon: Fraction, *, rows: int = 1024, buckets: int = 1024) -> HadamardSketch:
        """Return the sketch of this size at `epsilon`."""
        check_size(rows, buckets)
        return checked(cls(rows, buckets, lying_parts(check_epsilon(epsilon))), epsilon)

    @property
    def shape(self) -> ReportShape:
        """Return that a report is one number."""
        return ReportShape(cells=2 * self.rows * self.buckets)

    @property
    def own(self) -> Fraction:
        """Return how likely the bit is the sign of the own word."""
        return 1 - Fraction(self.lie, WORD)

    @property
    def other(self) -> Fraction:
        """Return how likely it is the sign of another word, over all public hashes."""
        same = Fraction(1, self.buckets)
        return same * self.own + (1 - same) / 2

    @property
    def hash_variance(self) -> float:
        """Return the greatest variance of a share that collisions under the fixed hashes add."""
        return 1 / (self.rows * (self.buckets - 1))

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return self.own / (1 - self.own)

    def encode(self, value: str | bytes, draws: Draws) -> int:
        """Return the report of one word: the row, the column, a coin."""
        (word,) = words_of([value])
        row, column = draws.below(self.rows), draws.below(self.buckets)
        own = bucket(word, row, self.buckets)
        positive = (column & own).bit_count() % 2 == 0
        bit = positive != draws.coin(self.lie)
        return (row * self.buckets + column) * 2 + bit

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each word, by the same law."""
        words = words_of(values)
        rows = uniform(self.rows, len(words), rng=rng)
        columns = uniform(self.buckets, len(words), rng=rng)
        own = own_buckets(words, rows, (self.rows, self.buckets))
        bits = _positive(columns, own) ^ coins(self.lie, len(words), rng)
        cells = (rows * self.buckets + columns) * 2 + bits
        return np.asarray(cells, dtype=smallest_type(self.shape.cells))

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports carry the sign of each word."""
        signs = tally.reshape(self.rows, self.buckets, 2)
        # sum over columns of (ones - zeros) * sign: (agreeing - disagreeing) reports of a bucket.
        excess = _walsh_hadamard(signs[:, :, 1] - signs[:, :, 0])
        return np.asarray(
            (sums_over_rows(excess, words_of(values), self.buckets) + tally.sum()) / 2
        )

    def supports(self, reports: Reports, values: Sequence[Any]) -> Bits:
        """Return which reports carry the sign of which words."""
        cells, bits = np.divmod(np.asarray(reports, dtype=np.int64), 2)
        rows, columns = np.divmod(cells, self.buckets)
        places = buckets_of(words_of(values), self.rows, self.buckets)
        return np.asarray(_positive(columns[:, None], places[:, rows].T) == bits[:, None])


def _positive(columns: Integers, places: Integers) -> Any:
    """Return where the Hadamard matrix is +1: an even number of common binary digits."""
    return np.bitwise_count(columns & places) % 2 == 0


def _walsh_hadamard(rows: Integers) -> Integers:
    """Return the Walsh-Hadamard transform of each row."""
    found, width = rows.copy(), rows.shape[1]
    half = 1
    while half < width:
        shaped = found.reshape(len(rows), -1, 2, half)
        upper, lower = shaped[:, :, 0, :].copy(), shaped[:, :, 1, :].copy()
        shaped[:, :, 0, :], shaped[:, :, 1, :] = upper + lower, upper - lower
        half *= 2
    return found


MECHANISM = Mechanism(
    "hadamard-sketch",
    AnswerDomain.WORDS,
    lambda space, epsilon: HadamardSketch.of(epsilon, rows=space.rows, buckets=space.buckets),
    audited=AnswerSpace(rows=4, buckets=8),
)
