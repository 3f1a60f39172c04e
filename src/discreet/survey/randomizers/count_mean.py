"""Count mean sketch: a random row's hash of the word as one bit among many, each turned over by a coin.

Hashes of words are public, by SHA-256: sixteen rows share a digest, two bytes each.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Integers
from discreet.errors import InvalidInput
from discreet.privacy.noise.coins import uniform
from discreet.privacy.noise.rng import Rng
from discreet.survey.randomizers.base import (
    WORD,
    AnswerDomain,
    AnswerSpace,
    Draws,
    Mechanism,
    Reports,
    ReportShape,
    Shares,
    Tally,
    check_epsilon,
    checked,
    coins,
    lying_parts,
)
from discreet.survey.randomizers.bits import grouped_sums, packed, random_bits

BLANKS = " \t\r\n"
"""What devices trim at both ends of an answer, and nothing else."""
LONGEST_WORD = 256
"""Bytes of an open answer, at the most."""
_PREFIX = b"discreet sketch\x00"
_ROWS_A_DIGEST = 16


def word_bytes(word: str) -> bytes:
    r"""Return an open answer as every device writes it: trimmed, composed (NFC), in UTF-8.

    >>> word_bytes(" cafe\u0301 ") == "caf\u00e9".encode()
    True
    """
    try:
        written = unicodedata.normalize("NFC", word.strip(BLANKS)).encode()
    except UnicodeEncodeError:
        raise InvalidInput("An open answer must be text.") from None
    if not 0 < len(written) <= LONGEST_WORD:
        raise InvalidInput(f"An open answer has between 1 and {LONGEST_WORD} bytes.")
    return written


def words_of(values: Collection[Any] | npt.NDArray[Any]) -> list[bytes]:
    """Return open answers as devices write them; bytes are written already."""
    written = {
        word: word if isinstance(word, bytes) else word_bytes(str(word)) for word in set(values)
    }
    return [written[word] for word in values]


def bucket(word: bytes, row: int, buckets: int) -> int:
    """Return the bucket of a word in one row; `buckets` is a power of two, at most 65,536.

    Bytes 2 (row mod 16) and the next of SHA-256("discreet sketch" 0 (row div 16 as 2 bytes) word),
    the most significant one first, modulo `buckets`.
    """
    digest = sha256(_PREFIX + (row // _ROWS_A_DIGEST).to_bytes(2, "big") + word).digest()
    place = 2 * (row % _ROWS_A_DIGEST)
    return int.from_bytes(digest[place : place + 2], "big") % buckets


def buckets_of(words: Sequence[bytes], rows: int, buckets: int) -> Integers:
    """Return the bucket of every word (down) in every row (across)."""
    groups = [_PREFIX + group.to_bytes(2, "big") for group in range(-(-rows // _ROWS_A_DIGEST))]
    digests = b"".join([sha256(group + word).digest() for word in words for group in groups])
    found = np.frombuffer(digests, dtype=">u2").reshape(len(words), len(groups) * _ROWS_A_DIGEST)[
        :, :rows
    ]
    return found.astype(np.int64) % buckets


def check_size(rows: int, buckets: int) -> None:
    """Refuse sketches that are no power of two, or larger than a report can name."""
    for size, most in ((rows, 1 << 14), (buckets, 1 << 14)):
        if not 2 <= size <= most or size & (size - 1):
            raise InvalidInput(
                "The rows and buckets of a sketch are powers of two, from 2 to 16,384."
            )


_CELLS = 1 << 22  # hashes of candidates that are held at one time
_TABLE = 32  # a digest serves sixteen rows, so so many buckets a report are cheaper in a table


@dataclass(frozen=True, slots=True)
class CountMeanSketch:
    """A report is a row and `buckets` bits: the word's bucket set, all others not, each bit then turned over
    with probability lie / 2^32 = 1 / (1 + e^(epsilon / 2)).

    Guarantee: the row does not depend on the word; given the row, two words differ in at most two bits, so
        the ratio is at most ((1 - q) / q)^2, at most e^epsilon. [Apple 2017; docs/notes/0042-survey.md]
    """

    rows: int
    buckets: int
    lie: int
    name: ClassVar[str] = "count-mean-sketch"

    @classmethod
    def of(cls, epsilon: Fraction, *, rows: int = 1024, buckets: int = 1024) -> Self:
        """Return the sketch of this size at `epsilon`."""
        check_size(rows, buckets)
        return checked(cls(rows, buckets, lying_parts(check_epsilon(epsilon) / 2)), epsilon)

    @property
    def shape(self) -> ReportShape:
        """Return that a report is two bytes of row, then the bits."""
        return ReportShape(
            length=2 + -(-self.buckets // 8), rows=self.rows, spare_bits=-self.buckets % 8
        )

    @property
    def own(self) -> Fraction:
        """Return how likely a report sets the bit of the own word."""
        return self.told(1 - Fraction(self.lie, WORD))

    @property
    def other(self) -> Fraction:
        """Return how likely a report sets the bit of another word, over all public hashes."""
        same = Fraction(1, self.buckets)
        return same * self.own + (1 - same) * self.told(Fraction(self.lie, WORD))

    def told(self, one: Fraction) -> Fraction:
        """Return how likely a report sets a bit that is set with probability `one` once turned over."""
        return one

    @property
    def hash_variance(self) -> float:
        """Return the greatest variance of a share that collisions under the fixed hashes add."""
        return 1 / (self.rows * (self.buckets - 1))

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of all that a device ever reports."""
        return Fraction(WORD - self.lie, self.lie) ** 2

    def encode(self, value: str, draws: Draws) -> bytes:
        """Return the report of one word: the row, then a coin a bit, in order."""
        row = draws.below(self.rows)
        own = bucket(word_bytes(value), row, self.buckets)
        bits = [(place == own) != draws.coin(self.lie) for place in range(self.buckets)]
        return row.to_bytes(2, "big") + packed(bits)

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each word, by the same law."""
        rows = uniform(self.rows, len(values), rng=rng)
        places = own_buckets(words_of(values), rows, (self.rows, self.buckets))
        told = ~coins(self.lie, len(values), rng)
        bits = random_bits(self.lie, places, told, self.buckets, rng)
        return np.concatenate([rows.astype(">u2").view(np.uint8).reshape(-1, 2), bits], axis=1)

    def tally(self, reports: Reports) -> Tally:
        """Return how often each bit of each row was set, and how many reports each row has."""
        rows, bits = _parts(reports)
        found = np.zeros((self.rows, self.buckets + 1), dtype=np.int64)
        found[:, -1] = np.bincount(rows, minlength=self.rows)
        found[:, :-1] = grouped_sums(bits, rows, self.rows, self.buckets)
        return found

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports set the bit of each word in their row."""
        return sums_over_rows(tally, words_of(values), self.buckets)

    def supports(self, reports: Reports, values: Sequence[Any]) -> Bits:
        """Return which reports set the bit of which words."""
        rows, packed_bits = _parts(reports)
        places = buckets_of(words_of(values), self.rows, self.buckets)
        bits = np.unpackbits(packed_bits, axis=1, count=self.buckets)
        return np.take_along_axis(bits, places[:, rows].T, axis=1).astype(np.bool_)


def _parts(reports: Reports) -> tuple[Integers, Reports]:
    """Return the row of each report, and its bits."""
    reports = np.asarray(reports, dtype=np.uint8)
    rows = np.ascontiguousarray(reports[:, :2]).view(">u2").reshape(-1).astype(np.int64)
    return rows, reports[:, 2:]


def sums_over_rows(table: Tally, words: Sequence[bytes], buckets: int) -> Shares:
    """Return the sum over all rows of a table of each word's bucket in that row."""
    rows = len(table)
    found = np.empty(len(words), dtype=np.float64)
    step = max(1, _CELLS // rows)
    for start in range(0, len(words), step):
        places = buckets_of(words[start : start + step], rows, buckets)
        found[start : start + step] = table[np.arange(rows), places].sum(axis=1)
    return found


def own_buckets(words: Sequence[bytes], rows: Integers, size: tuple[int, int]) -> Integers:
    """Return the bucket of each word in the row beside it; `size` is (rows, buckets) of the sketch."""
    numbers: dict[bytes, int] = {}
    places = np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64)
    written = list(numbers)
    if len(written) * size[0] <= _TABLE * max(1, len(places)):  # few words: hash each in all rows
        table = buckets_of(written, *size)
        return np.asarray(table[places, rows])
    pairs = zip(places.tolist(), rows.tolist(), strict=True)
    return np.array([bucket(written[at], row, size[1]) for at, row in pairs], dtype=np.int64)


MECHANISM = Mechanism(
    "count-mean-sketch",
    AnswerDomain.WORDS,
    lambda space, epsilon: CountMeanSketch.of(epsilon, rows=space.rows, buckets=space.buckets),
    audited=AnswerSpace(rows=4, buckets=8),
)
