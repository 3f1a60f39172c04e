"""Selection by noise: what error bars of selected cells must allow for, and how far chosen values may be off.

The largest of many noisy counts is there because its noise is large: a bar made for one cell misses it. So
where noise decides which cells are shown, bars hold for all cells that could have been shown, at once.
[docs/notes/0106-error-bars-of-selected-cells.md]

Quantiles are off in ranks, the largest group in rows. What a choice loses is bounded by its mechanism, before
anything is paid. Whether that is any use depends on how many rows there are, which only a count in the same answer
tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.expr import Expr
from discreet.ask.plan.ir import present_columns
from discreet.ask.plan.measure import Choice
from discreet.ask.plan.plan import PublicGroups, Question
from discreet.ask.release.confidence_sets import linear_form, selects_inside
from discreet.ask.sql.post_processing.steps import NO_STEPS, LaterSelection
from discreet.base.answer_text import RankError, Ranks, worst
from discreet.base.display import visible
from discreet.privacy.kernel.look import Noisy
from discreet.privacy.kernel.mechanism import Kind, LargestGroup, Law, Mechanisms, Selection
from discreet.privacy.noise.error_bars import selection_loss

FAILS = Fraction(5, 100)
"""How often the error bars of a column may miss."""
_BEGINS = (
    "Rows were selected by their noisy values",
    "A group is shown only where its noisy number",
    "The group was chosen",
    "The groups were chosen",
    "Noisy values decide what is shown in",
)
UNKNOWN_CHOICE = (
    "The groups were chosen by noisy values, and nothing is known of how far that choice is off."
)


@dataclass(frozen=True, slots=True)
class NoiseSelection:
    """Among how many rows noise selected, by which measures, and the measure that had to reach a threshold.

    `columns`: where a later step shows cells of so many columns of private queries in one column, each of them may miss
    with an equal share.

    Guarantee: with `failure` for each cell, all shown cells of a column are within their bars at once in
        at least 95% of answers, and where noise selected nothing, each by itself in 95%. For public groups by the
        union bound over all rows. Private groups pass a threshold each by itself, so given which passed
        their noises are still independent of each other, and that is the law that their bars invert.
        Where a column shows several columns of queries, the cells of each hold at once but for its share, so all do.
        Noise that takes no part in a selection is not changed by it. What an expression shows in one cell and
        hides in another by noisy values is selected like rows: `failure_of` any such cell is that of all.
    """

    among: int = 1
    by: frozenset[str] = frozenset()
    passed: tuple[str, int] | None = None
    columns: int = 1

    @property
    def failure_of_all(self) -> Fraction:
        """Return how often each cell may miss, so that all of them hold at once."""
        return FAILS / (self.among * self.columns)

    @property
    def _several(self) -> str | None:
        """Return among how many cells noise selects, in words; None where there is one."""
        if self.columns == 1:
            return f"{self.among:,}" if self.among > 1 else None
        if self.among == 1:
            return f"{self.columns:,}"
        return f"{self.among:,} in each of {self.columns:,} columns that are shown as one"

    def failure(self, measures: Iterable[str]) -> Fraction:
        """Return how often the bar of one cell made of these measures may miss."""
        return self.failure_of_all if self.by.intersection(measures) else FAILS

    def failure_of(self, value: Expr, measures: Iterable[str]) -> Fraction:
        """Return how often the bar of one cell of an output, made of these measures and choices, may miss."""
        used = frozenset(measures)
        return self.failure_of_all if selects_inside(value, used) else self.failure(used)

    def notes_inside(
        self, outputs: Iterable[tuple[str, Expr]], noisy: frozenset[str]
    ) -> Iterator[str]:
        """Yield a sentence for each output in whose cells noisy values decide what is shown."""
        for name, value in outputs:
            if self._several and selects_inside(value, noisy):
                one = f" of each of {self.columns:,} columns that are shown as one"
                beside = one if self.columns > 1 else ""
                yield (
                    f"{_BEGINS[4]} '{visible(name)}', in {self.among:,} rows{beside}: each ± is made wide enough "
                    "for all of them to hold at once (95%)."
                )

    def notes(self, measures: Iterable[str]) -> Iterator[str]:
        """Yield a sentence for each thing that makes the bars of these measures wider."""
        used = frozenset(measures)
        if self._several and self.by & used:
            yield (
                f"{_BEGINS[0]} out of {self._several}: each ± is made wide enough "
                "for all of them to hold at once (95%)."
            )
        if self.passed is not None and self.passed[0] in used:
            yield (
                f"{_BEGINS[1]} reaches {self.passed[1]:,}: the ± of that number allows for it, "
                f"so it is wide near {self.passed[1]:,}."
            )


AS_THEY_ARE = NoiseSelection()
"""Nothing was selected by noise."""


def without_selection(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes of an answer but for those on how its rows were selected: they are written anew."""
    return tuple(note for note in notes if not note.startswith(_BEGINS))


def notes_without_errors(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes of an answer after steps that show none of its errors: that those are wider helps nobody."""
    wider = (_BEGINS[0], _BEGINS[4])
    return tuple(UNKNOWN_CHOICE if note.startswith(wider) else note for note in notes)


def selected_in(
    noisy: Noisy, question: Question, laws: Mapping[str, Law], later: LaterSelection = NO_STEPS
) -> NoiseSelection:
    """Return how the shown rows of an answer are selected.

    `later`: how steps after it may select among its cells.
    """
    among = _candidates(question, noisy.groups)
    units, threshold = question.measured.units, noisy.threshold
    passed = None
    if units is not None and units in laws and threshold is not None:
        passed = (units, threshold)
    return NoiseSelection(
        max(among, 1), _deciding(question, laws, among, later), passed, later.columns
    )


def selected_before(
    question: Question, laws: Mapping[str, Law], later: LaterSelection = NO_STEPS
) -> NoiseSelection | None:
    """Return what is known before anything is paid; None where the number of rows will depend on the data."""
    if isinstance(question.groups, PublicGroups):
        among = _candidates(question, question.groups, count=question.groups.count)
        deciding = _deciding(question, laws, among, later)
        return NoiseSelection(max(among, 1), deciding, columns=later.columns)
    return None if _deciding(question, laws, None, later) else AS_THEY_ARE


def _deciding(
    question: Question, laws: Mapping[str, Law], among: int | None, later: LaterSelection
) -> frozenset[str]:
    """Return the measures and choices whose noise decides which rows are shown; `among` is None where it is not known."""

    def too_many(most: int | None) -> bool:
        return most is not None and (among is None or most < among)

    noisy = laws.keys() | {name for name, _ in question.measured.choices}
    if too_many(later.most_rows):
        return frozenset(noisy)
    statement = question.statement
    deciding = e.columns_of(question.having)
    if statement.offset or too_many(statement.limit):
        deciding = deciding.union(*(e.columns_of(order.value) for order in question.order))
    return deciding & noisy


def _candidates(
    question: Question, groups: Iterable[tuple[Any, ...]], *, count: int | None = None
) -> int:
    """Return how many groups HAVING leaves whatever their noise is: those that its conditions on keys leave."""
    names = [key.name for key in question.statement.keys]
    public = [c for c in e.conjuncts(question.having) if e.columns_of(c) <= set(names)]
    condition = e.all_of(tuple(public))
    if condition == e.TRUE:
        return sum(1 for _ in groups) if count is None else count
    rows = (dict(zip(names, group, strict=True)) for group in groups)
    return sum(evaluate(condition, row) is True for row in rows)


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
