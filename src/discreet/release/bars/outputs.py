"""Error bars of the outputs, from the noise laws and, after paying, from noisy values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.kernel.mechanism import Law
from discreet.noise.bars.spread import combined_half_width
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
from discreet.release.bars.sets import CONFIDENCE, ratio_set, spread_set


@dataclass(frozen=True, slots=True)
class Bar:
    """How one output column gets its error bars. `rooted`: it is the root of the `spread`."""

    expr: Expr
    linear: Linear | None
    ratio: Ratio | None
    spread: Spread | None
    rooted: bool
    measures: tuple[str, ...]
    half_width: float | None

    @property
    def noisy(self) -> bool:
        """Return whether the column depends on anything noisy."""
        return bool(self.measures)


def bar_of(expr: Expr, laws: Mapping[str, Law]) -> Bar:
    """Return the error bar of an output; a linear one knows its width before anything is paid."""
    measures = tuple(sorted(name for name in e.columns_of(expr) if name in laws))
    linear = linear_form(expr) if measures else None
    if linear is not None:
        half = _linear_half_width(linear, laws)
        return Bar(expr, linear, None, None, False, measures, half)
    rooted = isinstance(expr, e.Call) and expr.function == "sqrt"
    spread = spread_form(expr.operand if isinstance(expr, e.Call) and rooted else expr)
    return Bar(expr, None, ratio_form(expr), spread, rooted, measures, None)


def _linear_half_width(form: Linear, laws: Mapping[str, Law]) -> float:
    terms = tuple((coefficient, laws[name]) for name, coefficient in form.terms.items())
    if len(terms) == 1:
        ((coefficient, law),) = terms
        return as_float(abs(coefficient) * law.half_width(CONFIDENCE))
    return _combined(terms)


def interval(
    bar: Bar, value: Any, row: Mapping[str, Any], laws: Mapping[str, Law]
) -> Interval | None:
    """Return an interval that holds the noise-free value with at least 95%; None if unknown.

    Guarantee: total, and counted over all answers: where nothing can be said the ends are those of
        the declared range, or infinite. Quotients and variances have one also where their value is
        NULL, because a noisy count was not positive.
    """
    if not bar.measures:
        return None
    if bar.ratio is not None:
        return ratio_set(bar.ratio, row, laws)
    if bar.spread is not None:
        found = spread_set(bar.spread, row, laws)
        return root(found) if bar.rooted else found
    if value is None:
        return None
    if bar.half_width is not None:
        return as_float(value) - bar.half_width, as_float(value) + bar.half_width
    return interval_of(bar.expr, _bounds(bar, row, laws))


def _bounds(
    bar: Bar, row: Mapping[str, Any], laws: Mapping[str, Law]
) -> dict[str, tuple[Any, Any]]:
    """Return where all measures lie at once with 95% (Bonferroni), and the known keys."""
    each = 1 - (1 - CONFIDENCE) / len(bar.measures)
    bounds: dict[str, tuple[Any, Any]] = {}
    for name in e.columns_of(bar.expr):
        if name in laws:
            half = laws[name].half_width(each)
            bounds[name] = (row[name] - half, row[name] + half)
        elif isinstance(row.get(name), int | Fraction):
            bounds[name] = (row[name], row[name])
    return bounds


@lru_cache(maxsize=4096)
def _combined(terms: tuple[tuple[Fraction, Law], ...]) -> float:
    return float(combined_half_width(terms, CONFIDENCE))
