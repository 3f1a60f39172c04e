"""How far chosen values may be off: quantiles in ranks, the largest group in rows.

What a choice loses is bounded by its mechanism, before anything is paid. Whether that is any use depends on how many
rows there are, which only a count in the same answer tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.core.answers.rank_error import RankError, Ranks, worst
from discreet.kernel.mechanism import Kind, LargestGroup, Law, Mechanisms, Selection
from discreet.noise.error_bars import selection_loss
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.ir import present_columns
from discreet.plan.measure import Choice
from discreet.plan.plan import PublicGroups, Question
from discreet.release.bars.forms import linear_form, selects_inside
from discreet.release.bars.selected import FAILS, NoiseSelection


@dataclass(frozen=True, slots=True)
class Choices:
    """By which mechanisms values were chosen; one that an earlier version did not keep is not there."""

    selections: Mapping[str, Selection] = field(default_factory=dict)
    top: LargestGroup | None = None

    @classmethod
    def of(cls, mechanisms: Mechanisms) -> Choices:
        """Return those of a plan."""
        return cls(mechanisms.selections, mechanisms.top)


NO_CHOICES = Choices()


def rank_loss(selection: Selection, failure: Fraction = FAILS) -> int:
    """Return how many rows a selected quantile's rank is off by at most, but for `failure`.

    Rows that share the value, or the range that it stands for, hold all ranks from those below them on; some
    candidate is off by nothing, so what the choice loses is what its rank is off by.
    """
    found = selection_loss(selection.bins, selection.sensitivity, selection.epsilon, failure)
    return math.ceil(found)


def group_loss(top: LargestGroup, groups: int, failure: Fraction = FAILS) -> int:
    """Return how many rows fewer than the largest group the chosen one has at most, but for `failure`."""
    found = selection_loss(max(groups, 1), top.sensitivity, top.epsilon, failure)
    return math.ceil(found / 2 if top.monotone else found)


def chosen_in(value: Expr, question: Question) -> list[str]:
    """Return the quantiles that an output is made of."""
    names = e.columns_of(value)
    return [name for name, _ in question.measured.choices if name in names]


def rank_failures(
    value: Expr, names: Sequence[str], question: Question, selected: NoiseSelection
) -> Mapping[str, Fraction]:
    """Return how often the rank error of each quantile in an output may miss.

    Guarantee: all quantiles that one cell is made of are within their rank errors at once as often as a cell shall
        be, by the union bound: so is the one that GREATEST, a CASE or the like shows, whichever it is.
    """
    inside = selects_inside(value, noisy_names(question))
    failures = {
        name: selected.failure_of_all if inside else selected.failure([name]) for name in names
    }
    return {name: failure / len(names) for name, failure in failures.items()}


def noisy_names(question: Question) -> frozenset[str]:
    """Return the names of all measures and quantiles of a question."""
    measured = question.measured
    return frozenset(name for name, _ in (*measured.measures, *measured.choices))


def rank_errors(
    question: Question,
    rows: Sequence[Mapping[str, Any]],
    choices: Choices,
    selected: NoiseSelection,
) -> Ranks:
    """Return the error of each cell that was chosen; empty where there is none."""
    if question.top:
        found = largest_error(question, choices, selected)
        return tuple((found,) * len(question.outputs) for _ in rows)
    used = [chosen_in(value, question) for _, value in question.outputs]
    if not any(used):
        return ()
    plain = [isinstance(value, e.ColumnRef) for _, value in question.outputs]
    failures = [
        rank_failures(value, names, question, selected)
        for (_, value), names in zip(question.outputs, used, strict=True)
    ]
    return tuple(
        tuple(
            worst(_errors(names, question, row, choices, failing), computed=not alone)
            for names, alone, failing in zip(used, plain, failures, strict=True)
        )
        for row in rows
    )


def largest_error(question: Question, choices: Choices, selected: NoiseSelection) -> RankError:
    """Return the error of the choice of the largest group, which is one choice whatever the number of groups is."""
    groups = question.groups
    if choices.top is None or not isinstance(groups, PublicGroups):
        return RankError(None, largest=True)
    failure = FAILS / selected.columns
    return RankError(group_loss(choices.top, groups.count, failure), largest=True)


def shown_groups_error(
    question: Question, laws: Mapping[str, Law], selected: NoiseSelection
) -> RankError | None:
    """Return the error of the choice of groups that ORDER BY a count and LIMIT show without it; None where there is none.

    Guarantee: with 95% all noisy counts are within h of theirs at once, so a group that is left out, whose noisy count
        is not larger, has at most 2 h rows more than any that is shown.
    """
    measures, statement = dict(question.measured.measures), question.statement
    if not keys_are_chosen(question, selected) or e.columns_of(question.having) & laws.keys():
        return None
    form = linear_form(question.order[0].value) if question.order and not statement.offset else None
    if form is None or len(form.terms) != 1 or not isinstance(question.groups, PublicGroups):
        return None
    ((name, factor),) = form.terms.items()
    if name not in measures or measures[name].kind not in {Kind.ROWS, Kind.PRESENT}:
        return None
    half = laws[name].half_width(1 - selected.failure_of_all) * measures[name].grain
    more = (factor > 0) == question.order[0].descending
    return RankError(math.ceil(2 * half), beyond="more" if more else "fewer")


def keys_are_chosen(question: Question, selected: NoiseSelection) -> bool:
    """Return whether noise decides which rows are shown, and none of it is shown beside them."""
    noisy = noisy_names(question)
    shown = any(e.columns_of(value) & noisy for _, value in question.outputs)
    return bool(selected.by) and not shown


def _errors(
    names: Sequence[str],
    question: Question,
    row: Mapping[str, Any],
    choices: Choices,
    failures: Mapping[str, Fraction],
) -> Iterator[RankError]:
    known = dict(question.measured.choices)
    for name in names:
        selection = choices.selections.get(name)
        error = None if selection is None else rank_loss(selection, failures[name])
        ranged = known[name].width > 1
        yield RankError(error, _rows_of(known[name], question, row), ranged=ranged)


def _rows_of(choice: Choice, question: Question, row: Mapping[str, Any]) -> int | None:
    """Return the noisy number of rows that a quantile is of, where it was paid for in the same answer.

    A count of all rows will do for a column that is NULL in none of them: elsewhere nobody knows how many have a value.
    """
    found = None
    everywhere = e.columns_of(choice.operand) <= present_columns(question.statement.source)
    for name, measure in question.measured.measures:
        if measure.kind is Kind.PRESENT and measure.operand == choice.operand:
            found = name, measure
            break
        whole = measure.kind is Kind.ROWS and measure.operand is None
        if whole and everywhere and isinstance(choice.operand, e.ColumnRef):
            found = name, measure
    if found is None or row.get(found[0]) is None:
        return None
    return max(0, int(row[found[0]]) * found[1].grain)
