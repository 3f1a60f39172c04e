"""synthesize_linked(): a plan from public facts, one charge, then a model for each table, people first, children after."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from discreet.ask.release.desk import Desk
from discreet.ask.release.paid import paid
from discreet.ask.release.snapshots import hold_tables, label, snapshots_of
from discreet.base.display import Progress, silent
from discreet.base.schema import Dataset
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.base import Held, PaidReader
from discreet.errors import InvalidInput
from discreet.measure.budget import SynthBudget, check_epsilon_useful, noise_of
from discreet.measure.columns import Coded, Encoding, Outline
from discreet.measure.decoding import source_style
from discreet.measure.learned_domains import LearningContext, learn
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.measure.sealing import SealedCodes, SealedSource, store_codes
from discreet.measure.shape import Codes
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import Payer
from discreet.privacy.ledger.reports import exposure_note
from discreet.work.synth.linked_model import (
    DrawnRows,
    EventModel,
    LinkedModel,
    LinkedPart,
    LinkedSynthetic,
    at_most,
    draw_people,
    draw_rows,
    expanded,
    known_codes,
    linked_tables,
    pack_linked,
    rows_worth_counting,
    unpack_linked,
)
from discreet.work.synth.linked_rows import (
    LinkedColumns,
    LinkedTable,
    TableTree,
    columns_of,
    event_columns,
    seal_first,
    seal_later,
    seal_linked,
    tree_of,
)
from discreet.work.synth.methods import adaptive, automatic
from discreet.work.synth.methods.adaptive import GivenRows
from discreet.work.synth.model_file import Saved, with_facts
from discreet.work.synth.prepare import (
    SynthRequest,
    checked_outline,
    copy_budget,
    delta_of,
    preview_of,
)
from discreet.work.synth.rules import read_rules
from discreet.work.synth.selection import TrustedFit, fit_trusted


@dataclass(frozen=True, slots=True)
class PreparedLinked:
    """A planned linked synthesis: tables, treatment of columns, price. Nothing was read."""

    request: SynthRequest
    tree: TableTree
    outlines: Mapping[str, Outline]
    budget: SynthBudget
    shares: Mapping[str, Fraction]
    source: SealedSource
    payer: Payer
    snapshot: str
    notices: tuple[str, ...]


def linked_dataset(catalog: Catalog, request: SynthRequest) -> Dataset:
    """Return the dataset that is meant; refuse what a linked copy does not take."""
    found = catalog.datasets.get(request.table)
    if found is None:
        raise InvalidInput(f"There is no dataset '{request.table}'.")
    if request.method not in {"auto", "adaptive"} or request.choose or request.options:
        raise InvalidInput(
            "Linked tables are copied by the method auto, without settings.",
            hint="Copy a single table for other methods.",
        )
    if request.where is not None or request.rules:
        raise InvalidInput("A linked copy takes no condition; rules stand in discreet.toml.")
    return found


def prepare_linked(
    request: SynthRequest, tree: TableTree, desk: Desk, *, held: Held
) -> PreparedLinked:
    """Return the plan and the price of a linked synthesis. Depends on public facts only."""
    dataset = tree.dataset
    delta = delta_of(request, dataset, desk)
    outlines = {
        node.name: checked_outline(dataset, node.table, request, delta, desk, many=True)
        for node in tree.tables
    }
    previews = {name: preview_of(outline) for name, outline in outlines.items()}
    for node in tree.tables:
        _check_rules(node, previews[node.name])
    sealed = []
    for node in tree.tables:
        columns, most = columns_of(node, tree, previews), declared_rows(node)
        sealed.append(seal_linked(node, tree, columns, most, desk))
        if node.table.events is not None:
            _check_events(node, outlines[node.name])
            split = event_columns(node, columns)
            for seal in (seal_first, seal_later):
                found = seal(node, tree, split, most, desk)
                sealed[0].source.check(found.source)
    for each in sealed:
        sealed[0].source.check(each.source)
    numbers: dict[str, str] = {}
    for outline in outlines.values():
        numbers |= snapshots_of(outline.scan, held)
    region = sealed[0].source.region(numbers)
    budget = copy_budget(request.epsilon, delta, [*outlines.values()], region)
    worst = max((each.unit for each in sealed), key=lambda unit: unit.l1)
    check_epsilon_useful(budget, worst, request.epsilon)
    said = exposure_note(desk.ledger, dataset.name)
    return PreparedLinked(
        request=request,
        tree=tree,
        outlines=outlines,
        budget=budget,
        shares=_shares(tree, sealed),
        source=sealed[0].source,
        payer=Payer(request.analyst, dataset.name, dataset.budget),
        snapshot=f"synth {label(numbers)}",
        notices=() if said is None else (said,),
    )


def _check_rules(node: LinkedTable, preview: Encoding) -> None:
    """Refuse rules that cannot be read, or that would move the days of events."""
    own = Encoding(node.name, preview.coded)
    decided = read_rules(node.table.rules, own).decided
    if node.table.events in {own.coded[column].name for column in decided}:
        raise InvalidInput(
            f"A rule of '{node.name}' decides '{node.table.events}', by which its events are ordered.",
            hint="Drop the rule, or events.",
        )


def _check_events(node: LinkedTable, outline: Outline) -> None:
    """Refuse events whose day is not read, or whose range would have to be learned."""
    if node.parent is None:
        raise InvalidInput(
            f"Table '{node.name}' has one row for each person: nothing follows it.",
            hint="Declare events in a table below it.",
        )
    names = {item.name for item in outline.items if isinstance(item, Coded)}
    if node.table.events not in names:
        raise InvalidInput(
            f"The events of '{node.name}' cannot be put in order: analysts cannot ask about their "
            "day, or its range is too wide.",
            hint="Let the column that 'events' names be a date, not hidden, whose first and last day "
            "are less than 150 years apart.",
        )


def _shares(tree: TableTree, sealed: list[SealedCodes]) -> dict[str, Fraction]:
    """Return each table's part of the budget: more where more rows of a person count.

    The noise of a table goes with the rows of a person, so equal parts would drown the children;
    parts in proportion to the root are the usual compromise (`singles.by_root`).
    """
    weights = [math.isqrt(math.isqrt(each.unit.rows * 10**8)) for each in sealed]
    return {
        node.name: Fraction(weight, sum(weights))
        for node, weight in zip(tree.tables, weights, strict=True)
    }


def declared_rows(node: LinkedTable) -> int:
    """Return how many rows of a person count at most, as declared."""
    assert node.table.max_rows is not None, "checked when the tree was made"
    return node.table.max_rows


FIRST = Fraction(2, 5)
"""The part of an event table's budget that goes to the first rows of parents; the rest to later ones."""

_DICE = 0
"""Seed of the made-up rows that children are fitted to: no guarantee hangs on it."""


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
        charge = Charge(
            ready.budget.quote,
            request.request_id,
            f"linked {request.body}",
            note=f"synthetic copy of {len(tree.tables)} linked tables of {tree.dataset.name}",
            snapshot=ready.snapshot,
        )
        receipt, stored = paid(
            ready.payer,
            charge,
            lambda reader, _: pack_linked(_Fitting(ready, desk, reader).model(progress)),
            held=held,
            ledger=desk.ledger,
        )
    model = unpack_linked(stored)
    return LinkedSynthetic(
        model=model,
        tables=linked_tables(model, request.rows),
        bill=receipt.bill,
        request_id=request.request_id,
        notices=tuple(model.facts["notices"]),
        seconds=time.monotonic() - started,
    )


@dataclass(frozen=True, slots=True)
class _Fitting:
    """What fitting works with after the charge; encodings of all tables, models and rows of those done."""

    ready: PreparedLinked
    desk: Desk
    reader: PaidReader
    encodings: dict[str, Encoding] = field(default_factory=dict)
    parts: dict[str, LinkedPart] = field(default_factory=dict)
    drawn: dict[str, DrawnRows] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def model(self, progress: Progress) -> LinkedModel:
        """Return the models of all tables, parents first."""
        tree, steps = self.ready.tree, len(self.ready.tree.tables) + 1
        progress(0, steps, "reading the tables")
        self.notices.extend(self.ready.notices)
        self._learn(progress)
        for step, node in enumerate(tree.tables):
            progress(step, steps, f"table {node.name}")
            columns = columns_of(node, tree, self.encodings)
            words = (self._root if node.parent is None else self._below)(node, columns)
            self.notices.extend(f"{node.name}: {each}" for each in words)
        progress(steps, steps, "done")
        private = bool(getattr(self.desk.rng, "private", True))
        styles = {node.name: source_style(self.desk.catalog, node.table) for node in tree.tables}
        facts = {"notices": self.notices, "private": private, "csv": styles}
        return LinkedModel(tuple(self.parts.values()), facts)

    def _learn(self, progress: Progress) -> None:
        """Learn every table's encoding; tables with something to learn share that part evenly."""
        budget, outlines = self.ready.budget, self.ready.outlines
        many = sum(bool(each.ranges or each.words) for each in outlines.values())
        words = sum(len(each.words) for each in outlines.values())
        part = budget.learning.part(Fraction(1, max(many, 1)))
        for name, outline in outlines.items():
            risk = budget.threshold_delta * len(outline.words) / max(words, 1)
            engine, rng = self.desk.engine, self.desk.rng
            context = LearningContext(engine, self.reader, part, risk, self.ready.source, rng)
            found = learn(outline, context, lambda what: progress(0, 1, what), stems=True)
            self.encodings[name] = found.encoding
            self.notices.extend(f"{name}: {each}" for each in (*outline.notices, *found.notices))

    def _marginals(self, codes: SealedCodes, budget: MarginalBudget) -> PrivateMarginals:
        """Return the private marginals of sealed codes of one table, with its part of the budget."""
        self.ready.source.check(codes.source)
        counter = store_codes(self.reader, codes)
        return PrivateMarginals(counter, codes.shape, budget, codes.unit, self.desk.rng)

    def _budget(self, node: LinkedTable, part: Fraction = Fraction(1)) -> MarginalBudget:
        return self.ready.budget.fitting.part(self.ready.shares[node.name] * part)

    def _root(self, node: LinkedTable, columns: LinkedColumns) -> tuple[str, ...]:
        """Fit the table of people, and draw some for their children to hang on; return notices."""
        codes = seal_linked(node, self.ready.tree, columns, 1, self.desk)
        marginals = self._marginals(codes, self._budget(node))
        trusted = fit_trusted(marginals, "auto", lambda: automatic.fit(marginals))
        part = self.parts[node.name] = self._part(node, columns, trusted)
        dice = np.random.default_rng(_DICE)  # no guarantee hangs on these dice
        rows = max(1, part.saved.usual_rows)
        self.drawn[node.name] = draw_people(_free(part).saved, rows, dice=dice)
        return trusted.words

    def _below(self, node: LinkedTable, columns: LinkedColumns) -> tuple[str, ...]:
        """Fit a table to the rows that its parents have, and draw those; return notices."""
        above = self.parts[str(node.parent)]
        parents = self.drawn[above.name]
        which = expanded(node.name, above, parents)
        known = known_codes(above, parents, which)
        people = parents.people[which]
        dice = np.random.default_rng(_DICE)  # no guarantee hangs on these dice
        if node.table.events is None:
            budget = self._budget(node)
            most = _worth_counting(people, node, budget)
            marginals = self._marginals(
                seal_linked(node, self.ready.tree, columns, most, self.desk), budget
            )
            trusted = _fit_to(marginals, known[at_most(people, most, dice)])
            part, words = self._part(node, columns, trusted), trusted.words
        else:
            part, words = self._events(node, columns, known, which, people)
        self.parts[node.name] = part
        rows = draw_rows(_free(part), known, which, dice=dice)
        self.drawn[node.name] = DrawnRows(*rows, which, people)
        return words

    def _events(
        self,
        node: LinkedTable,
        columns: LinkedColumns,
        known: Codes,
        which: np.ndarray,
        people: np.ndarray,
    ) -> tuple[LinkedPart, tuple[str, ...]]:
        """Return the models of first and of later rows, each for its part of the table's budget."""
        split = event_columns(node, columns)
        dice = np.random.default_rng(_DICE)  # no guarantee hangs on these dice
        starts = np.r_[True, which[1:] != which[:-1]][: which.size]
        found: list[TrustedFit] = []
        for seal, share, mine in (
            (seal_first, FIRST, starts),
            (seal_later, 1 - FIRST, ~starts),
        ):
            budget = self._budget(node, share)
            most = _worth_counting(people[mine], node, budget)
            marginals = self._marginals(seal(node, self.ready.tree, split, most, self.desk), budget)
            counted = known[mine][at_most(people[mine], most, dice)]
            found.append(_fit_to(marginals, counted, len(split.first.own) if found else 0))
        first, later = found
        chance = min(each.agreement.chance for each in found)
        saved = _saved(Encoding(node.name, split.later.every), later, (), chance)
        part = self._part(node, columns, first)
        part = replace(
            part,
            saved=with_facts(part.saved, agreement=chance),
            events=EventModel(split.place, len(split.first.own), saved),
        )
        return part, (*first.words, *later.words)

    def _part(self, node: LinkedTable, columns: LinkedColumns, trusted: TrustedFit) -> LinkedPart:
        encoding, chance = Encoding(node.name, columns.every), trusted.agreement.chance
        return LinkedPart(
            node.name,
            node.parent,
            node.unit,
            node.key,
            node.children,
            len(columns.own),
            len(columns.above),
            self.encodings[node.name],
            _saved(encoding, trusted, node.table.rules, chance),
        )


def _free(part: LinkedPart) -> LinkedPart:
    """Return a part without rules, which are the copy's: one that nothing satisfies must not break a fit."""
    return replace(part, saved=replace(part.saved, rules=()))


def _saved(
    encoding: Encoding, trusted: TrustedFit, rules: tuple[str, ...], agreement: float
) -> Saved:
    facts = {"method": "auto", "notices": [], "agreement": agreement}
    return Saved(encoding, trusted.model, trusted.measured, rules, facts)


def _worth_counting(people: np.ndarray, node: LinkedTable, budget: MarginalBudget) -> int:
    return rows_worth_counting(people, declared_rows(node), noise_of(budget, CountSensitivity()))


def _fit_to(marginals: PrivateMarginals, known: Codes, before: int = 0) -> TrustedFit:
    """Return the model of rows whose last columns are known; of `before` others nothing is drawn."""
    first = marginals.shape.width - known.shape[1]
    given = GivenRows(tuple(range(first, marginals.shape.width)), known, marginals.shape)
    others = tuple(range(first - before, first))
    return fit_trusted(
        marginals, "adaptive", lambda: adaptive.fit_given(marginals, given, before=others)
    )
