"""The shape of an output over the noisy measures: linear, a ratio, or something else.

Linear outputs have exact error bars before anything is spent; ratios get theirs from Fieller's
method afterwards; everything else by interval arithmetic over joint bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.plan import expr as e
from discreet.plan.expr import Expr, Operator


def as_float(value: Any) -> float:
    """Return a number as a float, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class Linear:
    """constant + sum of coefficient * measure."""

    constant: Fraction
    terms: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Ratio:
    """constant + factor * top / bottom for two different measures, held between two ends."""

    constant: Fraction
    factor: Fraction
    top: str
    bottom: str
    low: Fraction | None = None
    high: Fraction | None = None


def linear_form(expr: Expr) -> Linear | None:
    """Return `expr` as a linear form over measures, None if it is not one."""
    match expr:
        case e.Literal(value=value) if isinstance(value, int | Fraction) and not isinstance(
            value, bool
        ):
            return Linear(Fraction(value), {})
        case e.ColumnRef(name=name) if name.startswith("m"):
            return Linear(Fraction(0), {name: Fraction(1)})
        case e.Negate(operand=operand):
            return _times(linear_form(operand), Fraction(-1))
        case e.Arithmetic(operator=operator, left=left, right=right):
            return _arithmetic(operator, linear_form(left), linear_form(right))
        case e.Call(function="number", operand=operand):
            return linear_form(operand)
        case _:
            return None


def _arithmetic(operator: Operator, left: Linear | None, right: Linear | None) -> Linear | None:
    if left is None or right is None:
        return None
    match operator:
        case Operator.ADD:
            return _plus(left, right)
        case Operator.SUBTRACT:
            return _plus(left, _times(right, Fraction(-1)) or right)
        case Operator.MULTIPLY if not right.terms:
            return _times(left, right.constant)
        case Operator.MULTIPLY if not left.terms:
            return _times(right, left.constant)
        case Operator.DIVIDE if not right.terms and right.constant:
            return _times(left, 1 / right.constant)
        case _:
            return None


def _plus(left: Linear, right: Linear) -> Linear:
    terms = dict(left.terms)
    for name, coefficient in right.terms.items():
        terms[name] = terms.get(name, Fraction(0)) + coefficient
    kept = {name: coefficient for name, coefficient in terms.items() if coefficient}
    return Linear(left.constant + right.constant, kept)


def _times(form: Linear | None, factor: Fraction) -> Linear | None:
    if form is None:
        return None
    return Linear(
        form.constant * factor,
        {name: value * factor for name, value in form.terms.items() if factor},
    )


def ratio_form(expr: Expr) -> Ratio | None:
    """Return `expr` as constant + factor * top / bottom, None if it is not of that shape."""
    match expr:
        case e.Arithmetic(operator=Operator.ADD, left=left, right=right):
            return _shifted(left, right) or _shifted(right, left)
        case e.Case(branches=((_, value),), otherwise=e.Literal(value=None)):
            return ratio_form(value)
        case e.Extreme(operands=(inner, e.Literal(value=end))) if isinstance(end, int | Fraction):
            found = ratio_form(inner)
            if found is None:
                return None
            if expr.greatest:
                return replace(found, low=Fraction(end))
            return replace(found, high=Fraction(end))
        case e.Arithmetic(operator=Operator.DIVIDE, left=left, right=right):
            top, bottom = linear_form(left), linear_form(right)
            if top is None or bottom is None or top.constant or bottom.constant:
                return None
            if len(top.terms) != 1 or len(bottom.terms) != 1:
                return None
            ((above, one),), ((below, two),) = top.terms.items(), bottom.terms.items()
            return None if above == below else Ratio(Fraction(0), one / two, above, below)
        case _:
            return None


def _shifted(constant: Expr, rest: Expr) -> Ratio | None:
    known = linear_form(constant)
    found = ratio_form(rest)
    if known is None or known.terms or found is None:
        return None
    if found.low is not None or found.high is not None:
        return None
    return replace(found, constant=found.constant + known.constant)


def interval_of(expr: Expr, bounds: Mapping[str, tuple[Any, Any]]) -> tuple[Any, Any] | None:
    """Return ends between which `expr` lies when each measure lies in its own; None if unknown."""
    match expr:
        case e.Literal(value=value) if isinstance(value, int | Fraction):
            return value, value
        case e.ColumnRef(name=name):
            return bounds.get(name)
        case e.Negate(operand=operand):
            inner = interval_of(operand, bounds)
            return None if inner is None else (-inner[1], -inner[0])
        case e.Arithmetic(operator=operator, left=left, right=right):
            return _interval(operator, interval_of(left, bounds), interval_of(right, bounds))
        case e.Case(branches=branches, otherwise=otherwise):
            options = [value for _, value in branches]
            if not (isinstance(otherwise, e.Literal) and otherwise.value is None):
                options.append(otherwise)
            return _hull(options, bounds, low=min, high=max)
        case e.Extreme(greatest=greatest, operands=operands):
            best = max if greatest else min
            return _hull(operands, bounds, low=best, high=best)
        case e.Call(function="sqrt", operand=operand):
            inner = interval_of(operand, bounds)
            if inner is None or inner[1] < 0:
                return None
            return as_float(max(inner[0], 0)) ** 0.5, as_float(inner[1]) ** 0.5
        case _:
            return None


def _hull(
    parts: Iterable[Expr],
    bounds: Mapping[str, tuple[Any, Any]],
    *,
    low: Callable[[Iterable[Any]], Any],
    high: Callable[[Iterable[Any]], Any],
) -> tuple[Any, Any] | None:
    found = [interval_of(part, bounds) for part in parts]
    known = [ends for ends in found if ends is not None]
    if len(known) != len(found) or not known:
        return None
    return low(end[0] for end in known), high(end[1] for end in known)


def _interval(
    operator: Operator, left: tuple[Any, Any] | None, right: tuple[Any, Any] | None
) -> tuple[Any, Any] | None:
    if left is None or right is None:
        return None
    match operator:
        case Operator.ADD:
            return left[0] + right[0], left[1] + right[1]
        case Operator.SUBTRACT:
            return left[0] - right[1], left[1] - right[0]
        case Operator.MULTIPLY:
            corners = [a * b for a in left for b in right]
        case Operator.DIVIDE if right[0] > 0 or right[1] < 0:
            corners = [_quotient(a, b) for a in left for b in right]
        case _:
            return None
    return min(corners), max(corners)


def _quotient(top: Any, bottom: Any) -> Any:
    if isinstance(top, float) or isinstance(bottom, float):
        return top / bottom
    return Fraction(top) / Fraction(bottom)
