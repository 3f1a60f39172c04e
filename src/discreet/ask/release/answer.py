"""The answer as it is handed out: noisy values with their error bars, price, balance and provenance.

Noisy results become an answer by formulas, HAVING, ORDER BY and LIMIT, all of it post-processing; the plan's
mechanisms are described in plain words.

What already-paid answers imply is free of charge: the best linear unbiased estimate. Boxes are cut into atoms; a paid
number is a sum over atoms plus known noise. A wanted sum is implied if some combination of paid ones equals it on
every atom; among those, the one with the least noise variance is taken (generalised least squares).
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import product
from operator import itemgetter
from typing import Any

import numpy as np

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.ir import Order, Scan, Statement, scans_of
from discreet.ask.plan.measure import Choice
from discreet.ask.plan.plan import Plan, PrivateGroups, PublicGroups, Question
from discreet.ask.release.confidence_sets import as_float, linear_form, summed_half_width
from discreet.ask.release.desk import Request
from discreet.ask.release.error_bars import Bar, bar_of, drowned_notes, intervals
from discreet.ask.release.rows_left_out import RowsHistogram
from discreet.ask.release.sealing import Sealed
from discreet.ask.release.selection import (
    NO_CHOICES,
    UNKNOWN_CHOICE,
    Choices,
    NoiseSelection,
    chosen_in,
    group_loss,
    keys_are_chosen,
    largest_error,
    noisy_names,
    rank_errors,
    rank_loss,
    selected_before,
    selected_in,
    shown_groups_error,
)
from discreet.ask.release.stored_answers import Cells, PaidValue, cells_of, signature
from discreet.ask.sql.post_processing.steps import NO_STEPS, LaterSelection
from discreet.base.answer import REHEARSAL, Answer, Provenance
from discreet.base.answer_text import RankError, Ranks
from discreet.base.arrays import Floats
from discreet.base.bill import Bill
from discreet.base.event import Positions, Quote
from discreet.base.numbers import plain
from discreet.base.schema import Table
from discreet.privacy.kernel.look import Noisy
from discreet.privacy.kernel.mechanism import LargestGroup, Law, Selection
from discreet.privacy.ledger.entry import Balance, Payer, Receipt, bill_of, free_bill
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.noise.rng import Rng


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The finished rows, their error bars and the noise covariance within each row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    error95: tuple[tuple[float | None, ...], ...]
    intervals: tuple[tuple[tuple[float, float] | None, ...], ...]
    covariance: tuple[tuple[tuple[float, ...], ...], ...] | None
    noisy: tuple[int, ...]
    notes: tuple[str, ...] = ()
    ranks: Ranks = ()

    def parts(self) -> dict[str, Any]:
        """Return what it is made of but for its notes, under the names that an answer has for them."""
        return {
            part.name: getattr(self, part.name) for part in fields(self) if part.name != "notes"
        }


def finish(
    noisy: Noisy,
    question: Question,
    laws: Mapping[str, Law],
    later: LaterSelection = NO_STEPS,
    choices: Choices = NO_CHOICES,
) -> ResultTable:
    """Return the rows that the question's outputs, HAVING, ORDER BY and LIMIT make of `noisy`.

    `later`: how steps after it may select among its cells. `choices`: how the
    quantiles in it were chosen. What is made of one has no interval, whatever else it is made of.
    """
    outputs = question.outputs
    selected = selected_in(noisy, question, laws, later)
    chosen = [chosen_in(value, question) for _, value in outputs]
    bars = [
        bar_of(value, {} if names else laws, selected)
        for (_, value), names in zip(outputs, chosen, strict=True)
    ]
    shown_noise = [(*bar.measures, *names) for bar, names in zip(bars, chosen, strict=True)]
    rows = [row for _, row in arranged(noisy, question)]
    left_out = shown_groups_error(question, laws, selected)
    ranks = rank_errors(question, rows, choices, selected)
    if left_out is not None:
        ranks = tuple((left_out,) * len(outputs) for _ in rows)
    all_chosen = question.top or left_out is not None
    values = [[evaluate(value, row) for row in rows] for _, value in outputs]
    ends = [intervals(bar, column, rows, laws) for bar, column in zip(bars, values, strict=True)]
    halves = [
        [_half(v, f) for v, f in zip(column, found, strict=True)]
        for column, found in zip(values, ends, strict=True)
    ]
    return ResultTable(
        columns=tuple(name for name, _ in outputs),
        rows=_by_row([[plain_value(v) for v in column] for column in values], len(rows)),
        error95=_by_row(halves, len(rows)),
        intervals=_by_row(ends, len(rows)),
        covariance=None if any(chosen) else _covariance(bars, laws, len(rows)),
        noisy=tuple(i for i, names in enumerate(shown_noise) if names or all_chosen),
        notes=(
            *selected.notes(name for names in shown_noise for name in names),
            *selected.notes_inside(outputs, noisy_names(question)),
            *_of_largest(question, choices, selected),
            *notes_of_shown(left_out, unknown=keys_are_chosen(question, selected)),
        ),
        ranks=ranks,
    )


def _of_largest(question: Question, choices: Choices, selected: NoiseSelection) -> tuple[str, ...]:
    if not question.top:
        return ()
    return (f"The group was chosen: {largest_error(question, choices, selected).words} (95%).",)


def notes_of_shown(left_out: RankError | None, *, unknown: bool) -> tuple[str, ...]:
    """Return a sentence on groups that noise chose and whose numbers are not shown; none where it chose none."""
    if left_out is not None:
        return (f"The groups were chosen: {left_out.words} (95%).",)
    return (UNKNOWN_CHOICE,) if unknown else ()


def _by_row(columns: Sequence[Sequence[Any]], rows: int) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(column[i] for column in columns) for i in range(rows))


def arranged(noisy: Noisy, question: Question) -> list[tuple[int, dict[str, Any]]]:
    """Return the groups that HAVING leaves, in the wanted order, each with its place in `noisy`."""
    rows = [(i, _row(noisy, question, i)) for i in range(len(noisy.groups))]
    if question.having != e.TRUE:
        rows = [(i, row) for i, row in rows if evaluate(question.having, row) is True]
    for order in reversed(question.order):
        ranks = [_rank(evaluate(order.value, row), order) for _, row in rows]
        # Equal ones stay in their order, downwards too.
        ranked = sorted(zip(ranks, rows, strict=True), key=itemgetter(0), reverse=order.descending)
        rows = [row for _, row in ranked]
    first, limit = question.statement.offset, question.statement.limit
    return rows[first : None if limit is None else first + limit]


def _row(noisy: Noisy, question: Question, index: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        key.name: value
        for key, value in zip(question.statement.keys, noisy.groups[index], strict=True)
    }
    row |= {name: values[index] for name, values in noisy.measures.items()}
    row |= {name: values[index] for name, values in noisy.choices.items()}
    return row


def _rank(value: Any, order: Order) -> tuple[Any, ...]:
    if value is None:
        return (0 if order.nulls_first is not order.descending else 2,)
    return (1, value)


def plain_value(value: Any) -> Any:
    """Return a value that JSON, Arrow and people understand."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | Fraction):
        if not math.isfinite(as_float(value)):
            return None
        return int(value) if value.denominator == 1 else float(value)
    if isinstance(value, float):
        return None if not math.isfinite(value) else int(value) if value.is_integer() else value
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _half(value: Any, ends: tuple[float, float] | None) -> float | None:
    if ends is None or value is None:
        return None
    half = max(ends[1] - as_float(value), as_float(value) - ends[0])
    return half if math.isfinite(half) else None


def _covariance(
    bars: list[Bar], laws: Mapping[str, Law], rows: int
) -> tuple[tuple[tuple[float, ...], ...], ...] | None:
    forms = [linear_form(bar.expr) for bar in bars if bar.measures]
    if not forms or any(form is None for form in forms):
        return None
    known = [form for form in forms if form is not None]
    matrix = tuple(
        tuple(
            sum(
                as_float(one.terms[name] * two.terms[name]) * float(laws[name].variance)
                for name in one.terms
                if name in two.terms
            )
            for two in known
        )
        for one in known
    )
    return (matrix,) * rows


def mechanism_words(plan: Plan) -> tuple[str, ...]:
    """Return one sentence for each mechanism of the plan."""
    question, chosen = plan.question, plan.mechanisms
    if chosen.top is not None:
        return (_top_words(chosen.top, question.groups),)
    lines = []
    for name, measure in question.measured.measures:
        law = chosen.laws[name]
        moved = question.stability.l1(measure.bound)
        share = plain(plan.epsilons[name], significant=6)
        unit = "" if measure.step == 1 else f" steps of {plain(measure.step)}"
        lines.append(
            f"{measure.kind.value}: {law.words}, one unit moves it by {moved:,}{unit} ({share})"
        )
    choices = dict(question.measured.choices)
    lines += [_selection_words(each, choices[name]) for name, each in chosen.selections.items()]
    if chosen.threshold is not None:
        lines.append(f"groups appear from {chosen.threshold:,} noisy units on")
    if question.enforced:
        rows = question.stability.max_rows
        lines.append(f"at most {rows:,} {'row' if rows == 1 else 'rows'} of each unit count")
    return tuple(lines)


def _selection_words(selection: Selection, choice: Choice) -> str:
    among, of = f"{selection.bins:,} public values", "rank"
    if choice.width > 1:
        among = f"{selection.bins:,} public ranges of {choice.width:,} values each"
        of = "the middle of one is shown, its rank"
    return (
        f"quantile {plain(selection.quantile)}: exponential mechanism over {among}, {of} off by at "
        f"most {rank_loss(selection):,} rows at 95% ({plain(selection.epsilon, significant=6)})"
    )


def _top_words(top: LargestGroup, groups: PublicGroups | PrivateGroups) -> str:
    count = groups.count if isinstance(groups, PublicGroups) else 0
    name = "permute-and-flip" if top.flip else "the exponential mechanism"
    return (
        f"largest group: chosen among {count:,} by {name}, at most {group_loss(top, count):,} rows fewer than "
        f"the largest at 95% ({plain(top.epsilon, significant=6)})"
    )


MOST_ATOMS = 4_000
MOST_KNOWN = 400
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """An implied value and the half-width of its error bar."""

    value: float
    half_width: float


def implied(
    plan: Plan, known: list[PaidValue], later: LaterSelection = NO_STEPS
) -> ResultTable | None:
    """Return the answer to a plan's question if paid answers imply it at least as exactly.

    `later`: how steps after it may select among its cells.
    """
    cells = cells_of(plan.question) if known else None
    if cells is None or plan.mechanisms.top is not None:
        return None
    selected = selected_before(plan.question, plan.mechanisms.laws, later)
    assert selected is not None, "cells_of: the groups are public"
    estimates: dict[str, list[Estimate]] = {}
    for name, measure in plan.question.measured.measures:
        said = signature(measure, cells.called)
        usable = [k for k in known if k.table == cells.table and k.measure == said]
        confidence = 1 - selected.failure((name,))
        found = _estimates(cells, usable, confidence)
        if found is None:
            return None
        fresh = plan.mechanisms.laws[name].half_width(confidence)
        if any(estimate.half_width > fresh for estimate in found):
            return None
        estimates[name] = found
    return _table(plan, estimates, selected)


def _estimates(cells: Cells, known: list[PaidValue], confidence: Fraction) -> list[Estimate] | None:
    if not known or len(known) > MOST_KNOWN:
        return None
    boxes = [dict(item.box) for item in known]
    wanted = [dict(box) for box in cells.boxes]
    matrix = _indicators(boxes + wanted, cells.ranges)
    if matrix is None:
        return None
    observed, targets = matrix[: len(boxes)], matrix[len(boxes) :]
    # Scaled by the standard deviations, the shortest solution is the one of least variance.
    # At a huge epsilon a variance underflows to 0; a millionth is as good as nothing, and divides.
    deviations = np.array([max(math.sqrt(float(item.law.variance)), 1e-6) for item in known])
    scaled = observed / deviations[:, None]
    found = []
    for target in targets:
        weights, *_ = np.linalg.lstsq(scaled.T, target, rcond=None)
        if np.abs(scaled.T @ weights - target).max() > TOLERANCE:
            return None
        plain = weights / deviations
        used = [i for i in range(len(known)) if abs(plain[i]) > TOLERANCE]
        weighted = [(Fraction(float(plain[i])).limit_denominator(10**6), known[i]) for i in used]
        terms = tuple((weight, item.law) for weight, item in weighted)
        value = sum(float(plain[i]) * known[i].value for i in used)
        half = summed_half_width(terms, confidence) if terms else 0.0
        # Weights carry the rounding of the solver; six decimals are far below any noise.
        found.append(Estimate(round(float(value), 6), half))
    return found


def _indicators(
    boxes: list[dict[str, Positions]], ranges: Mapping[str, tuple[int, int]]
) -> Floats | None:
    """Return which atoms each box holds; None where there would be too many atoms."""
    names = sorted({name for box in boxes for name in box})
    pieces = {
        name: _pieces((box[name] for box in boxes if name in box), ranges[name]) for name in names
    }
    size = math.prod(len(parts) for parts in pieces.values())
    if size > MOST_ATOMS:
        return None
    atoms = list(product(*(pieces[name] for name in names)))
    matrix = np.zeros((len(boxes), len(atoms)))
    for i, box in enumerate(boxes):
        for j, atom in enumerate(atoms):
            matrix[i, j] = all(
                place in box[name] for name, place in zip(names, atom, strict=True) if name in box
            )
    return matrix[:, matrix.any(axis=0)]


def _pieces(sets: Iterable[Positions], within: tuple[int, int]) -> list[int]:
    """Return one position of each piece into which these sets cut an axis."""
    first, last = within
    starts = {first}
    for positions in sets:
        for low, high in positions.spans:
            starts |= {low, high + 1}
    return sorted(place for place in starts if first <= place <= last)


def _table(
    plan: Plan, estimates: dict[str, list[Estimate]], selected: NoiseSelection
) -> ResultTable | None:
    question = plan.question
    bars = [bar_of(value, plan.mechanisms.laws) for _, value in question.outputs]
    if any(bar.noisy and (bar.linear is None or len(bar.measures) != 1) for bar in bars):
        return None
    groups = tuple(question.groups)  # type: ignore[arg-type]  # cells_of: the groups are public
    measures: dict[str, list[Any]] = {
        name: [estimate.value for estimate in found] for name, found in estimates.items()
    }
    rows = arranged(Noisy(groups, measures, {}), question)
    shown, errors, ends = [], [], []
    for index, row in rows:
        values = [evaluate(value, row) for _, value in question.outputs]
        halves: list[float | None] = []
        for bar in bars:
            if bar.linear is None:
                halves.append(None)
                continue
            ((name, coefficient),) = bar.linear.terms.items()
            halves.append(abs(float(coefficient)) * estimates[name][index].half_width)
        shown.append(tuple(map(plain_value, values)))
        errors.append(tuple(halves))
        ends.append(
            tuple(
                None if half is None else (float(value) - half, float(value) + half)
                for value, half in zip(values, halves, strict=True)
            )
        )
    columns = tuple(name for name, _ in question.outputs)
    noisy = tuple(i for i, bar in enumerate(bars) if bar.noisy)
    notes = tuple(selected.notes(name for bar in bars for name in bar.measures))
    # Estimates are at least as exact as what the plan would measure, so its bound holds for them.
    left_out = shown_groups_error(question, plan.mechanisms.laws, selected)
    notes += notes_of_shown(left_out, unknown=keys_are_chosen(question, selected))
    ranks: Ranks = ()
    if left_out is not None:
        noisy, ranks = tuple(range(len(columns))), ((left_out,) * len(columns),) * len(rows)
    return ResultTable(columns, tuple(shown), tuple(errors), tuple(ends), None, noisy, notes, ranks)


ACCEPTED = "The domains were read from the data and declared public by --accept."
"""What the reader of anything from such a dataset is told."""


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A planned request: what would run, what it would cost, and who would pay."""

    request: Request
    plan: Plan
    sealed: Sealed
    quote: Quote
    payer: Payer
    key: str
    snapshot: str
    exposure: str | None = None
    paid: Mapping[str, RowsHistogram] = field(default_factory=dict)

    @property
    def question(self) -> Question:
        """Return the question behind the plan."""
        return self.plan.question


def again(answer: Answer, ready: PreparedQuestion, ledger: Ledger, note: str) -> Answer:
    """Return an answer that was paid for before, as it is told for nothing now."""
    unpaid = bounding_notes(ready.question.statement, {})
    now_known = bounding_notes(ready.question.statement, ready.paid)
    known = (*(n for n in answer.provenance.notes if n not in (*unpaid, *now_known)), *now_known)
    later = [ready.exposure] if ready.exposure and ready.exposure not in known else []
    provenance = replace(answer.provenance, notes=(*known, *later, note))
    now = balance_of(ledger, ready.payer)
    return replace(answer, bill=free_bill(now), provenance=provenance)


def free_answer(ready: PreparedQuestion, table: ResultTable, balance: Balance) -> Answer:
    """Return the answer that follows from others."""
    note = (
        "Implied by answers that were paid for before, by weighted least squares; free of charge. "
        "Choosing such combinations after seeing answers weakens the stated 95%."
    )
    return _assembled(
        ready,
        table,
        free_bill(balance),
        notes=(
            note,
            *table.notes,
            *bounding_notes(ready.question.statement, ready.paid),
            *([] if ready.exposure is None else [ready.exposure]),
        ),
        private=True,
    )


def paid_answer(ready: PreparedQuestion, table: ResultTable, receipt: Receipt, rng: Rng) -> Answer:
    """Return the answer that a charge was made for."""
    return _assembled(
        ready,
        table,
        bill_of(receipt.cost, receipt.before, receipt.after),
        notes=(*notes_of(ready), *table.notes),
        private=getattr(rng, "private", True),
    )


def _assembled(
    ready: PreparedQuestion,
    table: ResultTable,
    bill: Bill,
    *,
    notes: tuple[str, ...],
    private: bool,
) -> Answer:
    question = ready.question
    unit = next(t.unit for t in question.dataset.tables if t.unit is not None)
    rehearsed = ready.request.seed is not None
    provenance = Provenance(
        dataset=question.dataset.name,
        snapshot=ready.snapshot,
        unit=str(unit),
        mechanisms=() if question.region.empty else mechanism_words(ready.plan),
        sql=tuple(read.draft.sql for read in ready.sealed.reads),
        notes=notes,
        private=private and not rehearsed,
        watermark=REHEARSAL if rehearsed else "",
    )
    return Answer(
        **table.parts(),
        bill=bill,
        request_id=ready.request.request_id,
        provenance=provenance,
        keys=len(question.statement.keys),
    )


def notes_of(ready: PreparedQuestion) -> tuple[str, ...]:
    """Return what there is to know about a new answer."""
    notes = []
    if ready.question.dataset.accepted:
        notes.append(ACCEPTED)
    notes += [
        f"'{table}' has changed since it was first asked about: this is version {version}."
        for table, version in sorted(ready.question.snapshots.items())
        if version != "1"
    ]
    notes += bounding_notes(ready.question.statement, ready.paid)
    notes += () if ready.question.region.empty else drowned_notes(ready.plan)
    if ready.question.region.empty:
        notes.append("No declared value satisfies the condition, so nothing was read or charged.")
    if ready.exposure is not None:
        notes.append(ready.exposure)
    return tuple(notes)


def bounding_notes(statement: Statement, paid: Mapping[str, RowsHistogram]) -> tuple[str, ...]:
    """Return a sentence for each table of people whose rows are bounded; nothing private.

    An interval is about the noise. What the bound leaves out is not in it, so it stands beside it:
    as the owner declares it, or as a paid look at the rows of people tells (`paid`, by table).
    """
    scans = {scan.table.name: scan for scan in scans_of(statement.source) if not scan.public}
    return tuple(_notes(scans, paid))


def _notes(scans: dict[str, Scan], paid: Mapping[str, RowsHistogram]) -> Iterator[str]:
    for name, scan in sorted(scans.items()):
        table, asked, bound = scan.table, scan.asked, scan.max_rows
        if table.unit is None or table.unit.is_row:
            continue
        if bound is None:
            continue
        if asked not in (None, bound):
            yield f"max_rows = {asked:,} was not used: '{name}' is bounded as a whole by its owner."
        rows = "1 row counts" if bound == 1 else f"{bound:,} rows count"
        known = paid[name].lost(bound).words() if name in paid else _known(table, bound)
        yield f"Of one person in '{name}' at most {rows}; {known}."


def _known(table: Table, bound: int) -> str:
    """Return what is publicly known about the rows that are left out."""
    if table.rows_kept is None or table.max_rows is None or bound < table.max_rows:
        return "how many rows that leaves out is not known, and not in the noise"
    return (
        f"its owner declares that this keeps at least {float(100 * table.rows_kept):g}% of the rows"
    )


def balance_of(ledger: Ledger, payer: Payer) -> Balance:
    """Return what a payer has spent so far, and may spend."""
    found = ledger.spent(payer.budget, payer.analyst)
    return Balance(found.limit_epsilon, found.limit_delta, found.epsilon, found.delta)
