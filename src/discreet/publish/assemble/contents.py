"""The contents of a package, from a plan, its measurements and what was reconciled from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import Any

import numpy as np

from discreet.core.arrays import Integers
from discreet.core.event import PrivacyEvent
from discreet.errors import InternalError
from discreet.kernel.mechanism import Law
from discreet.publish.assemble.agreements import Mappings, agreements_of, side_among
from discreet.publish.assemble.rows import GridRows, Layout
from discreet.publish.contents import (
    Contents,
    Fact,
    KeyFilter,
    MeasureColumn,
    Measurement,
    PriceEvent,
    PublishedKey,
    PublishedTable,
    ZeroRule,
)
from discreet.publish.facts import PlacedFact, held_pieces
from discreet.publish.families.bound import BoundCondition
from discreet.publish.families.find import Family, Member, ShownKey
from discreet.publish.notices import notices_of
from discreet.publish.prepare import PlannedRelease
from discreet.publish.price.shares import MeasureShare
from discreet.publish.reconcile.solve import PublishedNumbers

BADLY = (
    "cells that are small beside their interval, differences of two such cells, and anything that was "
    "not published: columns, years and places that no table shows"
)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredFamily:
    """What came of a release: noisy cells and reconciled ones by (family, place), exact facts."""

    noisy: Mapping[tuple[int, int], Integers]
    reconciled: Mapping[tuple[int, int], PublishedNumbers]
    facts: Mapping[tuple[int, int], Integers]


def contents_of(
    plan: PlannedRelease,
    measured: MeasuredFamily,
    *,
    ledger: Mapping[str, Any],
    created: str,
    private: bool,
) -> Contents:
    """Return everything that the package of a release says."""
    mappings = Mappings({})
    agreements = [each for f in plan.families for each in agreements_of(f, mappings)]
    facts = tuple(_fact(plan, placed, measured, mappings) for placed in plan.facts)
    cost = plan.priced.quote.cost
    unit = next(t.unit for t in plan.dataset.tables if t.unit is not None)
    return Contents(
        name=plan.spec.name,
        dataset=plan.dataset.name,
        unit=str(unit),
        neighbours=plan.dataset.neighbours.value,
        epsilon=plan.spec.epsilon.value,
        delta=plan.spec.delta.value,
        rho=cost.rho,
        events=tuple(
            _event(each, law, event)
            for each, law, event in zip(
                plan.wanted, plan.priced.laws, plan.priced.events, strict=True
            )
        ),
        tables=tuple(_tables(plan, measured)),
        measurements=tuple(_measurements(plan, measured)),
        ledger=ledger,
        created=created,
        snapshot=plan.snapshot,
        spec=plan.spec.text,
        mappings=tuple(mappings.found.values()),
        agreements=tuple(agreements),
        facts=facts,
        rules=tuple(_rules(plan)),
        well=tuple(_well(plan)),
        badly=(BADLY,),
        warnings=notices_of(plan),
        private=private,
    )


def _event(wanted: MeasureShare, law: Law, event: PrivacyEvent) -> PriceEvent:
    """Return what is written of one noisy vector; read again, it has the very price that was paid."""
    found = PriceEvent(
        measurement=wanted.member.name,
        law=law.name,
        scale=law.size,
        sensitivity=Fraction(wanted.length),
        cells=wanted.member.cells,
        coordinates=wanted.read.read.stability.coordinates if law.concentrated else None,
    )
    if found.event != event:
        raise InternalError("what a release says of its noise is not what was paid for")
    return found


def _tables(plan: PlannedRelease, measured: MeasuredFamily) -> list[PublishedTable]:
    wanted = {(w.member.table.name, w.member.measure.name): w for w in plan.wanted}
    return [
        _table(plan, [wanted[table.name, each.name] for each in table.measures], measured)
        for table in plan.bound.tables
    ]


def _table(
    plan: PlannedRelease, wanted: Sequence[MeasureShare], measured: MeasuredFamily
) -> PublishedTable:
    first = wanted[0].member
    numbers: dict[str, Integers] = {}
    measures = []
    for each in wanted:
        number, member = each.family, each.member
        result, name = measured.reconciled[number, each.place], member.measure.name
        for end, cells in (("", result.whole), ("_low", result.low), ("_high", result.high)):
            numbers[f"{name}{end}"] = _like(cells, member, first)
        measures.append(
            MeasureColumn(
                name, _meaning(member), plan.steps[number], non_negative=plan.non_negative[number]
            )
        )
    rows = GridRows(Layout(first), numbers)
    return PublishedTable(first.table.name, first.table.sql, _keys(first), tuple(measures), rows)


def _like(cells: Integers, member: Member, first: Member) -> Integers:
    """Return the cells of one measure laid out as those of the table's first one.

    Two measures of a table may be of families whose dimensions come in another order.
    """
    if member is first:
        return cells
    flat = Layout(member).flat(cells)
    found = np.empty(first.cells, dtype=np.int64)
    found[Layout(first).flat(np.arange(first.cells).reshape(first.shape))] = flat
    return found.reshape(first.shape)


def _meaning(member: Member) -> str:
    aggregate = member.measure.aggregate
    return "number of rows" if aggregate.operand is None else aggregate.function.value.lower()


def _keys(member: Member) -> tuple[PublishedKey, ...]:
    """Return the grouped columns of a member, where each comes from, and all of their values."""
    table, bases = member.table.table.name, {key.name: key.base for key in member.table.keys}
    found = []
    for key in member.keys:
        base = bases[key.name]
        made = "" if key.name.lower() == base.lower() else "made of "
        found.append(PublishedKey(key.name, f"{made}'{base}' of {table}", tuple(key.labels)))
    return tuple(found)


def _measurements(plan: PlannedRelease, measured: MeasuredFamily) -> list[Measurement]:
    found = []
    for each, law in zip(plan.wanted, plan.priced.laws, strict=True):
        member = each.member
        noisy = {"value": measured.noisy[each.family, each.place]}
        rows = GridRows(Layout(member), noisy, {"scale": law.scale_shown})
        found.append(Measurement(member.name, member.table.name, member.measure.name, rows))
    return found


def _fact(
    plan: PlannedRelease, placed: PlacedFact, measured: MeasuredFamily, mappings: Mappings
) -> Fact:
    side = side_among(plan.families[placed.family].members, placed.member, mappings)
    if side is None:
        raise InternalError("a fact that no table shows was not refused")
    values = {"value": measured.facts[placed.family, placed.place]}
    return Fact(
        name=placed.member.name.replace(".", "-"),
        side=side,
        rows=GridRows(Layout(placed.member), values),
        source="data" if placed.spec.file is None else "file",
        reason=placed.spec.reason,
        approver=placed.spec.approver or None,
    )


def _rules(plan: PlannedRelease) -> list[ZeroRule]:
    """Return every rule as labels of its table's own keys."""
    found = []
    for rule in plan.bound.rules:
        for family in plan.families:
            for member in family.members:
                if member.table.name == rule.table:
                    groups = _rule_labels(family, member, rule.conditions)
                    if groups:
                        found.append(
                            ZeroRule(rule.text, member.table.name, member.measure.name, groups)
                        )
    return found


def _rule_labels(
    family: Family, member: Member, conditions: Sequence[BoundCondition]
) -> tuple[tuple[KeyFilter, ...], ...]:
    """Return groups of labels that together are the cells of a rule, none where it has no cell."""
    found: list[list[tuple[KeyFilter, ...]]] = []
    for axis, dimension in enumerate(family.dimensions):
        if all(condition.base != dimension.base for condition in conditions):
            continue
        held = held_pieces(dimension, conditions)
        classes = np.append(member.maps[axis], -1)[dimension.leaf]
        inside = np.unique(classes[held & (classes >= 0)])
        found.append(_axis_labels([key for key in member.keys if key.dimension == axis], inside))
    return tuple(tuple(chain(*each)) for each in product(*found)) if found else ()


def _axis_labels(keys: Sequence[ShownKey], inside: Integers) -> list[tuple[KeyFilter, ...]]:
    """Return the labels of some classes of one dimension; several keys of it only as they occur.

    Two cuts of one column are not free of each other: 0-39 with 60-120 is no cell at all, and a rule
    about 0-39 or 60-120 is not about 40-79 with 0-59.
    """
    *others, last = keys
    held: dict[tuple[str, ...], set[str]] = {}
    for code in inside:
        before = tuple(key.labels[key.codes[code]] for key in others)
        held.setdefault(before, set()).add(last.labels[last.codes[code]])
    return [
        (
            *(KeyFilter(key.name, (label,)) for key, label in zip(others, before, strict=True)),
            KeyFilter(last.name, tuple(sorted(labels))),
        )
        for before, labels in held.items()
    ]


def _well(plan: PlannedRelease) -> list[str]:
    found = []
    for each, law in zip(plan.wanted, plan.priced.laws, strict=True):
        half = 2 * math.sqrt(law.variance) * float(plan.steps[each.family])
        found.append(
            f"numbers of '{each.member.name}' much larger than {half:,.3g}: the noise of each cell "
            "stays below that 19 times in 20"
        )
    return found
