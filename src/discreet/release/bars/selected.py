"""How the cells of an answer were selected by their own noise, and what their error bars must allow for.

The largest of many noisy counts is there because its noise is large: a bar made for one cell misses it. So
where noise decides which cells are shown, bars hold for all cells that could have been shown, at once.
[docs/notes/0106-error-bars-of-selected-cells.md]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.escape_text import visible
from discreet.kernel.look import Noisy
from discreet.kernel.mechanism import Law
from discreet.plan import expr as e
from discreet.plan.evaluate import evaluate
from discreet.plan.expr import Expr
from discreet.plan.plan import PublicGroups, Question
from discreet.release.bars.forms import selects_inside
from discreet.sql.post_processing.program import NO_STEPS, LaterSelection

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
