"""Noisy results to an answer: formulas, HAVING, ORDER BY, LIMIT. All of it post-processing."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from operator import itemgetter
from typing import Any

from discreet.core.answers.rank_error import RankError, Ranks
from discreet.kernel.look import Noisy
from discreet.kernel.mechanism import Law
from discreet.plan import expr as e
from discreet.plan.evaluate import evaluate
from discreet.plan.ir import Order
from discreet.plan.plan import Question
from discreet.release.bars.forms import linear_form
from discreet.release.bars.intervals import as_float
from discreet.release.bars.outputs import Bar, bar_of, intervals
from discreet.release.bars.ranks import (
    NO_CHOICES,
    Choices,
    chosen_in,
    keys_are_chosen,
    largest_error,
    noisy_names,
    rank_errors,
    shown_groups_error,
)
from discreet.release.bars.selected import UNKNOWN_CHOICE, NoiseSelection, selected_in
from discreet.sql.post_processing.program import NO_STEPS, LaterSelection


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
