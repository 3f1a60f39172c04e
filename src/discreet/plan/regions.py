"""Whom a question can touch: the hull of its conditions over columns that may split the bill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.catalog.axes import axis_name, home
from discreet.core.region import EVERYONE, Positions, Region
from discreet.core.schema import DateDomain, Domain, IntegerDomain, NumberDomain
from discreet.plan import expr as e
from discreet.plan.box import Box, to_box
from discreet.plan.ir import Filter, Join, JoinKind, PerUnit, Project, Relation, Scan, fields_of

NOBODY = Region.of({"": Positions.of([])})
"""The region that holds no unit."""


@dataclass(frozen=True, slots=True)
class QuestionReach:
    """The region a relation's rows lie in, and the axis behind each column that still shows one."""

    region: Region
    axes: Mapping[str, str]


def reach_of(relation: Relation, snapshots: Mapping[str, str]) -> QuestionReach:
    """Return whom `relation` can touch; `snapshots` maps each table to its version.

    Guarantee: a unit outside the region contributes no row. Columns behind a LEFT JOIN's right side
        never restrict: there, NULL can mean "no partner" for a unit that sits elsewhere on the axis.
    """
    match relation:
        case Scan():
            return _scan(relation, snapshots)
        case Filter(source=source, condition=condition):
            below = reach_of(source, snapshots)
            return _filtered(below, to_box(condition, domains_of(source)))
        case Project(source=source, fields=fields, values=values):
            below = reach_of(source, snapshots)
            passed = {
                field.name: below.axes[value.name]
                for field, value in zip(fields, values, strict=True)
                if isinstance(value, e.ColumnRef) and value.name in below.axes
            }
            return QuestionReach(below.region, passed)
        case Join(left=left, right=right, kind=kind):
            first = reach_of(left, snapshots)
            if kind is JoinKind.LEFT:
                return first
            second = reach_of(right, snapshots)
            return QuestionReach(first.region & second.region, {**first.axes, **second.axes})
        case PerUnit(source=source, keys=keys):
            below = reach_of(source, snapshots)
            kept = {
                name: below.axes[key.name]
                for name, key in keys
                if isinstance(key, e.ColumnRef) and key.name in below.axes
            }
            return QuestionReach(below.region, kept)


def _filtered(below: QuestionReach, box: Box) -> QuestionReach:
    region = below.region
    if any(isinstance(part, e.Literal) for part in e.conjuncts(box.residual) if part != e.TRUE):
        # FALSE or NULL: programs ask so for the columns of an answer.
        region &= NOBODY
    for name, positions in box.hull.items():
        axis = below.axes.get(name)
        if axis is not None:
            region &= Region.of({axis: positions})
        elif not positions:
            # No row can pass, whoever's it is: also where this column splits no bill.
            region &= NOBODY
    return QuestionReach(region, below.axes)


def _scan(scan: Scan, snapshots: Mapping[str, str]) -> QuestionReach:
    if scan.dataset is None or scan.public:
        return QuestionReach(EVERYONE, {})
    snapshot = snapshots.get(scan.table.name, "")
    axes = {}
    for field in scan.fields:
        if field.origin is None:
            continue
        axis = axis_name(scan.dataset, scan.table, field.origin.column, snapshot)
        if axis is not None:
            axes[field.name] = axis
    return QuestionReach(home(scan.dataset, scan.table, snapshot), axes)


def domains_of(relation: Relation) -> dict[str, Domain]:
    """Return the domain of every column of `relation`."""
    return {field.name: field.domain for field in fields_of(relation)}


def box_positions(relation: Relation) -> dict[str, Positions]:
    """Return, by column, the positions that the conditions below leave possible in its rows."""
    match relation:
        case Filter(source=source, condition=condition):
            found = box_positions(source)
            for name, positions in to_box(condition, domains_of(source)).hull.items():
                found[name] = found[name] & positions if name in found else positions
            return found
        case Project(source=source, fields=fields, values=values):
            below = box_positions(source)
            return {
                field.name: below[value.name]
                for field, value in zip(fields, values, strict=True)
                if isinstance(value, e.ColumnRef) and value.name in below
            }
        case Join(left=left, right=right, kind=kind):
            found = box_positions(left)
            return found if kind is JoinKind.LEFT else {**found, **box_positions(right)}
        case _:
            return {}


def narrowed_domains(relation: Relation) -> dict[str, Domain]:
    """Return each column's domain, cut down to the range that the conditions leave possible.

    The generated WHERE enforces the conditions, so the rows that remain lie in these ranges.
    """
    found = domains_of(relation)
    for name, positions in box_positions(relation).items():
        # A span may begin at NULL; the values in it then begin at 0.
        known = [max(p, 0) for span in positions.spans if span[1] >= 0 for p in span]
        domain = found[name]
        if not known:
            continue
        low, high = min(known), max(known)
        match domain:
            case IntegerDomain():
                found[name] = IntegerDomain(domain.value(low), domain.value(high))
            case NumberDomain(step=step):
                found[name] = NumberDomain(domain.value(low), domain.value(high), step)
            case DateDomain():
                found[name] = DateDomain(domain.value(low), domain.value(high))
            case _:
                pass
    return found
