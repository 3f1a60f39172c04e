"""Error bars of the outputs, from the noise laws and, after paying, from noisy values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.kernel.mechanism import Law
from discreet.noise.spread import combined_half_width
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.release.forms import Linear, Ratio, as_float, interval_of, linear_form, ratio_form

CONFIDENCE = Fraction(95, 100)

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bar:
    """How one output column gets its error bars."""

    expr: Expr
    linear: Linear | None
    ratio: Ratio | None
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
    half = None
    if linear is not None:
        half = _linear_half_width(linear, laws)
    return Bar(expr, linear, ratio_form(expr) if linear is None else None, measures, half)


def _linear_half_width(form: Linear, laws: Mapping[str, Law]) -> float:
    terms = tuple((coefficient, laws[name]) for name, coefficient in form.terms.items())
    if len(terms) == 1:
        ((coefficient, law),) = terms
        return as_float(abs(coefficient) * _half_width(law, CONFIDENCE))
    return _combined(terms)


def interval(
    bar: Bar, value: Any, row: Mapping[str, Any], laws: Mapping[str, Law]
) -> Interval | None:
    """Return an interval that holds the noise-free value with at least 95%; None if unknown."""
    if value is None or not bar.measures:
        return None
    if bar.half_width is not None:
        return _ends(as_float(value) - bar.half_width, as_float(value) + bar.half_width)
    if bar.ratio is not None:
        return _ratio(bar.ratio, row, laws)
    # Bonferroni: all measures at once with 95%, then interval arithmetic.
    each = 1 - (1 - CONFIDENCE) / len(bar.measures)
    bounds: dict[str, Any] = dict.fromkeys(e.columns_of(bar.expr))
    for name in bounds:
        if name in laws:
            half = _half_width(laws[name], each)
            bounds[name] = (row[name] - half, row[name] + half)
        elif isinstance(row.get(name), int | Fraction):
            bounds[name] = (row[name], row[name])
    ends = interval_of(bar.expr, {name: found for name, found in bounds.items() if found})
    return None if ends is None else _ends(as_float(ends[0]), as_float(ends[1]))


def _ends(low: float, high: float) -> Interval | None:
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _ratio(form: Ratio, row: Mapping[str, Any], laws: Mapping[str, Law]) -> Interval | None:
    """Return Fieller's interval: all q with |top - q * bottom| within the noise of that difference.

    The noise's half-width grows with |q|, so it is taken at the next point of a fixed grid of q:
    at most 2% too wide, and the same few points serve every group.
    """
    top, bottom = row[form.top], row[form.bottom]
    above, below = laws[form.top], laws[form.bottom]
    if abs(bottom) <= _half_width(below, CONFIDENCE):
        return None
    middle = top / bottom
    ends = [middle, middle]
    for side, sign in enumerate((-1, 1)):
        for _ in range(_STEPS):
            moved = middle + sign * _difference(above, below, abs(ends[side])) / abs(bottom)
            if abs(moved - ends[side]) <= abs(moved) * _CLOSE:
                break
            ends[side] = moved
    found = sorted(as_float(form.constant) + as_float(form.factor) * end for end in ends)
    low = -math.inf if form.low is None else float(form.low)
    high = math.inf if form.high is None else float(form.high)
    return min(max(found[0], low), high), min(max(found[1], low), high)


_GRID = 1.02
_STEPS = 20
_CLOSE = 1e-9


def _difference(above: Law, below: Law, quotient: float) -> float:
    """Return the half-width of the noise of top - q * bottom, for the grid point above |q|."""
    if quotient < 1e-12:
        return float(_half_width(above, CONFIDENCE))
    return _at_grid(above, below, math.ceil(math.log(quotient) / math.log(_GRID)))


# The same few laws serve every group and every question at the same epsilon.
@lru_cache(maxsize=4096)
def _half_width(law: Law, confidence: Fraction) -> int:
    return law.half_width(confidence)


@lru_cache(maxsize=4096)
def _combined(terms: tuple[tuple[Fraction, Law], ...]) -> float:
    return float(combined_half_width(terms, CONFIDENCE))


@lru_cache(maxsize=4096)
def _at_grid(above: Law, below: Law, index: int) -> float:
    quotient = Fraction(_GRID**index).limit_denominator(10**6) or Fraction(1, 10**6)
    return float(combined_half_width([(1, above), (-quotient, below)], CONFIDENCE, cells=4096))
