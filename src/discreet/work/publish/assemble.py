"""The contents of a package, from exact groups: noise, reconciled numbers, rows, agreements, facts, rules, sentences.

Everything that passes through the contents may be shown to anyone. A release counts its groups in the
engine, a rehearsal makes them up; every step after that is the same function, down to `contents_of` and
`write_package`, so that a shape of release on which one of them fails is found by a rehearsal, before any
charge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Integers
from discreet.base.display import Progress, silent
from discreet.base.event import PrivacyEvent
from discreet.errors import InternalError
from discreet.privacy.kernel.mechanism import Law
from discreet.privacy.noise.rng import Rng
from discreet.work.publish.bound_tables import BoundCondition
from discreet.work.publish.contents import (
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
from discreet.work.publish.facts import PlacedFact, held_pieces
from discreet.work.publish.families import Family, Member, ShownKey
from discreet.work.publish.measure import CellRead, ExactCells, member_cells, noisy_cells
from discreet.work.publish.prepare import (
    Mappings,
    PlannedRelease,
    agreements_of,
    notices_of,
    reconciled_family,
    side_among,
)
from discreet.work.publish.price import MeasureShare
from discreet.work.publish.reconcile.problem import narrowed
from discreet.work.publish.reconcile.solve import PublishedNumbers, Reconciled

PIECE = 1 << 18
"""Rows that are made at once."""


class Layout:
    """The order of a member's cells in its published table: first key slowest."""

    def __init__(self, member: Member) -> None:
        self.member = member
        first = [key.dimension for key in member.keys]
        self._axes = list(dict.fromkeys(first))
        self._axes += [axis for axis in range(len(member.shape)) if axis not in self._axes]
        self._shape = [member.shape[axis] for axis in self._axes]
        adjacent = [d for d, e in zip([-1, *first], first, strict=False) if d != e]
        self._order: Integers | None = None
        if len(adjacent) != len(set(first)):
            # Two keys of one dimension with another between them: no order of axes will do.
            every = np.arange(member.cells)
            codes = [self._codes(place, every) for place in range(len(member.keys))]
            self._order = np.lexsort(codes[::-1])

    def flat(self, cells: Integers) -> Integers:
        """Return numbers in the order of the rows."""
        found = np.transpose(cells, self._axes).reshape(-1)
        return found if self._order is None else found[self._order]

    def _codes(self, place: int, rows: Integers) -> Integers:
        """Return the labels of some rows, by their place before any sorting."""
        key = self.member.keys[place]
        axis = self._axes.index(key.dimension)
        behind = int(np.prod(self._shape[axis + 1 :], dtype=np.int64))
        found: Integers = key.codes[(rows // behind) % self._shape[axis]]
        return found

    def key(self, place: int, start: int = 0, end: int | None = None) -> pa.DictionaryArray:
        """Return one key of the rows from `start` to before `end`, or to the last one."""
        last = self.member.cells if end is None else end
        rows = np.arange(start, last) if self._order is None else self._order[start:last]
        codes = pa.array(self._codes(place, rows).astype(np.int32))
        labels = pa.array(self.member.keys[place].labels, pa.string())
        return pa.DictionaryArray.from_arrays(codes, labels)


class GridRows:
    """Rows of a member: its keys, columns of whole numbers, and numbers that are the same in all rows.

    A table may have millions of rows: only its numbers are held, keys are written as rows are asked
    for. See `discreet.work.publish.contents.Rows`.
    """

    def __init__(
        self,
        layout: Layout,
        numbers: Mapping[str, Integers],
        constants: Mapping[str, float] | None = None,
    ) -> None:
        self._layout = layout
        self._numbers = dict(numbers)
        self._constants = dict(constants or {})
        self._names = [key.name for key in layout.member.keys]
        if {*self._numbers, *self._constants} & {*self._names}:
            raise InternalError("a number of a table has the name of a key")

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return self._layout.member.cells

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._piece(0, 0).schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows in their order, in pieces."""
        flat = {name: self._layout.flat(cells) for name, cells in self._numbers.items()}
        for start in range(0, self.num_rows, PIECE):
            yield self._piece(start, min(start + PIECE, self.num_rows), flat)

    def _piece(
        self, start: int, end: int, flat: Mapping[str, Integers] | None = None
    ) -> pa.RecordBatch:
        columns: dict[str, pa.Array] = {
            name: self._layout.key(place, start, end) for place, name in enumerate(self._names)
        }
        for name in self._numbers:
            part = np.zeros(0, dtype=np.int64) if flat is None else flat[name][start:end]
            columns[name] = pa.array(np.ascontiguousarray(part), pa.int64())
        same = pa.array(np.zeros(end - start, dtype=np.int8))
        for name, value in self._constants.items():
            columns[name] = pa.DictionaryArray.from_arrays(same, pa.array([value]))
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


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


MemberPlace = tuple[int, int]
"""A family of the plan, and a table or fact in it."""

GroupsOf = Callable[[int, CellRead], ExactCells]
"""Returns the exact groups of a read of one family: counted, or made up."""


def noisy_tables(
    plan: PlannedRelease,
    families: Iterable[int],
    groups: GroupsOf,
    *,
    rng: Rng,
    progress: Progress = silent,
) -> dict[MemberPlace, Integers]:
    """Return the noisy cells of every table of these families."""
    wanted = set(families)
    found: dict[MemberPlace, Integers] = {}
    held: dict[int, ExactCells] = {}
    for each, law in zip(plan.wanted, plan.priced.laws, strict=True):
        if each.family not in wanted:
            continue
        progress(1, 4, f"counting {each.member.name}")
        if id(each.read) not in held:
            # One read in memory at a time: tables of one read come one after the other.
            held.clear()
            held[id(each.read)] = groups(each.family, each.read)
        family = plan.families[each.family]
        cells = member_cells(held[id(each.read)], each.read, family, each.member)
        found[each.family, each.place] = narrowed(noisy_cells(cells, law, rng))
        del cells
    return found


def exact_facts(
    plan: PlannedRelease,
    families: Iterable[int],
    groups: GroupsOf,
    *,
    published: Mapping[MemberPlace, Integers],
) -> dict[MemberPlace, Integers]:
    """Return the values of every fact of these families: `published` ones as they are."""
    wanted, found = set(families), dict(published)
    for fact in plan.facts:
        place = fact.family, fact.place
        if fact.family in wanted and place not in found:
            family = plan.families[fact.family]
            read = plan.reads[fact.family, len(family.members) + fact.place]
            found[place] = member_cells(groups(fact.family, read), read, family, fact.member)
    return found


def reconciled_tables(
    plan: PlannedRelease,
    families: Iterable[int],
    noisy: Mapping[MemberPlace, Integers],
    facts: Mapping[MemberPlace, Integers],
) -> Iterator[tuple[MemberPlace, Reconciled]]:
    """Yield every table of these families as it is published, from measurements alone."""
    for number in families:
        family = plan.families[number]
        measured = [noisy[number, place] for place in range(len(family.members))]
        known = [facts[number, place] for place in range(len(family.facts))]
        for place, result in enumerate(reconciled_family(plan, number, measured, known)):
            yield (number, place), result


def reconciled(
    plan: PlannedRelease,
    noisy: Mapping[MemberPlace, Integers],
    facts: Mapping[MemberPlace, Integers],
) -> MeasuredFamily:
    """Return everything that is published, from measurements alone: post-processing."""
    everything = reconciled_tables(plan, range(len(plan.families)), noisy, facts)
    return MeasuredFamily(noisy, {place: result.published for place, result in everything}, facts)
