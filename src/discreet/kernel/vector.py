"""Sums of vectors, one for each unit, whose joint length is bounded: for covariance and gradients.

A unit's vector is scaled down to the bound, cut to a public lattice towards zero, and its length is
then checked again in whole numbers. What floating point did on the way can only cost accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Floats, Integers
from discreet.core.event import PrivacyEvent
from discreet.core.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.kernel.mechanism import Law
from discreet.noise.rng import Rng

_ROOM = 2**62


class Norm(Enum):
    """How the length of a unit's vector is measured."""

    L1 = 1
    L2 = 2


@dataclass(frozen=True, slots=True)
class VectorSum:
    """The sum over units of integer vectors of length at most `bound`, in steps of the lattice.

    Guarantee: two neighbouring sums differ by at most `bound` in `norm` (twice that for replace-one),
        because every vector that enters a sum has passed `_short` in exact whole numbers; so
        `event(law)` is true of a sum with noise of that law. [docs/notes/0038-kernel.md]
    """

    norm: Norm
    bound: int
    size: int
    neighbours: Neighbours

    def __post_init__(self) -> None:
        if self.bound < 1 or self.size < 1:
            raise InvalidInput("A vector sum needs a bound and a size of at least 1.")
        if self.bound**2 * self.size >= _ROOM:
            raise InvalidInput("The lattice is too fine for vectors of this size.")

    def add(self, vectors: npt.ArrayLike) -> Integers:
        """Return the exact sum of one batch: a row for each unit, in steps, not yet clipped."""
        given = np.asarray(vectors, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.size:
            raise InvalidInput(f"Each unit has a vector of {self.size} numbers.")
        if len(given) * self.bound >= _ROOM:
            raise InvalidInput("Too many units in one batch.")
        # Whatever is no number says nothing.
        clean = np.nan_to_num(given, nan=0.0, posinf=0.0, neginf=0.0)
        cut = np.trunc(clean * self._shrinking(clean)[:, None])
        whole = np.where(np.abs(cut) <= self.bound, cut, 0).astype(np.int64)
        total: Integers = whole[self._short(whole)].sum(axis=0)
        return total

    def _shrinking(self, vectors: Floats) -> Floats:
        """Return the factor that brings each vector down to the bound; accuracy only."""
        with np.errstate(over="ignore"):
            largest = np.abs(vectors).max(axis=1)
            scale = np.where(largest > 0, largest, 1.0)
            unit = vectors / scale[:, None]
            length = (
                np.abs(unit).sum(axis=1) if self.norm is Norm.L1 else np.sqrt((unit**2).sum(axis=1))
            )
            factor = self.bound / np.where(length > 0, length * scale, 1.0)
        return np.minimum(1.0, np.nan_to_num(factor, nan=0.0, posinf=1.0))

    def _short(self, whole: Integers) -> Bits:
        """Return which vectors are within the bound: decided in whole numbers, without overflow."""
        if self.norm is Norm.L1:
            return np.asarray(np.abs(whole).sum(axis=1) <= self.bound)
        return np.asarray((whole * whole).sum(axis=1) <= self.bound**2)

    @property
    def moved(self) -> int:
        """Return how far a sum can move between neighbours, in the norm."""
        return self.bound * self.neighbours.moves

    def event(self, law: Law) -> PrivacyEvent:
        """Return what to tell the accountant of one sum with noise of `law` on every coordinate."""
        return law.event(
            # A vector of length b in L2 has at most b * sqrt(size) in L1, and an integer b^2 at most.
            l1=lambda: self.moved if self.norm is Norm.L1 else self._l1_of_l2(),
            l2_squared=lambda: self.moved**2,
            coordinates=self.size,
        )

    def _l1_of_l2(self) -> int:
        squared = self.moved**2 * self.size
        root = int(np.floor(np.sqrt(float(squared))))
        while root * root < squared:
            root += 1
        return root

    def noisy(self, total: Integers, law: Law, rng: Rng) -> Integers:
        """Return a sum of batches with fresh noise on every coordinate: may be shown."""
        return np.asarray(total + law.draw(self.size, rng))
