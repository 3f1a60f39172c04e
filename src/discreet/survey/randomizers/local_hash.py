"""Optimised local hashing (OLH), with a linear hash: the randomised hash of the answer, beside the hash."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Integers
from discreet.errors import InvalidInput
from discreet.privacy.noise.coins import uniform
from discreet.privacy.noise.rng import Rng
from discreet.survey.randomizers.base import (
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
    smallest_type,
    truthful_parts,
)
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.projective import digits_many, numbers_many, primes, transform

MOST_CELLS = 1 << 22
_WORTH = 32  # cells of a table that are sooner made than one hash is computed


@dataclass(frozen=True, slots=True)
class LocalHash(NumberReports):
    """A random linear map hashes the answer's digits to one of `prime` values, which k-ary response hides.

    The report is (map, hidden value) as one number. Maps are vectors a over the numbers modulo a prime g;
    an answer x with digits v hashes to a.v mod g. Two answers collide under exactly one map in g, which
    is all that unbiasedness and variance need; and since there are only g^(digits + 1) reports, a
    histogram of them is all that is kept.

    Guarantee: the map is drawn without looking at the answer; given the map, the report is g-ary response.
        [Wang, Blocki, Li & Jha 2017; docs/notes/0042-survey.md]
    """

    codes: int
    prime: int
    digits: int
    keep: int
    name: ClassVar[str] = "local-hash"
    hash_variance: ClassVar[float] = 0.0

    @classmethod
    def of(cls, codes: int, epsilon: Fraction) -> LocalHash:
        """Return local hashing over `codes` codes at `epsilon`, its prime near e^epsilon + 1."""
        check_epsilon(epsilon)
        prime, length = _best(codes, epsilon)
        return checked(
            cls(codes, prime, length, truthful_parts(epsilon, Fraction(prime - 1))), epsilon
        )

    @property
    def shape(self) -> ReportShape:
        """Return that a report is the map's number times the prime, plus the hidden value."""
        return ReportShape(cells=int(self.prime ** (self.digits + 1)))

    @property
    def _hiding(self) -> KaryResponse:
        """Return the response that hides a hash."""
        return KaryResponse(self.prime, self.keep)

    @property
    def own(self) -> Fraction:
        """Return how likely the hidden value is the hash of the answer."""
        return self._hiding.own

    @property
    def other(self) -> Fraction:
        """Return how likely the hidden value is the hash of any other given answer."""
        return Fraction(1, self.prime)

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return self._hiding.worst_ratio

    def encode(self, value: int, draws: Draws) -> int:
        """Return the report of one code: the map's numbers, then the response to its hash."""
        value = checked_code(value, self.codes)
        linear = [[draws.below(self.prime) for _ in range(self.digits)]]
        one_map = numbers_many(np.array(linear), self.prime)
        hashed = int(self._hashes(one_map, np.array([value]))[0])
        return int(one_map[0]) * self.prime + self._hiding.encode(hashed, draws)

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each code, by the same law."""
        codes = checked_codes(values, self.codes)
        maps = uniform(int(self.prime**self.digits), codes.size, rng=rng)
        told = self._hiding.encode_many(self._looked_up(maps, codes), rng)
        return (maps * self.prime + told).astype(smallest_type(self.shape.cells))

    def _looked_up(self, maps: Integers, codes: Integers) -> Integers:
        """Return the hash of each code under the map beside it, from a table where that pays."""
        cells = self.prime**self.digits * self.codes
        if cells > MOST_CELLS or cells > _WORTH * maps.size:
            return self._hashes(maps, codes)
        return _table(self)[maps, codes].astype(np.int64)

    def _hashes(self, maps: Integers, codes: Integers) -> Integers:
        """Return the hash of each code under the map beside it, digit by digit from the last."""
        total = np.zeros(np.broadcast_shapes(maps.shape, codes.shape), dtype=np.int64)
        for _ in range(self.digits):
            maps, first = np.divmod(maps, self.prime)
            codes, second = np.divmod(codes, self.prime)
            total += first * second
        return total % self.prime

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports hide the hash of each code.

        The indicator of a.v = y is the mean over c of the characters of c (a.v - y): one transform of
        the histogram gives them all. Counts below 2^50 come out exactly after rounding.
        """
        prime, length = self.prime, self.digits
        spectrum = transform(tally.astype(np.float64), prime, length + 1)
        vectors = digits_many(np.asarray(values, dtype=np.int64), prime, length)
        powers = np.array([prime ** (length - place) for place in range(length)], dtype=np.int64)
        total = np.zeros(len(vectors), dtype=np.float64)
        for c in range(prime):
            total += spectrum[(c * vectors % prime) @ powers + (-c % prime)].real
        return np.rint(total / prime)

    def supports(self, reports: Reports, values: Sequence[Any]) -> Bits:
        """Return which reports hide the hash of which codes."""
        maps, told = np.divmod(np.asarray(reports, dtype=np.int64), self.prime)
        hashed = self._hashes(maps[:, None], np.asarray(values, dtype=np.int64)[None, :])
        return np.asarray(hashed == told[:, None])


@lru_cache(maxsize=8)
def _table(hashing: LocalHash) -> npt.NDArray[np.uint16]:
    """Return the hash of every code (across) under every map (down)."""
    maps, codes = np.arange(hashing.prime**hashing.digits), np.arange(hashing.codes)
    return hashing._hashes(maps[:, None], codes[None, :]).astype(np.uint16)  # noqa: SLF001 its table


def _best(codes: int, epsilon: Fraction) -> tuple[int, int]:
    """Return the prime with the least variance, and how many digits the codes have in it."""
    factor = math.exp(min(float(epsilon), 30.0))
    found = []
    for prime in primes():
        length = 1
        while prime**length < codes:
            length += 1
        if prime ** (length + 1) <= MOST_CELLS and prime > 2:
            variance = (factor - 1 + prime) ** 2 / ((factor - 1) ** 2 * (prime - 1))
            found.append((variance, prime, length))
    if not found:
        raise InvalidInput(
            "Local hashing takes at most a few million options.",
            hint='Ask an open question (kind = "open") instead.',
        )
    _, prime, length = min(found)
    return prime, length


MECHANISM = Mechanism(
    "local-hash",
    AnswerDomain.OPTIONS,
    lambda space, epsilon: LocalHash.of(space.codes, epsilon),
    audited=AnswerSpace(codes=9),
)
