"""Interval arithmetic over outputs: where a result lies when each measure lies in its own bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from discreet.plan import expr as e
from discreet.plan.expr import Expr, Operator

Interval = tuple[float, float]

EVERYTHING: Interval = (-math.inf, math.inf)


def as_float(value: Any) -> float:
    """Return a number as a float, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def interval_of(expr: Expr, bounds: Mapping[str, tuple[Any, Any]]) -> Interval | None:
    """Return ends between which `expr` lies when each measure lies in its own; None if unknown.

    Guarantee: total. A quotient whose divisor may be 0 is unbounded, and says so by infinite ends.
    """
    match expr:
        case e.Literal(value=value) if isinstance(value, int | Fraction):
            return as_float(value), as_float(value)
        case e.ColumnRef(name=name) if name in bounds:
            low, high = bounds[name]
            return as_float(low), as_float(high)
        case e.Negate(operand=operand):
            inner = interval_of(operand, bounds)
            return None if inner is None else (-inner[1], -inner[0])
        case e.Arithmetic(operator=operator, left=left, right=right):
            return _arithmetic(operator, interval_of(left, bounds), interval_of(right, bounds))
        case e.Case(branches=branches, otherwise=otherwise):
            values = [value for _, value in branches] + [otherwise]
            options = [value for value in values if value != e.Literal(None)]
            return _hull(options, bounds, low=min, high=max)
        case e.Extreme(greatest=greatest, operands=operands):
            best = max if greatest else min
            return _hull(operands, bounds, low=best, high=best)
        case e.Call(function="number", operand=operand):
            return interval_of(operand, bounds)
        case e.Call(function="sqrt", operand=operand):
            inner = interval_of(operand, bounds)
            return None if inner is None or inner[1] < 0 else root(inner)
        case _:
            return None


def root(ends: Interval) -> Interval:
    """Return the square roots of what is not negative between two ends."""
    return math.sqrt(max(ends[0], 0.0)), math.sqrt(max(ends[1], 0.0))


def _hull(
    parts: Iterable[Expr],
    bounds: Mapping[str, tuple[Any, Any]],
    *,
    low: Callable[[Iterable[float]], float],
    high: Callable[[Iterable[float]], float],
) -> Interval | None:
    found = [interval_of(part, bounds) for part in parts]
    known = [ends for ends in found if ends is not None]
    if len(known) != len(found) or not known:
        return None
    return low(end[0] for end in known), high(end[1] for end in known)


def _arithmetic(
    operator: Operator, left: Interval | None, right: Interval | None
) -> Interval | None:
    if left is None or right is None:
        return None
    match operator:
        case Operator.ADD:
            corners = [left[0] + right[0], left[1] + right[1]]
        case Operator.SUBTRACT:
            corners = [left[0] - right[1], left[1] - right[0]]
        case Operator.MULTIPLY:
            corners = [a * b for a in left for b in right]
        case Operator.DIVIDE if right[0] > 0 or right[1] < 0:
            corners = [a / b for a in left for b in right]
        case Operator.DIVIDE:
            return EVERYTHING
        case _:
            return None
    # Infinity less infinity, or times 0, may be anything.
    return EVERYTHING if any(map(math.isnan, corners)) else (min(corners), max(corners))
