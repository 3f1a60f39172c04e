"""Functions over large domains, written as arithmetic that every engine computes exactly."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.plan import expr as e
from discreet.plan.expr import Comparison, Expr, Operator
from discreet.plan.lattices import lattice
from discreet.plan.tables import Fields, tabulated
from discreet.plan.values import infer

_ROUNDING = {"round", "integer"}


def lowered(expr: Expr, fields: Fields) -> Expr:
    """Return `expr` with ROUND and CAST AS INTEGER of large domains spelled out.

    Whatever can be tabulated stays as it is.
    """
    changed = {
        field.name: _part(getattr(expr, field.name), fields) for field in dataclass_fields(expr)
    }
    rebuilt: Expr = replace(expr, **changed)
    if not isinstance(rebuilt, e.Call) or rebuilt.function not in _ROUNDING:
        return rebuilt
    if tabulated(rebuilt, fields) is not None:
        return rebuilt
    found = lattice(infer(rebuilt.operand, fields))
    if found is None:
        return rebuilt
    digits = int(rebuilt.options[0]) if rebuilt.options else 0  # type: ignore[arg-type]  # numbers by the grammar
    return _rounded(rebuilt.operand, Fraction(10) ** -digits, found)


def _part(part: Any, fields: Fields) -> Any:
    if isinstance(part, tuple):
        return tuple(_part(each, fields) for each in part)
    return lowered(part, fields) if isinstance(part, Expr) else part


def _rounded(operand: Expr, to: Fraction, found: tuple[Fraction, Fraction, Fraction]) -> Expr:
    """Return the nearest multiple of `to`, halves away from zero, as SQL rounds."""
    low, high, step = found
    if (step / to).denominator == 1:
        return operand  # every value is such a multiple
    up = _nearest(operand, to)
    down = e.Negate(_nearest(e.Negate(operand), to))
    if low >= 0:
        return up
    if high <= 0:
        return down
    positive = e.Compare(Comparison.GREATER_EQUAL, operand, e.Literal(0))
    return e.Case(((positive, up),), down)


def _nearest(operand: Expr, to: Fraction) -> Expr:
    shifted = e.Arithmetic(Operator.ADD, operand, e.Literal(to / 2))
    places = e.Arithmetic(Operator.FLOOR_DIVIDE, shifted, e.Literal(to))
    return e.Arithmetic(Operator.MULTIPLY, places, e.Literal(to))
