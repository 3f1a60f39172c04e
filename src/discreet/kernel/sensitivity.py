"""How far one unit can move a measure: from the integers in the SQL to the lengths noise is made for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from discreet.core.unit import Neighbours

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
