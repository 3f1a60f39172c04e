"""Regions: whom a question can touch, from its conditions over columns that may split the bill.

A condition becomes a box of the public domain, and what is left of it. The box becomes both the WHERE clause and the
region that is billed, so the two cannot disagree: a row outside the region is never read.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import Fields, tabulated
from discreet.ask.plan.expr import Comparison, Expr, Operator, is_finite
from discreet.ask.plan.ir import Filter, Join, JoinKind, PerUnit, Project, Relation, Scan, fields_of
from discreet.base.event import EVERYONE, NULL, Positions, Region
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.data.catalog.axes import axis_name, home


@dataclass(frozen=True, slots=True)
class Box:
    """Positions by column name, and the part of the condition that the box does not say.

    A row satisfies the condition exactly if it lies in `positions` and satisfies `residual`; `hull`
    is a possibly tighter box that holds all such rows, used for the bill.
    """

    positions: Mapping[str, Positions]
    residual: Expr
    hull: Mapping[str, Positions]


def to_box(condition: Expr, fields: Fields) -> Box:
    """Return the box that `condition` describes over these columns."""
    exact: dict[str, Positions] = {}
    left: list[Expr] = []
    hull: dict[str, Positions] = {}
    for part in e.conjuncts(condition):
        found = _one_column(part, fields)
        if found is not None:
            name, positions = found
            exact[name] = exact[name] & positions if name in exact else positions
        elif part != e.TRUE:
            left.append(part)
            for name, positions in _hull(part, fields).items():
                hull[name] = hull[name] & positions if name in hull else positions
    for name, positions in exact.items():
        hull[name] = hull[name] & positions if name in hull else positions
    return Box(exact, e.all_of(tuple(left)), hull)


def _hull(part: Expr, fields: Fields) -> dict[str, Positions]:
    """Return a box that holds every row satisfying a disjunction; empty dict for anything else."""
    if not isinstance(part, e.Or):
        return {}
    boxes = [to_box(operand, fields).hull for operand in part.operands]
    shared = set(boxes[0]).intersection(*boxes[1:])
    hull: dict[str, Positions] = {}
    for name in shared:
        union = boxes[0][name]
        for box in boxes[1:]:
            union |= box[name]
        hull[name] = union
    return hull


def _one_column(part: Expr, fields: Fields) -> tuple[str, Positions] | None:
    names = e.columns_of(part)
    if len(names) != 1:
        return None
    (name,) = names
    domain = fields[name]
    if not is_finite(domain):
        return None
    # By rule first: trying all days of a century for one comparison takes half a second.
    found = _truth(part, domain)  # type: ignore[arg-type]  # finite, see above
    if found is not None:
        return name, found[0]
    table = tabulated(part, fields)
    if table is None:
        return None
    return name, Positions.points(i + NULL for i, value in enumerate(table) if value is True)


def _truth(part: Expr, domain: FiniteDomain) -> tuple[Positions, Positions] | None:
    """Return the positions where a condition on one column is true, and where it is false.

    None where no rule says so; then its values may be tried.
    """
    match part:
        case e.Compare(comparison=comparison, left=e.ColumnRef(), right=e.Literal(value=value)):
            return _compare(comparison, value, domain)
        case e.Compare(comparison=comparison, left=e.Literal(value=value), right=e.ColumnRef()):
            return _compare(e.MIRRORED[comparison], value, domain)
        case e.Compare(
            comparison=comparison,
            left=e.Arithmetic(
                operator=Operator.FLOOR_DIVIDE, left=e.ColumnRef(), right=e.Literal(value=int(by))
            ),
            right=e.Literal(value=int(value)),
        ) if isinstance(domain, IntegerDomain) and by > 0:
            return _floored(comparison, value, by, domain)
        case e.IsNull(operand=e.ColumnRef()):
            null = Positions.points([NULL])
            return null, null.complement(domain.size)
        case e.In(operand=e.ColumnRef(), values=values):
            return _one_of(values, domain)
        case e.Not(operand=operand):
            inner = _truth(operand, domain)
            return None if inner is None else (inner[1], inner[0])
        case e.And(operands=operands) | e.Or(operands=operands):
            return _joined(part, operands, domain)
        case _:
            return None


def _joined(
    part: Expr, operands: tuple[Expr, ...], domain: FiniteDomain
) -> tuple[Positions, Positions] | None:
    sets = [_truth(operand, domain) for operand in operands]
    if any(found is None for found in sets):
        return None
    known = [found for found in sets if found is not None]
    true, false = known[0]
    for other_true, other_false in known[1:]:
        if isinstance(part, e.And):
            true, false = true & other_true, false | other_false
        else:
            true, false = true | other_true, false & other_false
    return true, false


def _compare(
    comparison: Comparison, value: Any, domain: FiniteDomain
) -> tuple[Positions, Positions] | None:
    if value is None:
        return Positions(()), Positions(())
    place = place_of(value, domain)
    if place is None:
        return None
    # All positions below `below` are less than the value, all from `above` on are greater.
    below, above = place
    last = domain.size - 1
    spans = {
        Comparison.EQUAL: [(below, above - 1)],
        Comparison.NOT_EQUAL: [(0, below - 1), (above, last)],
        Comparison.LESS: [(0, below - 1)],
        Comparison.LESS_EQUAL: [(0, above - 1)],
        Comparison.GREATER: [(above, last)],
        Comparison.GREATER_EQUAL: [(below, last)],
    }[comparison]
    true = Positions.of((max(low, 0), min(high, last)) for low, high in spans)
    return true, true.complement(domain.size) & Positions.of([(0, last)])


def _floored(
    comparison: Comparison, value: int, by: int, domain: IntegerDomain
) -> tuple[Positions, Positions] | None:
    """Return where x // by compares with a whole number: with the first x of that quotient."""
    first, after = value * by, (value + 1) * by
    match comparison:
        case Comparison.LESS | Comparison.GREATER_EQUAL:
            return _compare(comparison, first, domain)
        case Comparison.LESS_EQUAL:
            return _compare(Comparison.LESS, after, domain)
        case Comparison.GREATER:
            return _compare(Comparison.GREATER_EQUAL, after, domain)
        case _:
            low = _compare(Comparison.GREATER_EQUAL, first, domain)
            high = _compare(Comparison.LESS, after, domain)
            if low is None or high is None:
                return None
            inside, outside = low[0] & high[0], low[1] | high[1]
            return (inside, outside) if comparison is Comparison.EQUAL else (outside, inside)


def place_of(value: Any, domain: Domain) -> tuple[int, int] | None:
    """Return (first position not below the value, first position above it), None if not ordered."""
    match domain:
        case IntegerDomain(lower=lower):
            steps = _number(value, Fraction(lower), Fraction(1))
        case NumberDomain(lower=lower, step=step):
            steps = _number(value, lower, step)
        case DateDomain(lower=lower):
            steps = Fraction((value - lower).days) if type(value) is dt.date else None
        case BooleanDomain():
            steps = Fraction(int(value)) if isinstance(value, bool) else None
        case _:
            return None
    return None if steps is None else (math.ceil(steps), math.floor(steps) + 1)


def _number(value: Any, lower: Fraction, step: Fraction) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        return None
    return (Fraction(value) - lower) / step


def _one_of(values: tuple[Any, ...], domain: FiniteDomain) -> tuple[Positions, Positions] | None:
    found: list[int] = []
    for value in values:
        if isinstance(domain, CategoryDomain):
            position = domain.position(value) if isinstance(value, str) else None
            found += [] if position is None else [position]
            continue
        if value is None:
            continue
        place = place_of(value, domain)
        if place is None:
            return None
        if place[0] < place[1] and 0 <= place[0] < domain.size:
            found.append(place[0])
    true = Positions.points(found)
    rest = true.complement(domain.size) & Positions.of([(0, domain.size - 1)])
    return true, Positions(()) if None in values else rest


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
