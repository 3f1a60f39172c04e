"""Error bars of the outputs, from the noise laws and, after paying, from noisy values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.kernel.mechanism import Law
from discreet.noise.error_bars import passed_ends
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.release.bars.forms import (
    Linear,
    Ratio,
    Spread,
    linear_form,
    ratio_form,
    spread_form,
)
from discreet.release.bars.intervals import Interval, as_float, interval_of, root
from discreet.release.bars.selected import AS_THEY_ARE, FAILS, NoiseSelection
from discreet.release.bars.sets import ratio_set, spread_set, summed_half_width


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
