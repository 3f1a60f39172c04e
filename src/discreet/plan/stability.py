"""How far one unit can move each measure: the sensitivities that the noise is calibrated to."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.unit import Neighbours
from discreet.errors import QueryRefused
from discreet.plan.ir import Filter, Join, PerUnit, Project, Relation, Scan, scans_of, unit_of
from discreet.plan.measure import Kind, Measure


@dataclass(frozen=True, slots=True)
class Stability:
    """At most `max_rows` rows of one unit reach the aggregates, spread over any of the groups.

    `enforced` says whether the generated SQL must drop further rows to make that true.
    """

    max_rows: int
    grouped: bool
    neighbours: Neighbours
    enforced: bool

    def l1(self, measure: Measure) -> int:
        """Return the greatest sum of absolute changes over all groups between two neighbours.

        Guarantee: each of the unit's rows moves one group by at most `measure.reach`. Replacing a
            unit is a removal and an addition; without groups the two partly cancel, because both
            contributions lie in one interval [rows * low, rows * high] around zero.
        """
        rows = self._rows(measure)
        if self.neighbours is Neighbours.ADD_REMOVE:
            moved = rows * measure.reach
        elif self.grouped:
            moved = 2 * rows * measure.reach
        else:
            moved = rows * (max(measure.high, 0) - min(measure.low, 0))
        return _in_grains(moved, measure, self.coordinates)

    def l2_squared(self, measure: Measure) -> int:
        """Return the greatest sum of squared changes over all groups between two neighbours."""
        if self.neighbours is Neighbours.ADD_REMOVE or not self.grouped:
            return self.l1(measure) ** 2
        rows = self._rows(measure)
        up, down = rows * max(measure.high, 0), rows * max(-measure.low, 0)
        # What a unit adds is a mixture of (up in one group) and (-down in one group), so the
        # greatest distance of two units is reached between two such corners.
        apart = 2 * _upwards(max(up, down), measure, self.max_rows) ** 2
        opposite = _upwards(up + down, measure, self.coordinates) ** 2
        return max(apart, opposite)

    @property
    def coordinates(self) -> int:
        """Return how many groups one change between neighbours can touch at most."""
        if not self.grouped:
            return 1
        return self.max_rows * self.neighbours.moves

    def _rows(self, measure: Measure) -> int:
        # A person is one unit however many rows they have; in several groups, once in each.
        return 1 if measure.kind is Kind.UNITS and not self.grouped else self.max_rows


def _in_grains(moved: int, measure: Measure, coordinates: int) -> int:
    # Rounding down to grains can widen a change by one grain in each group that moved at all.
    return moved if measure.grain == 1 else moved // measure.grain + coordinates


def _upwards(moved: int, measure: Measure, coordinates: int) -> int:
    # As a length the rounding adds at most the square root of the coordinates; this is more.
    return moved if measure.grain == 1 else -(-moved // measure.grain) + coordinates


def bound_rows(source: Relation) -> int:
    """Return how many rows of one unit count at most: the greatest bound declared below."""
    private = [scan.table for scan in scans_of(source) if not scan.public]
    bounds = [table.max_rows for table in private if table.max_rows is not None]
    unbounded = [table.name for table in private if table.max_rows is None]
    if unbounded:
        raise QueryRefused(
            f"One person can have any number of rows in '{unbounded[0]}', so nothing bounds their "
            "influence.",
            hint="Set max_rows for the table in discreet.toml: at most that many rows of a person "
            "count.",
            construct="max_rows",
        )
    return max(bounds)


def structural_rows(relation: Relation) -> int | None:
    """Return the bound that the shape of the tree itself gives; None where there is none."""
    match relation:
        case Scan(table=table):
            if table.unit is None or table.unit.is_row:
                return 1
            return table.max_rows if table.bounded else None
        case Filter(source=source) | Project(source=source):
            return structural_rows(source)
        case Join(left=left, copies=copies):
            below = structural_rows(left)
            return None if below is None or copies is None else below * copies
        case PerUnit(keys=keys):
            return None if keys else 1


def stability_of(
    relation: Relation,
    *,
    grouped: bool,
    neighbours: Neighbours,
    units_only: bool,
    max_rows: int | None,
) -> Stability:
    """Return the stability of a statement's rows, bounding them where their shape does not."""
    known = structural_rows(relation)
    if known is not None:
        return Stability(known, grouped, neighbours, enforced=False)
    assert unit_of(relation) is not None, "only person units lack a structural bound"
    if units_only and not grouped:
        # Counting each person once needs no bound on their rows.
        return Stability(1, grouped, neighbours, enforced=False)
    return Stability(max_rows or bound_rows(relation), grouped, neighbours, enforced=True)
