"""Contribution bounding as the planner expects it: rows of a unit that count.

The kernel derives the bound anew from the final SQL (kernel/rows.py) and prices by that.
"""

from __future__ import annotations

from discreet.errors import QueryRefused
from discreet.plan.ir import Filter, Join, PerUnit, Project, Relation, Scan, scans_of, unit_of


def bound_rows(source: Relation) -> int:
    """Return how many rows of one unit count at most: what was asked for, or the greatest bound declared below.

    Every reader of a person's rows goes by this: the whole statement, a subquery by person, a side of a join.
    """
    private = [scan for scan in scans_of(source) if not scan.public]
    for scan in private:
        if scan.listens and scan.asked is not None:
            return scan.asked
    bounds = [scan.max_rows for scan in private if scan.max_rows is not None]
    unbounded = [scan.table.name for scan in private if scan.max_rows is None]
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
        case PerUnit(keys=keys, most=most, cut=cut):
            if keys:
                return most if cut else None
            return 1


def rows_to_keep(relation: Relation, *, single: bool, units_only: bool) -> tuple[int, bool]:
    """Return how many rows of a unit count at most, and whether the SQL must still cut them."""
    known = structural_rows(relation)
    if known is not None:
        return known, False
    assert unit_of(relation) is not None, "only person units lack a structural bound"
    if units_only and single:
        # Counting each person once needs no bound on their rows.
        return 1, False
    return bound_rows(relation), True
