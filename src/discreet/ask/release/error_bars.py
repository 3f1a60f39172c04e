"""Error bars of the outputs: before paying from the noise laws, afterwards also from noisy values.

The noise of a mean, a variance or a quantile depends on the data, so before anything is paid it can only be told for
groups of a size that somebody names. It is worked out by the very sets that answers get afterwards
(confidence_sets.py), at the values of the declared range where they are widest. The other way round: the least
epsilon whose noise is small enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr
from discreet.ask.plan.plan import Plan, Question, make_plan
from discreet.ask.release.confidence_sets import (
    Interval,
    Linear,
    Ratio,
    Spread,
    as_float,
    interval_of,
    linear_form,
    ratio_form,
    ratio_set,
    root,
    spread_form,
    spread_set,
    summed_half_width,
)
from discreet.ask.release.selection import (
    AS_THEY_ARE,
    FAILS,
    NoiseSelection,
    chosen_in,
    rank_failures,
    rank_loss,
    selected_before,
)
from discreet.ask.sql.post_processing.steps import NO_STEPS, LaterSelection
from discreet.ask.sql.refuse import refusal
from discreet.base.answer import Answer, StatedNoise
from discreet.base.display import visible
from discreet.base.numbers import Delta, Epsilon, least_whole
from discreet.base.requests.paid import NoiseLimit
from discreet.errors import InvalidInput
from discreet.privacy.kernel.mechanism import Law
from discreet.privacy.noise.error_bars import passed_ends


@dataclass(frozen=True, slots=True)
class Bar:
    """How one output column gets its error bars. `rooted`: it is the root of the `spread`.

    `failure`: how often a bar may miss. `passed`: the measure in it that had to reach a threshold.
    """

    expr: Expr
    linear: Linear | None
    ratio: Ratio | None
    spread: Spread | None
    rooted: bool
    measures: tuple[str, ...]
    half_width: float | None
    failure: Fraction = FAILS
    passed: tuple[str, int] | None = None

    @property
    def noisy(self) -> bool:
        """Return whether the column depends on anything noisy."""
        return bool(self.measures)


def bar_of(expr: Expr, laws: Mapping[str, Law], selected: NoiseSelection = AS_THEY_ARE) -> Bar:
    """Return the error bar of an output; a linear one knows its width before anything is paid."""
    measures = tuple(sorted(name for name in e.columns_of(expr) if name in laws))
    failure = selected.failure_of(expr, measures)
    if selected.passed is not None and selected.passed[0] in measures:
        return Bar(expr, None, None, None, False, measures, None, failure, selected.passed)
    linear = linear_form(expr) if measures else None
    if linear is not None:
        half = _linear_half_width(linear, laws, 1 - failure)
        return Bar(expr, linear, None, None, False, measures, half, failure)
    rooted = isinstance(expr, e.Call) and expr.function == "sqrt"
    spread = spread_form(expr.operand if isinstance(expr, e.Call) and rooted else expr)
    return Bar(expr, None, ratio_form(expr), spread, rooted, measures, None, failure)


def _linear_half_width(form: Linear, laws: Mapping[str, Law], confidence: Fraction) -> float:
    terms = tuple((coefficient, laws[name]) for name, coefficient in form.terms.items())
    if len(terms) == 1:
        ((coefficient, law),) = terms
        return as_float(abs(coefficient) * law.half_width(confidence))
    return _combined(terms, confidence)


def intervals(
    bar: Bar, values: Sequence[Any], rows: Sequence[Mapping[str, Any]], laws: Mapping[str, Law]
) -> list[Interval | None]:
    """Return the interval of each value of one output column."""
    if bar.passed is None:
        return [interval(bar, value, row, laws) for value, row in zip(values, rows, strict=True)]
    name, threshold = bar.passed
    low, high = passed_ends(
        np.array([row[name] for row in rows], dtype=np.int64),
        laws[name],
        threshold,
        bar.failure / len(bar.measures),
    )
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return [
        interval_of(bar.expr, _bounds(bar, row, laws) | {name: pair})
        for row, pair in zip(rows, ends, strict=True)
    ]


def interval(
    bar: Bar, value: Any, row: Mapping[str, Any], laws: Mapping[str, Law]
) -> Interval | None:
    """Return an interval that holds the noise-free value but for `bar.failure`; None if unknown.

    Guarantee: total, and counted over all answers: where nothing can be said the ends are those of
        the declared range, or infinite. Quotients and variances have one also where their value is
        NULL, because a noisy count was not positive.
    """
    if not bar.measures:
        return None
    if bar.ratio is not None:
        return ratio_set(bar.ratio, row, laws, bar.failure)
    if bar.spread is not None:
        found = spread_set(bar.spread, row, laws, bar.failure)
        return root(found) if bar.rooted else found
    if value is None:
        return None
    if bar.half_width is not None:
        return as_float(value) - bar.half_width, as_float(value) + bar.half_width
    return interval_of(bar.expr, _bounds(bar, row, laws))


def _bounds(
    bar: Bar, row: Mapping[str, Any], laws: Mapping[str, Law]
) -> dict[str, tuple[Any, Any]]:
    """Return where all measures lie at once but for `bar.failure` (Bonferroni), and the known keys."""
    each = 1 - bar.failure / len(bar.measures)
    bounds: dict[str, tuple[Any, Any]] = {}
    for name in e.columns_of(bar.expr):
        if name in laws:
            half = laws[name].half_width(each)
            bounds[name] = (row[name] - half, row[name] + half)
        elif isinstance(row.get(name), int | Fraction):
            bounds[name] = (row[name], row[name])
    return bounds


@lru_cache(maxsize=4096)
def _combined(terms: tuple[tuple[Fraction, Law], ...], confidence: Fraction) -> float:
    return summed_half_width(terms, confidence)


FEW = 10
"""Of so few rows nobody expects a correlation."""
MOST = 2**50
"""More rows than this are not looked for."""


def stated_noise(plan: Plan, rows: int, later: LaterSelection = NO_STEPS) -> StatedNoise:
    """Return the half width of each noisy output at 95% for a group of `rows` rows, spending nothing.

    None where it is unbounded: so small a group drowns. Quantiles are told in ranks (not where it depends on the
    data how many groups noise selects among). `later`: how
    steps after it may select among its cells.
    """
    chosen = plan.mechanisms
    selected = selected_before(plan.question, chosen.laws, later)
    widths: dict[str, float | None] = {}
    ranks: dict[str, int] = {}
    needed = drowned(plan)
    for name, value in plan.question.outputs:
        used = chosen_in(value, plan.question)
        if selected is not None and used:
            failures = rank_failures(value, used, plan.question, selected)
            ranks[name] = max(rank_loss(chosen.selections[each], failures[each]) for each in used)
            continue
        bar = bar_of(value, chosen.laws, selected or AS_THEY_ARE)
        if rows < needed.get(name, 0):
            widths[name] = None
        if selected is not None and _can_be_told(bar):
            widths[name] = _width(bar, chosen.laws, rows)
    return StatedNoise(rows, widths, ranks, chosen.threshold)


def drowned(plan: Plan) -> dict[str, int]:
    """Return from how many rows on an output that divides by variances, such as CORR, can be told at all.

    Guarantee: a function of noise and declared ranges only. Below it, noise covers even the largest variance that
        the ranges allow, so the divisor may be 0 and the output NULL or any number, whatever the rows are.
    """
    laws = plan.mechanisms.laws
    found: dict[str, int] = {}
    for name, value in plan.question.outputs:
        divisors = (
            node.right
            for node in e.walk(value)
            if isinstance(node, e.Arithmetic) and node.operator is e.Operator.DIVIDE
        )
        parts = (spread_form(part) for divisor in divisors for part in e.walk(divisor))
        spreads = {spread for spread in parts if spread is not None}
        if spreads:
            found[name] = max(_rows_needed(spread, laws) for spread in spreads)
    return found


def drowned_notes(plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each such output."""
    return tuple(
        f"'{visible(name)}' cannot be told at this epsilon from fewer than about {rows:,} rows: the noise is larger "
        "than any spread, so it may be NULL, which is paid for all the same. A larger epsilon needs fewer rows."
        for name, rows in drowned(plan).items()
        if rows > FEW
    )


def _rows_needed(form: Spread, laws: Mapping[str, Law]) -> int:
    """Return the least number of rows at which the largest variance is told apart from 0."""

    def enough(rows: int) -> bool:
        row = {form.squares: form.high * rows / form.square, form.centred: 0, form.count: rows}
        low, _ = spread_set(form, row, laws, FAILS)
        return low > 0

    most = 1
    while most < MOST and not enough(most):
        most *= 2
    return least_whole(most // 2, most, enough)


def _can_be_told(bar: Bar) -> bool:
    """Return whether its noise follows from the size of a group and from declared ranges."""
    ranged = bar.ratio is not None and None not in (bar.ratio.low, bar.ratio.high)
    return bar.noisy and (bar.half_width is not None or ranged or bar.spread is not None)


def _width(bar: Bar, laws: Mapping[str, Law], rows: int) -> float | None:
    if bar.half_width is not None:
        return bar.half_width
    if bar.ratio is not None:
        return _widest(_ratios(bar.ratio, laws, rows, bar.failure))
    if bar.spread is not None:
        return _widest(_spreads(bar, bar.spread, laws, rows))
    return None


def _widest(found: Iterator[tuple[float, Interval]]) -> float | None:
    farthest = max((max(high - at, at - low) for at, (low, high) in found), default=math.inf)
    return farthest if math.isfinite(farthest) else None


def _ratios(
    form: Ratio, laws: Mapping[str, Law], rows: int, failure: Fraction
) -> Iterator[tuple[float, Interval]]:
    """Yield a mean in the middle and at both ends of its range, and its set."""
    assert form.low is not None and form.high is not None, "it can be told"  # noqa: PT018  # one fact
    free = replace(form, low=None, high=None)
    for mean in (form.low, (form.low + form.high) / 2, form.high):
        row = {form.top: (mean - form.constant) / form.factor * rows, form.bottom: rows}
        yield as_float(mean), ratio_set(free, row, laws, failure)


def _spreads(
    bar: Bar, form: Spread, laws: Mapping[str, Law], rows: int
) -> Iterator[tuple[float, Interval]]:
    """Yield variances that the range allows, around means that it allows with them, and their sets."""
    for share in (Fraction(0), Fraction(1, 2), Fraction(1)):
        variance = form.high * share
        mean = Fraction(math.sqrt(form.high - variance))
        row = {
            form.squares: (variance + mean * mean) * rows / form.square,
            form.centred: mean * rows / form.factor,
            form.count: rows,
        }
        found = spread_set(form, row, laws, bar.failure)
        at = as_float(variance)
        yield (math.sqrt(at), root(found)) if bar.rooted else (at, found)


_DIGITS = 3
_LEAST, _MOST = -6, 2


def expected_errors(plan: Plan, later: LaterSelection = NO_STEPS) -> dict[str, float | None]:
    """Return the 95% half-width of each noisy output, None where it depends on the data.

    Where groups are private it is that of groups far above the threshold. `later`: how steps after it
    may select among its cells.
    """
    laws = plan.mechanisms.laws
    selected = selected_before(plan.question, laws, later)
    found: dict[str, float | None] = {}
    for name, value in plan.question.outputs:
        bar = bar_of(value, laws, selected or AS_THEY_ARE)
        chosen = chosen_in(value, plan.question)
        if bar.noisy or chosen:
            found[name] = None if selected is None or chosen else bar.half_width
    return found


def allowed_errors(
    wanted: NoiseLimit, question: Question, paid: Answer | None
) -> dict[str, Fraction]:
    """Return the greatest error of each output that may carry noise.

    A percentage is of the least value of that output in `paid`, an earlier answer to the same
    question: what was paid for may be used, the data may not.
    """
    names = [name for name, _ in question.outputs]
    if not wanted.relative:
        return dict.fromkeys(names, wanted.error)
    if paid is None:
        raise refusal("within percent")
    found: dict[str, Fraction] = {}
    for i, name in enumerate(paid.columns):
        sizes = [abs(Fraction(row[i])) for row in paid.rows if isinstance(row[i], int | float)]
        if i in paid.noisy and (not sizes or not min(sizes)):
            raise refusal("within percent")
        found[name] = wanted.error * min(sizes, default=Fraction(0))
    return found


def least_epsilon(
    question: Question,
    allowed: Mapping[str, Fraction],
    budget_delta: Delta,
    later: LaterSelection = NO_STEPS,
) -> Epsilon:
    """Return the least epsilon, to three digits, at which every cell's noise is as wanted."""

    def good(epsilon: Epsilon) -> bool:
        plan = make_plan(question, epsilon=epsilon, budget_delta=budget_delta)
        errors = expected_errors(plan, later)
        if not errors or any(error is None for error in errors.values()):
            raise refusal("within")
        return all(
            Fraction(error) <= allowed[name] for name, error in errors.items() if error is not None
        )

    # Candidates are the decimals of three digits in their natural order: error falls along them.
    first, last = 0, (_MOST - _LEAST) * 900 - 1
    if not good(_candidate(last)):
        raise InvalidInput(
            "No sensible epsilon gives so little noise.", hint="Allow a larger error."
        )
    while first < last:
        middle = (first + last) // 2
        if good(_candidate(middle)):
            last = middle
        else:
            first = middle + 1
    return _candidate(first)


def _candidate(index: int) -> Epsilon:
    exponent, mantissa = divmod(index, 900)
    return Epsilon((100 + mantissa) * Fraction(10) ** (_LEAST + exponent - _DIGITS + 1))
