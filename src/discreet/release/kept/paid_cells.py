"""A paid number and the box it is about: the raw material of reuse."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.region import NULL, Positions, Region
from discreet.core.schema import Domain, Table
from discreet.kernel.look import Noisy
from discreet.kernel.mechanism import Kind, Law
from discreet.noise.laws import law_of
from discreet.plan import expr as e
from discreet.plan.evaluate import tabulated
from discreet.plan.expr import is_finite
from discreet.plan.ir import Filter, Key, Relation, Scan
from discreet.plan.measure import Measure
from discreet.plan.plan import PublicGroups, Question
from discreet.plan.regions import domains_of, to_box

MOST_CELLS = 400
"""Answers with more groups than this are not reused: the algebra would cost more than it saves."""


@dataclass(frozen=True, slots=True)
class PaidValue:
    """A noisy value of one additive measure over the rows of one table that lie in a box."""

    table: str
    measure: str
    box: tuple[tuple[str, Positions], ...]
    value: int
    law: Law

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and texts."""
        return {
            "table": self.table,
            "measure": self.measure,
            "box": Region(self.box).to_json(),
            "value": str(self.value),
            "law": self.law.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PaidValue:
        """Return what `to_json` wrote."""
        box, law = Region.from_json(data["box"]).axes, law_of(*data["law"])
        return cls(data["table"], data["measure"], box, int(data["value"]), law)


@dataclass(frozen=True, slots=True)
class Cells:
    """The boxes of a question's groups, in order, over one table's columns.

    `ranges` are each column's first and last position. NULL is always one of them: what the engine
    reads as NULL is a row, and only a paid answer, or a condition that left such rows out, says how
    many there are. A column that the owner declared complete has that condition in every question.
    `called` gives the column behind each field: ids hold within one statement only, the names of
    columns in all.
    """

    table: str
    boxes: tuple[tuple[tuple[str, Positions], ...], ...]
    ranges: Mapping[str, tuple[int, int]]
    called: Mapping[str, str]


def cells_of(question: Question) -> Cells | None:
    """Return the exact box of each group; None where a question is not made of boxes.

    Only plain tables of row units with conditions that are boxes to the last row qualify: sums over
    such boxes add up, which is all that reuse relies on.
    """
    if not isinstance(question.groups, PublicGroups) or question.enforced:
        return None
    if question.groups.count > MOST_CELLS or question.measured.choices:
        return None
    source = question.statement.source
    scan = _scan(source)
    if scan is None or scan.unit is not None:
        return None
    base = _exact_box(source)
    if base is None:
        return None
    domains = domains_of(scan)
    called = {field.name: field.called for field in scan.fields}
    places = [_places(key, domains) for key in question.statement.keys]
    boxes = []
    for group in question.groups:
        box = dict(base)
        for found, value in zip(places, group, strict=True):
            if found is None:
                return None
            name, by_value = found
            where = by_value.get(value, Positions(()))
            box[name] = box[name] & where if name in box else where
        boxes.append(tuple(sorted((called[name], where) for name, where in box.items())))
    assert scan.dataset is not None, "every table belongs to a dataset"
    ranges = {
        called[field.name]: (NULL, field.domain.size - 1)  # type: ignore[union-attr]  # finite
        for field in scan.fields
        if is_finite(field.domain)
    }
    return Cells(f"{scan.dataset.name}.{_declared(scan.table)}", tuple(boxes), ranges, called)


def _declared(table: Table) -> str:
    """Return the table's name under its present declarations: positions mean nothing under others."""
    columns = sorted((column.name, column.fingerprint) for column in table.columns)
    return f"{table.name}@{hashlib.sha256(repr(columns).encode()).hexdigest()[:16]}"


def _scan(source: Relation) -> Scan | None:
    while isinstance(source, Filter):
        source = source.source
    return source if isinstance(source, Scan) else None


def _exact_box(source: Relation) -> dict[str, Positions] | None:
    found: dict[str, Positions] = {}
    while isinstance(source, Filter):
        box = to_box(source.condition, domains_of(source.source))
        if box.residual != e.TRUE:
            return None
        for name, positions in box.positions.items():
            found[name] = found[name] & positions if name in found else positions
        source = source.source
    return found


def _places(key: Key, domains: Mapping[str, Domain]) -> tuple[str, Mapping[Any, Positions]] | None:
    """Return the one column that a key reads and, for each value of the key, where it comes from."""
    table = tabulated(key.value, domains)
    if table is None:
        return None
    by_value: dict[Any, list[int]] = {}
    for i, value in enumerate(table):
        by_value.setdefault(value, []).append(i + NULL)
    (name,) = e.columns_of(key.value)
    return name, {value: Positions.points(found) for value, found in by_value.items()}


def signature(measure: Measure, called: Mapping[str, str]) -> str:
    """Return a text that two measures share only if they add up the same thing."""
    names = {name: e.ColumnRef(column) for name, column in called.items()}
    operand = "" if measure.operand is None else repr(e.substitute(measure.operand, names))
    return f"{measure.kind.value}|{operand}|{measure.step}|{measure.centre}|{measure.grain}"


_ADDITIVE = frozenset({Kind.ROWS, Kind.PRESENT, Kind.SUM, Kind.CENTRED, Kind.SQUARES})
"""Kinds whose values over disjoint boxes add up to that over both."""


def paid_values_from(
    question: Question, noisy: Noisy, laws: Mapping[str, Law]
) -> tuple[PaidValue, ...]:
    """Return the reusable numbers of an answer."""
    cells = cells_of(question) if laws else None
    if cells is None:
        return ()
    return tuple(
        PaidValue(cells.table, said, box, value, laws[name])
        for name, measure in question.measured.measures
        if measure.kind in _ADDITIVE
        for said in (signature(measure, cells.called),)
        for box, value in zip(cells.boxes, noisy.measures[name], strict=True)
    )
