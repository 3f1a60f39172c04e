"""Arithmetic in a prime field GF(p): digits of codes, points of a projective space, transforms."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Floats, Integers

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
