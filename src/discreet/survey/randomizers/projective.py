"""Projective geometry response (PGR): frequency oracle whose report is a point of a finite projective space.

With arithmetic in a prime field GF(p): digits of codes, points of a projective space, transforms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Floats, Integers
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

Vectors: TypeAlias = Integers
"""One vector a row."""

GREATEST_PRIME = 4093


@lru_cache(maxsize=1)
def primes() -> tuple[int, ...]:
    """Return the primes up to 4,093."""
    sieve = np.ones(GREATEST_PRIME + 1, dtype=np.bool_)
    sieve[:2] = False
    for number in range(2, 65):
        if sieve[number]:
            sieve[number * number :: number] = False
    return tuple(int(found) for found in np.flatnonzero(sieve))


def digits_many(codes: Integers, prime: int, length: int) -> Vectors:
    """Return each code in base `prime`, the most significant digit first.

    >>> digits_many(np.array([5]), 3, 4).tolist()
    [[0, 0, 1, 2]]
    """
    powers = np.array([prime ** (length - 1 - place) for place in range(length)], dtype=np.int64)
    return codes[:, None] // powers[None, :] % prime


def numbers_many(vectors: Vectors, prime: int) -> Integers:
    """Return the number whose digits each row has."""
    found = np.zeros(len(vectors), dtype=np.int64)
    for place in range(vectors.shape[1]):
        found = found * prime + vectors[:, place]
    return found


def points_before(pivot_from_end: int, prime: int) -> int:
    """Return how many points have their leading 1 nearer to the end: (prime^m - 1) / (prime - 1)."""
    return int((prime**pivot_from_end - 1) // (prime - 1))


def points_many(indices: Integers, prime: int, length: int) -> Vectors:
    """Return points of the projective space by their numbers: zeros, a leading 1, then free digits.

    Points are numbered with the leading 1 wandering from the last place to the first.

    >>> points_many(np.arange(4), 2, 3).tolist()
    [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]]
    """
    starts = np.array([points_before(m, prime) for m in range(length)], dtype=np.int64)
    free = np.searchsorted(starts, indices, side="right") - 1
    vectors = digits_many(indices - starts[free], prime, length)
    vectors[np.arange(len(indices)), length - 1 - free] = 1
    return vectors


def indices_many(vectors: Vectors, prime: int) -> Integers:
    """Return the number of the point on the line through each row; no row is zero."""
    length = vectors.shape[1]
    pivots = np.argmax(vectors != 0, axis=1)
    leading = vectors[np.arange(len(vectors)), pivots]
    inverses = np.array([0, *(pow(digit, -1, prime) for digit in range(1, prime))], dtype=np.int64)
    scaled = vectors * inverses[leading][:, None] % prime
    # The leading 1 stands for prime^m; the points with fewer free digits are (prime^m - 1) / (prime - 1).
    starts = np.array([points_before(m, prime) for m in range(length)], dtype=np.int64)
    powers = np.array([prime**m for m in range(length)], dtype=np.int64)
    free = length - 1 - pivots
    return np.asarray(numbers_many(scaled, prime) - powers[free] + starts[free])


def transform(cells: Floats, prime: int, length: int) -> npt.NDArray[np.complex128]:
    """Return the sums of `cells` weighted by the characters exp(-2 pi i u.v / prime), over all u."""
    shaped = np.fft.fftn(cells.reshape((prime,) * length))
    return np.asarray(shaped, dtype=np.complex128).reshape(-1)


MOST_CELLS = 1 << 24
_STEP = 1 << 18  # rows that are drawn at one time


@dataclass(frozen=True, slots=True)
class ProjectiveResponse(NumberReports):
    """Answers and reports are points of a projective space; the report is likely on the answer's plane.

    The plane of v holds the points u with u.v = 0 modulo a prime q. With probability inside / 2^32 the
    report is uniform on the plane, else uniform off it. Any two planes share equally many points, so
    that estimates are unbiased; reports are as short as the answers.

    Guarantee: points on a plane are told with probability inside / s, others with (1 - inside) / (K - s);
        the ratio is at most e^epsilon. [Feldman, Nelson, Nguyen & Talwar 2022; docs/notes/0042-survey.md]
    """

    codes: int
    prime: int
    dimension: int
    inside: int
    name: ClassVar[str] = "projective"
    hash_variance: ClassVar[float] = 0.0

    @classmethod
    def of(cls, codes: int, epsilon: Fraction) -> ProjectiveResponse:
        """Return the response over `codes` codes at `epsilon`, with the prime of least variance."""
        check_epsilon(epsilon)
        prime, dimension = _best(codes, epsilon)
        points, plane = points_before(dimension, prime), points_before(dimension - 1, prime)
        inside = truthful_parts(epsilon, Fraction(points - plane, plane))
        return checked(cls(codes, prime, dimension, inside), epsilon)

    @property
    def points(self) -> int:
        """Return how many points the space has: as many as there are reports."""
        return points_before(self.dimension, self.prime)

    @property
    def plane(self) -> int:
        """Return how many points lie on a plane."""
        return points_before(self.dimension - 1, self.prime)

    @property
    def shape(self) -> ReportShape:
        """Return that a report is the number of a point."""
        return ReportShape(cells=self.points)

    @property
    def own(self) -> Fraction:
        """Return how likely the report lies on the answer's plane."""
        return Fraction(self.inside, WORD)

    @property
    def other(self) -> Fraction:
        """Return how likely it lies on the plane of any other given answer."""
        shared = points_before(self.dimension - 2, self.prime)
        outside = (1 - self.own) * Fraction(self.plane - shared, self.points - self.plane)
        return self.own * Fraction(shared, self.plane) + outside

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return (self.own / self.plane) / ((1 - self.own) / (self.points - self.plane))

    def encode(self, value: int, draws: Draws) -> int:
        """Return the report of one code: a coin, the product u.v, then u but for the pivot's place."""
        value = checked_code(value, self.codes)
        prime = self.prime
        (answer,) = points_many(np.array([value]), prime, self.dimension).tolist()
        pivot = answer.index(1)
        inside = draws.coin(self.inside)
        product = 1 + draws.below(prime - 1)
        product = 0 if inside else product
        while True:
            told = [0 if at == pivot else draws.below(prime) for at in range(self.dimension)]
            told[pivot] = (product - sum(u * v for u, v in zip(told, answer, strict=True))) % prime
            if any(told):
                return int(indices_many(np.array([told]), prime)[0])

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each code, by the same law."""
        codes = checked_codes(values, self.codes)
        found = np.empty(codes.size, dtype=smallest_type(self.points))
        for start in range(0, codes.size, _STEP):
            part = slice(start, start + _STEP)
            answers = points_many(codes[part], self.prime, self.dimension)
            found[part] = indices_many(self._told(answers, rng), self.prime)
        return found

    def _told(self, answers: Vectors, rng: Rng) -> Vectors:
        """Return a vector of the reported line for each answer."""
        count, prime = len(answers), self.prime
        inside = coins(self.inside, count, rng)
        products = np.where(inside, 0, uniform(prime - 1, count, rng=rng) + 1)
        pivots = np.argmax(answers != 0, axis=1)
        told = np.empty_like(answers)
        pending = np.arange(count)
        while pending.size:
            some = uniform(prime, (pending.size, self.dimension), rng=rng)
            lanes, mine = np.arange(pending.size), pivots[pending]
            some[lanes, mine] = 0
            sums = np.einsum("ij,ij->i", some, answers[pending])
            some[lanes, mine] = (products[pending] - sums) % prime
            told[pending] = some
            pending = pending[~some.any(axis=1)]
        return told

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports lie on the plane of each code.

        Each count is laid on all multiples of its point; the transform at v is then q - 1 for a point
        on the plane and -1 for one off it. Counts below 2^50 come out exactly after rounding.
        """
        prime, size = self.prime, self.dimension
        everything = points_many(np.arange(self.points), prime, size)
        cells = np.zeros(prime**size, dtype=np.float64)
        for factor in range(1, prime):
            cells[numbers_many(everything * factor % prime, prime)] = tally
        spectrum = transform(cells, prime, size).real
        answers = points_many(np.asarray(values, dtype=np.int64), prime, size)
        on_planes = (spectrum[numbers_many(answers, prime)] + tally.sum()) / prime
        return np.asarray(np.rint(on_planes))

    def supports(self, reports: Reports, values: Sequence[Any]) -> Bits:
        """Return which reports lie on the plane of which codes."""
        told = points_many(np.asarray(reports, dtype=np.int64), self.prime, self.dimension)
        answers = points_many(np.asarray(values, dtype=np.int64), self.prime, self.dimension)
        return np.asarray(told @ answers.T % self.prime == 0)


def _best(codes: int, epsilon: Fraction) -> tuple[int, int]:
    """Return the prime and the dimension with the least variance among those that hold all codes."""
    factor = math.exp(min(float(epsilon), 30.0))
    found = []
    for prime in primes():
        dimension = 2
        while points_before(dimension, prime) < codes:
            dimension += 1
        if prime**dimension <= MOST_CELLS:
            found.append((_variance(prime, dimension, factor), prime, dimension))
    if codes < 2 or not found:
        raise InvalidInput(
            "Projective response takes between 2 and a few million options.",
            hint='Ask an open question (kind = "open") instead.',
        )
    _, prime, dimension = min(found)
    return prime, dimension


def _variance(prime: int, dimension: int, factor: float) -> float:
    points, plane, shared = (points_before(dimension - i, prime) for i in range(3))
    own = factor * plane / (factor * plane + points - plane)
    other = own * shared / plane + (1 - own) * (plane - shared) / (points - plane)
    return other * (1 - other) / (own - other) ** 2


MECHANISM = Mechanism(
    "projective",
    AnswerDomain.OPTIONS,
    lambda space, epsilon: ProjectiveResponse.of(space.codes, epsilon),
    audited=AnswerSpace(codes=8),
)
