"""Mechanisms: noise laws, selections and thresholds, and how far one unit can move what they are applied to.

A planner proposes mechanisms and the kernel admits them. Sensitivity leads from the integers in the SQL to the
lengths that noise is made for.

A vector sum has one vector for each unit, whose joint length is bounded: for covariance and gradients. A unit's
vector is scaled down to the bound, cut to a public lattice towards zero, and its length is then checked again in
whole numbers. What floating point did on the way can only cost accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.event import NOTHING, PrivacyEvent, Pure, Select
from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.privacy.noise.laws import NoiseLaw
from discreet.privacy.noise.rng import Rng

Law: TypeAlias = NoiseLaw


@dataclass(frozen=True, slots=True)
class Selection:
    """A quantile by the exponential mechanism over `bins` public candidates."""

    quantile: Fraction
    epsilon: Fraction
    bins: int
    sensitivity: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class LargestGroup:
    """The group with the most rows, chosen among public groups.

    `flip`: by permute-and-flip, whose loss is never larger; otherwise by the exponential mechanism,
    which costs less where budgets are counted in rho.
    """

    epsilon: Fraction
    flip: bool
    sensitivity: int = 0
    monotone: bool = False

    @property
    def event(self) -> PrivacyEvent:
        """Return what to tell the accountant."""
        return Pure(self.epsilon) if self.flip else Select(self.epsilon)


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """What will be added to, or chosen from, the exact results; and what to tell the accountant.

    `units` names the measure that private groups are thresholded on, None where keys are public;
    `failing` is the chance that a threshold may fail. A planner fills in laws, selections, top, units
    and failing; sensitivities, threshold and event are the kernel's (`seal.admit`).
    """

    laws: Mapping[str, Law]
    selections: Mapping[str, Selection]
    top: LargestGroup | None = None
    units: str | None = None
    failing: Fraction = Fraction(0)
    threshold: int | None = None
    event: PrivacyEvent = NOTHING


FINEST = 10**8
"""A row's greatest contribution is resolved into about this many grains."""


class Kind(Enum):
    """What a measure adds up over the rows of a group."""

    ROWS = "rows"
    PRESENT = "present"
    DISTINCT = "distinct"
    SUM = "sum"
    CENTRED = "centred"
    SQUARES = "squares"
    UNITS = "units"
    DISTINCT_SUM = "distinct sum"
    """Each different value once, added up; SQUARES of them likewise."""
    DISTINCT_SQUARES = "distinct squares"


@dataclass(frozen=True, slots=True)
class Bound:
    """One measure as far as its noise is concerned: what one row adds lies in [low, high]."""

    kind: Kind
    low: int
    high: int

    @property
    def reach(self) -> int:
        """Return how far one row can move the measure when it is added or removed."""
        return max(abs(self.low), abs(self.high))

    @property
    def grain(self) -> int:
        """Return the multiple to which an exact value is rounded down before it gets noise.

        1 unless one row alone moves the measure by more than a hundred million: then the noise
        would leave the range of the sampler, and a grain of that size is far below it anyway.
        """
        return max(1, self.reach // FINEST)


@dataclass(frozen=True, slots=True)
class Stability:
    """At most `max_rows` rows of one unit reach the aggregates, in at most `groups` groups.

    `groups` is None where nothing but the rows bounds them.
    """

    max_rows: int
    grouped: bool
    neighbours: Neighbours
    groups: int | None = None

    def l1(self, measure: Bound) -> int:
        """Return the greatest sum of absolute changes over all groups between two neighbours.

        Guarantee: each of the unit's rows moves one group by at most `measure.reach`. Replacing a
            unit is a removal and an addition; without groups the two partly cancel, because both
            contributions lie in one interval [rows * low, rows * high] around zero.
        """
        rows = self._rows(measure)
        if self.grouped or self.neighbours is Neighbours.ADD_REMOVE:
            moved = self.neighbours.moves * rows * measure.reach
        else:
            moved = rows * (max(measure.high, 0) - min(measure.low, 0))
        return _in_grains(moved, measure, self.coordinates)

    def l2_squared(self, measure: Bound) -> int:
        """Return the greatest sum of squared changes over all groups between two neighbours."""
        if self.neighbours is Neighbours.ADD_REMOVE or not self.grouped:
            return self.l1(measure) ** 2
        rows = self._rows(measure)
        up, down = rows * max(measure.high, 0), rows * max(-measure.low, 0)
        # What a unit adds is a mixture of (up in one group) and (-down in one group), so the
        # greatest distance of two units is reached between two such corners.
        apart = self.neighbours.moves * _upwards(max(up, down), measure, self.max_rows) ** 2
        opposite = _upwards(up + down, measure, self.coordinates) ** 2
        return max(apart, opposite)

    @property
    def coordinates(self) -> int:
        """Return how many groups one change between neighbours can touch at most."""
        if not self.grouped:
            return 1
        return self._groups * self.neighbours.moves

    @property
    def _groups(self) -> int:
        return self.max_rows if self.groups is None else min(self.groups, self.max_rows)

    def _rows(self, measure: Bound) -> int:
        if measure.kind is not Kind.UNITS:
            return self.max_rows
        # A person is one unit however many rows they have; in several groups, once in each.
        return self._groups if self.grouped else 1


def _in_grains(moved: int, measure: Bound, coordinates: int) -> int:
    # Rounding down to grains can widen a change by one grain in each group that moved at all.
    return moved if measure.grain == 1 else moved // measure.grain + coordinates


def _upwards(moved: int, measure: Bound, coordinates: int) -> int:
    # As a length the rounding adds at most the square root of the coordinates; this is more.
    return moved if measure.grain == 1 else -(-moved // measure.grain) + coordinates


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
