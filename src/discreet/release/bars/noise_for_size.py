"""The noise to expect of a mean, a variance or a quantile, for a group of a stated size.

Their noise depends on the data, so before anything is paid it can only be told for groups of a size that
somebody names. It is worked out by the very sets that answers get afterwards (sets.py), at the values of
the declared range where they are widest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from discreet.core.answers.explanation import StatedNoise
from discreet.core.escape_text import visible
from discreet.core.numbers import least_whole
from discreet.kernel.mechanism import Law
from discreet.plan import expr as e
from discreet.plan.plan import Plan
from discreet.release.bars.forms import Ratio, Spread, spread_form
from discreet.release.bars.intervals import Interval, as_float, root
from discreet.release.bars.outputs import Bar, bar_of
from discreet.release.bars.ranks import chosen_in, rank_failures, rank_loss
from discreet.release.bars.selected import AS_THEY_ARE, FAILS, selected_before
from discreet.release.bars.sets import ratio_set, spread_set
from discreet.sql.post_processing.program import NO_STEPS, LaterSelection

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
