"""Aggregate calls in SQL to the plan's aggregates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.core.numbers import to_fraction
from discreet.errors import DiscreetError
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.ir import Aggregate, Function
from discreet.sql.refuse import refusal
from discreet.sql.scalars import function_name

Operand = Callable[[exp.Expr], Expr]


def to_aggregate(node: exp.Expr, operand: Operand) -> Aggregate | None:
    """Return the aggregate that `node` calls, None if it is not an aggregate call."""
    if isinstance(node, exp.Filter):
        return _filtered(node, operand)
    if isinstance(node, exp.WithinGroup):
        return _within_group(node, operand)
    if isinstance(node, exp.Quantile | exp.ApproxQuantile):
        return _quantile(operand(node.this), node.args.get("quantile"))
    if isinstance(node, exp.PercentileCont | exp.PercentileDisc) and node.expression is not None:
        return _quantile(operand(node.this), node.expression)
    rule = _SIMPLE.get(type(node))
    if rule is not None:
        if isinstance(node.this, exp.Distinct):
            return _distinct(node, operand)
        return rule(node, operand)
    if isinstance(node, exp.AggFunc):
        raise refusal("function", what=function_name(node))
    return None


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether an aggregate is called somewhere in `node`, subqueries not counted."""
    return any(
        isinstance(part, exp.AggFunc | exp.WithinGroup)
        for part in node.walk(prune=lambda part: isinstance(part, exp.Subquery))
    )


def _count(node: exp.Count, operand: Operand) -> Aggregate:
    if node.args.get("expressions"):
        raise refusal("clause", what="COUNT of several columns")
    if isinstance(node.this, exp.Star):
        return Aggregate(Function.COUNT)
    value = operand(node.this)
    if isinstance(value, e.Literal):
        # COUNT(1) counts rows; COUNT(NULL) counts nothing, which no one asks for.
        return Aggregate(Function.COUNT)
    return Aggregate(Function.COUNT, value)


def _distinct(node: exp.Expr, operand: Operand) -> Aggregate:
    columns = node.this.expressions
    if len(columns) != 1:
        raise refusal("clause", what="DISTINCT of several columns")
    if isinstance(node, exp.Count):
        return Aggregate(Function.COUNT_DISTINCT, operand(columns[0]))
    plain = node.copy()
    plain.set("this", columns[0].copy())
    found = _SIMPLE[type(node)](plain, operand)
    # The least, the greatest and the like are the same whether values are repeated or not.
    return replace(found, distinct=found.function in _REPEATING)


def _plain(function: Function) -> Callable[[Any, Operand], Aggregate]:
    return lambda node, operand: Aggregate(function, operand(node.this))


def _at(quantile: Fraction) -> Callable[[Any, Operand], Aggregate]:
    return lambda node, operand: Aggregate(Function.QUANTILE, operand(node.this), quantile)


def _quantile(value: Expr, share: exp.Expr | None) -> Aggregate:
    try:
        quantile = to_fraction(str(share.this)) if isinstance(share, exp.Literal) else Fraction(-1)
    except DiscreetError:
        quantile = Fraction(-1)
    if not 0 <= quantile <= 1:
        raise refusal("clause", what="A quantile that is not a constant between 0 and 1")
    return Aggregate(Function.QUANTILE, value, quantile)


def _within_group(node: exp.WithinGroup, operand: Operand) -> Aggregate:
    order = node.expression
    if (
        not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc)
        or len(order.expressions) != 1
    ):
        raise refusal("function", what=type(node.this).__name__.upper())
    ordered = order.expressions[0]
    found = _quantile(operand(ordered.this), node.this.this)
    if ordered.args.get("desc") and found.quantile is not None:
        return Aggregate(found.function, found.operand, 1 - found.quantile)
    return found


def _filtered(node: exp.Filter, operand: Operand) -> Aggregate:
    inner = to_aggregate(node.this, operand)
    if inner is None:
        raise refusal("clause", what="FILTER")
    condition = operand(node.expression.this)
    value = e.Literal(1) if inner.operand is None else inner.operand
    return replace(inner, operand=e.Case(((condition, value),), e.Literal(None)))


_REPEATING = {Function.SUM, Function.AVG, Function.VARIANCE, Function.STDDEV}

_SIMPLE: dict[type[exp.Expr], Callable[[Any, Operand], Aggregate]] = {
    exp.Count: _count,
    exp.Sum: _plain(Function.SUM),
    exp.Avg: _plain(Function.AVG),
    exp.Variance: _plain(Function.VARIANCE),
    exp.VariancePop: _plain(Function.VARIANCE),
    exp.Stddev: _plain(Function.STDDEV),
    exp.StddevPop: _plain(Function.STDDEV),
    exp.StddevSamp: _plain(Function.STDDEV),
    exp.Min: _at(Fraction(0)),
    exp.Max: _at(Fraction(1)),
    exp.Median: _at(Fraction(1, 2)),
}
