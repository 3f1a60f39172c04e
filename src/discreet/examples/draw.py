"""Seeded chance for the example data. No guarantee hangs on it, so numpy.random will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Floats, Integers

CHUNK = 250_000
"""People made at a time. Part of the recipe: another size makes another town from the same seed."""


class Stream(IntEnum):
    """What a generator is for. Each table and chunk has its own, so none disturbs another."""

    PEOPLE = 0
    VISITS = 1
    VOTERS = 2
    RATINGS = 3
    GENOTYPES = 4
    DOSING = 5
    BENCH = 6
    FILMS = 7


def stream(seed: int, purpose: Stream, chunk: int) -> np.random.Generator:
    """Return the generator of one chunk of one table."""
    sequence = np.random.SeedSequence(seed, spawn_key=(int(purpose), chunk))
    return np.random.Generator(np.random.SFC64(sequence))


@dataclass(frozen=True, slots=True)
class TownLaw:
    """Shares of K kinds in each of G groups, ready to draw from."""

    shares: Floats
    cumulative: Floats

    @classmethod
    def of(cls, weights: npt.ArrayLike) -> TownLaw:
        """Return the law with these weights: a row for each group, or one row for a single group."""
        shares = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        shares = shares / shares.sum(axis=1, keepdims=True)
        running = np.cumsum(shares, axis=1)
        # A sum that stops short of 1 by rounding would let the last, impossible kinds appear.
        running[running > 1 - 1e-12] = 1.0
        running += np.arange(len(shares))[:, None]
        return cls(shares=shares, cumulative=running.ravel())

    def draw(self, rng: np.random.Generator, group: npt.NDArray[np.integer]) -> Integers:
        """Return one kind for each entry of `group`."""
        # 24-bit uniforms: group + uniform is then exact, and never rounds up to the next group.
        place = group + rng.random(len(group), dtype=np.float32).astype(np.float64)
        found = np.searchsorted(self.cumulative, place, side="right")
        kinds: Integers = found.astype(np.int64) - group * self.shares.shape[1]
        return kinds


def bands(from_age: Mapping[int, object]) -> Integers:
    """Return, for each age from 0 to 120, which entry of a `..._FROM_AGE` table holds.

    >>> bands({0: "minor", 18: "adult"})[[17, 18]].tolist()
    [0, 1]
    """
    return (
        np.searchsorted(np.array(list(from_age)), np.arange(121), side="right").astype(np.int64) - 1
    )


def at_age(from_age: Mapping[int, object]) -> Floats:
    """Return, for each age from 0 to 120, what a `..._FROM_AGE` table says.

    >>> at_age({0: 0.0, 18: 0.5})[[17, 18]].tolist()
    [0.0, 0.5]
    """
    return np.array(list(from_age.values()), dtype=np.float64)[bands(from_age)]


def chunks(total: int, size: int = CHUNK) -> Sequence[tuple[int, int]]:
    """Return (start, count) of each chunk of `total` rows."""
    return [(start, min(size, total - start)) for start in range(0, total, size)]
