"""synthesize_linked(): one charge, then a model for each table, people first, children after."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.engine.base import Held
from discreet.ledger.entry import Receipt
from discreet.release.assembled import charge_bill
from discreet.release.desk import Desk
from discreet.release.outcome import once
from discreet.release.snapshots import hold_tables
from discreet.synth.budget import noise_of
from discreet.synth.encoding.columns import Encoding
from discreet.synth.encoding.copy_style import source_style
from discreet.synth.encoding.shape import Codes
from discreet.synth.linked.counted_rows import at_most, rows_worth_counting
from discreet.synth.linked.event_drawing import EventModel
from discreet.synth.linked.event_rows import event_columns, seal_first, seal_later
from discreet.synth.linked.joined_rows import LinkedColumns, columns_of, seal_linked
from discreet.synth.linked.linked_copy import LinkedSynthetic
from discreet.synth.linked.linked_model import (
    DrawnRows,
    LinkedModel,
    LinkedPart,
    draw_rows,
    expanded,
    known_codes,
    linked_tables,
    pack_linked,
    unpack_linked,
)
from discreet.synth.linked.prepare import (
    PreparedLinked,
    declared_rows,
    linked_dataset,
    prepare_linked,
)
from discreet.synth.linked.table_tree import LinkedTable, tree_of
from discreet.synth.measure.learned_domains import Learned, Means, learn
from discreet.synth.measure.private_marginals import MarginalBudget, PrivateMarginals, Unit
from discreet.synth.measure.sealing import SealedCodes
from discreet.synth.measure.sql_counter import store_codes
from discreet.synth.methods import adaptive, automatic
from discreet.synth.methods.given_rows import GivenRows
from discreet.synth.model_file import Saved, with_facts
from discreet.synth.models.drawing import draw
from discreet.synth.progress import Progress, silent
from discreet.synth.request import SynthRequest
from discreet.synth.synthetic import codes_of
from discreet.synth.trusted_fit import TrustedFit, fit_trusted


def synthesize_linked(
    request: SynthRequest, desk: Desk, *, progress: Progress = silent
) -> LinkedSynthetic:
    """Return a copy of all linked tables of a dataset, charged before any row is read.

    Guarantee: one charge pays for all tables; each has a fixed part of it, and the parts add up to 1.
        Of every table the kernel reads off the SQL how many rows of one person count, the joins to
        parents and the numbers of children included, and the noise is for that. The charge is
        durable before the engine runs; the models are stored before anybody hears of them (`once`).
        (docs/notes/0051)
    """
    started = time.monotonic()
    tree = tree_of(linked_dataset(desk.catalog, request))
    tables = [(tree.dataset, each.table) for each in tree.tables]
    with hold_tables(tables, desk) as held:
        ready = prepare_linked(request, tree, desk, held=held)
        receipt = desk.ledger.charge(
            ready.payer,
            ready.funds.quote,
            request_id=request.request_id,
            body=f"linked {request.body}",
            note=f"synthetic copy of {len(tree.tables)} linked tables of {tree.dataset.name}",
            snapshot=ready.snapshot,
        )
        means = _Paid(desk, held, receipt)
        stored = once(desk.ledger, receipt, lambda: pack_linked(_fitted(ready, means, progress)))
    return _finished(ready, unpack_linked(stored), receipt, started)


@dataclass(frozen=True, slots=True)
class _Paid:
    """What fitting works with, after the charge."""

    desk: Desk
    held: Held
    receipt: Receipt


def _fitted(ready: PreparedLinked, paid: _Paid, progress: Progress) -> LinkedModel:
    tree, steps = ready.tree, len(ready.tree.tables) + 1
    progress(0, steps, "reading the tables")
    learned = _learned(ready, paid, progress)
    encodings = {name: each.encoding for name, each in learned.items()}
    notices = [*ready.notices]
    for name, outline in ready.outlines.items():
        said = (*outline.notices, *learned[name].notices)
        notices += [f"{name}: {each}" for each in said]
    parts: list[LinkedPart] = []
    drawn: dict[str, DrawnRows] = {}
    for step, node in enumerate(tree.tables):
        progress(step, steps, f"table {node.name}")
        fitted = _fit_table(_Place(ready, paid, encodings, drawn, tuple(parts)), node)
        parts.append(fitted.part)
        drawn[node.name] = fitted.rows
        notices += [f"{node.name}: {each}" for each in fitted.words]
    progress(steps, steps, "done")
    private = bool(getattr(paid.desk.rng, "private", True))
    styles = {node.name: source_style(paid.desk.catalog, node.table) for node in tree.tables}
    return LinkedModel(tuple(parts), {"notices": notices, "private": private, "csv": styles})


def _learned(ready: PreparedLinked, paid: _Paid, progress: Progress) -> dict[str, Learned]:
    """Return every table's encoding; tables with something to learn share that part evenly."""
    funds = ready.funds
    many = sum(bool(each.ranges or each.words) for each in ready.outlines.values())
    words = sum(len(each.words) for each in ready.outlines.values())
    found = {}
    for name, outline in ready.outlines.items():
        purse = funds.learning.part(Fraction(1, max(many, 1)))
        risk = funds.threshold_delta * len(outline.words) / max(words, 1)
        means = Means(
            paid.desk.engine, paid.held, paid.receipt, purse, risk, ready.source, paid.desk.rng
        )
        found[name] = learn(outline, means, lambda what: progress(0, 1, what), stems=True)
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a table's turn finds the others: encodings of all, models and rows of those above."""

    ready: PreparedLinked
    paid: _Paid
    encodings: Mapping[str, Encoding]
    drawn: Mapping[str, DrawnRows]
    parts: tuple[LinkedPart, ...]


@dataclass(frozen=True, slots=True)
class _FittedTable:
    """The model of one table, made-up rows for its children to hang on, and notices."""

    part: LinkedPart
    rows: DrawnRows
    words: tuple[str, ...]


def _fit_table(place: _Place, node: LinkedTable) -> _FittedTable:
    columns = columns_of(node, place.ready.tree, place.encodings)
    if node.parent is None:
        return _fit_root(place, node, columns)
    return _fit_below(place, node, columns)


def _door(place: _Place, codes: SealedCodes, purse: MarginalBudget) -> PrivateMarginals:
    """Return the door to sealed codes of one table, with its part of the budget."""
    ready, paid = place.ready, place.paid
    ready.source.check(codes.source)
    counter = store_codes(paid.held, codes, permit=paid.receipt)
    return PrivateMarginals(counter, codes.shape, purse, codes.unit, paid.desk.rng)


def _purse(place: _Place, node: LinkedTable, part: Fraction = Fraction(1)) -> MarginalBudget:
    return place.ready.funds.fitting.part(place.ready.shares[node.name] * part)


FIRST = Fraction(2, 5)
"""The part of an event table's budget that goes to the first rows of parents; the rest to later ones."""

_DICE = 0
"""Seed of the made-up rows that children are fitted to: no guarantee hangs on it."""


def _fit_root(place: _Place, node: LinkedTable, columns: LinkedColumns) -> _FittedTable:
    door = _door(
        place, seal_linked(node, place.ready.tree, columns, 1, place.paid.desk), _purse(place, node)
    )
    trusted = fit_trusted(door, "auto", lambda: automatic.fit(door))
    part = _part(place, node, columns, trusted)
    dice = np.random.default_rng(_DICE)  # no guarantee hangs on these dice
    rows = max(1, round(trusted.model.total))
    found = draw(trusted.model, part.saved.encoding, rows, dice=dice)
    own = codes_of(found.places, part.saved.encoding)
    return _FittedTable(
        part, DrawnRows(own, found.places, np.arange(rows), np.arange(rows)), trusted.words
    )


def _fit_below(place: _Place, node: LinkedTable, columns: LinkedColumns) -> _FittedTable:
    above = next(each for each in place.parts if each.name == node.parent)
    parents = place.drawn[above.name]
    which = expanded(node.name, above, parents)
    known = known_codes(above, parents, which)
    people = parents.people[which]
    dice = np.random.default_rng(_DICE)  # no guarantee hangs on these dice
    if node.table.events is None:
        purse = _purse(place, node)
        most = _worth_counting(people, node, purse)
        door = _door(
            place, seal_linked(node, place.ready.tree, columns, most, place.paid.desk), purse
        )
        trusted = _fit_to(door, known[at_most(people, most, dice)])
        part, words = _part(place, node, columns, trusted), trusted.words
    else:
        part, words = _fit_events(place, node, columns, (known, which, people))
    # Without rules, which are the copy's: one that nothing satisfies must not break a fit.
    free = replace(part, saved=replace(part.saved, rules=()))
    drawn = DrawnRows(*draw_rows(free, known, which, dice=dice), which, people)
    return _FittedTable(part, drawn, words)


def _worth_counting(people: np.ndarray, node: LinkedTable, purse: MarginalBudget) -> int:
    return rows_worth_counting(people, declared_rows(node), noise_of(purse, Unit()))


def _fit_to(door: PrivateMarginals, known: Codes, before: int = 0) -> TrustedFit:
    """Return the model of rows whose last columns are known; of `before` others nothing is drawn."""
    first = door.shape.width - known.shape[1]
    given = GivenRows(tuple(range(first, door.shape.width)), known, door.shape)
    others = tuple(range(first - before, first))
    return fit_trusted(door, "adaptive", lambda: adaptive.fit_given(door, given, before=others))


def _fit_events(
    place: _Place,
    node: LinkedTable,
    columns: LinkedColumns,
    rows: tuple[Codes, np.ndarray, np.ndarray],
) -> tuple[LinkedPart, tuple[str, ...]]:
    """Return the models of first and of later rows, each for its part of the table's budget."""
    known, which, people = rows
    split = event_columns(node, columns)
    dice = np.random.default_rng(_DICE)  # no guarantee hangs on these dice
    starts = np.r_[True, which[1:] != which[:-1]][: which.size]
    found: list[TrustedFit] = []
    for seal, share, mine in (
        (seal_first, FIRST, starts),
        (seal_later, 1 - FIRST, ~starts),
    ):
        purse = _purse(place, node, share)
        most = _worth_counting(people[mine], node, purse)
        codes = seal(node, place.ready.tree, split, most, place.paid.desk)
        door = _door(place, codes, purse)
        counted = known[mine][at_most(people[mine], most, dice)]
        found.append(_fit_to(door, counted, len(split.first.own) if found else 0))
    first, later = found
    chance = min(each.agreement.chance for each in found)
    encoding = Encoding(node.name, split.later.every)
    facts = {"method": "auto", "notices": [], "agreement": chance}
    saved = Saved(encoding, later.model, later.measured, (), facts)
    events = EventModel(split.place, len(split.first.own), saved)
    part = _part(place, node, columns, first)
    part = replace(part, saved=with_facts(part.saved, agreement=chance), events=events)
    return part, (*first.words, *later.words)


def _part(
    place: _Place, node: LinkedTable, columns: LinkedColumns, trusted: TrustedFit
) -> LinkedPart:
    facts = {"method": "auto", "notices": [], "agreement": trusted.agreement.chance}
    rules = node.table.rules
    encoding = Encoding(node.name, columns.every)
    return LinkedPart(
        node.name,
        node.parent,
        node.unit,
        node.key,
        node.children,
        len(columns.own),
        len(columns.above),
        place.encodings[node.name],
        Saved(encoding, trusted.model, trusted.measured, rules, facts),
    )


def _finished(
    ready: PreparedLinked, model: LinkedModel, receipt: Receipt, started: float
) -> LinkedSynthetic:
    tables = linked_tables(model, ready.request.rows)
    return LinkedSynthetic(
        model=model,
        tables=tables,
        **charge_bill(receipt),
        request_id=ready.request.request_id,
        notices=tuple(model.facts["notices"]),
        seconds=time.monotonic() - started,
    )
