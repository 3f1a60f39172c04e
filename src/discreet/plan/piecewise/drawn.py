"""Which parts of an expression are drawn as curves, and the expression without them."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.piecewise.pieces import CURVES
from discreet.plan.tabulate import Fields, small_column


def outermost_curves(expr: Expr, fields: Fields) -> list[e.Call]:
    """Return the curves in an expression that are drawn, not tabulated, and in no other one."""
    if small_column(expr, fields) is not None:
        return []
    if isinstance(expr, e.Call) and expr.function in CURVES:
        return [expr]
    return [found for child in e.children(expr) for found in outermost_curves(child, fields)]


def replaced(expr: Expr, by: Mapping[Expr, Expr]) -> Expr:
    """Return an expression with some of its parts replaced by others."""
    if expr in by:
        return by[expr]
    if not by or isinstance(expr, e.ColumnRef | e.Literal):
        return expr
    return e.rebuilt(expr, lambda part: replaced(part, by))
