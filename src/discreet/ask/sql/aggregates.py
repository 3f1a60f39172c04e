"""Aggregate calls in SQL to the plan's aggregates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import Fields
from discreet.ask.plan.expr import Expr, Operator
from discreet.ask.plan.ir import Aggregate, Function
from discreet.ask.plan.values import nothing_to_measure, numeric
from discreet.ask.sql.refuse import refusal
from discreet.ask.sql.scalars import function_name
from discreet.base.numbers import to_fraction
from discreet.errors import DiscreetError

Operand = Callable[[exp.Expr], Expr]
Ask = Callable[[Aggregate], Expr]
"""Gives the column that stands for an aggregate."""

PAIRED = (
    exp.Corr,
    exp.CovarPop,
    exp.CovarSamp,
    exp.RegrSlope,
    exp.RegrIntercept,
    exp.RegrR2,
)


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


def is_chosen(node: exp.Expr) -> bool:
    """Return whether an output holds a value that is chosen, such as a quantile: anything but sums and the like."""
    return any(not isinstance(part, _MEASURED) for part in node.find_all(exp.AggFunc))


def _count(node: exp.Count, operand: Operand) -> Aggregate:
    if node.args.get("expressions"):
        raise refusal("clause", what="COUNT of several columns")
    if isinstance(node.this, exp.Star):
        return Aggregate(Function.COUNT)
    value = operand(node.this)
    if isinstance(value, e.Literal):
        if value == e.Literal(None):
            raise nothing_to_measure()
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
    if found.quantile is not None and 0 < found.quantile < 1:
        raise refusal("distinct quantile", what=function_name(node))
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
        raise refusal("function", what=function_name(node.this))
    value = e.Literal(1) if inner.operand is None else inner.operand
    return replace(inner, operand=where(operand(node.expression.this), value))


def where(condition: Expr, value: Expr) -> Expr:
    """Return what an aggregate reads under FILTER: NULL in every other row."""
    return e.Case(((condition, value),), e.Literal(None))


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


_MEASURED = (
    *(exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Variance, exp.VariancePop),
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, *PAIRED),
)


def of_two(node: exp.Expr, first: Expr, second: Expr, fields: Fields, ask: Ask) -> Expr:
    """Return one of `PAIRED` over two columns; as in SQL, REGR_SLOPE(y, x) is of y on x.

    It is arithmetic on aggregates of one column. Both columns are counted from the middle of their
    ranges, which changes no covariance and keeps the products, and so the noise, small. Rows where
    either is NULL are left out.
    """
    one, two = _centred(first, second, fields), _centred(second, first, fields)
    product = e.Arithmetic(Operator.MULTIPLY, one, two)
    means = [ask(Aggregate(Function.AVG, each)) for each in (product, one, two)]
    covariance = e.Arithmetic(
        Operator.SUBTRACT, means[0], e.Arithmetic(Operator.MULTIPLY, means[1], means[2])
    )
    if isinstance(node, exp.CovarPop | exp.CovarSamp):
        return covariance
    spread = [ask(Aggregate(Function.VARIANCE, each)) for each in (one, two)]
    if isinstance(node, exp.Corr | exp.RegrR2):
        both = e.Arithmetic(Operator.MULTIPLY, *spread)
        found = e.Arithmetic(Operator.DIVIDE, covariance, e.Call("sqrt", both))
        squared = e.Arithmetic(Operator.MULTIPLY, found, found)
        return squared if isinstance(node, exp.RegrR2) else found
    slope = e.Arithmetic(Operator.DIVIDE, covariance, spread[1])
    if isinstance(node, exp.RegrSlope):
        return slope
    middles = [_middle(each, fields) for each in (first, second)]
    shown = [
        e.Arithmetic(Operator.ADD, mean, e.Literal(middle))
        for mean, middle in zip(means[1:], middles, strict=True)
    ]
    moved = e.Arithmetic(Operator.MULTIPLY, slope, shown[1])
    return e.Arithmetic(Operator.SUBTRACT, shown[0], moved)


def _middle(expr: Expr, fields: Fields) -> Fraction:
    low, high, step = numeric(expr, fields)
    return low + step * int((high - low) / step / 2)


def _centred(expr: Expr, other: Expr, fields: Fields) -> Expr:
    """Return a column counted from its middle, NULL where the other one is NULL."""
    middle = e.Arithmetic(Operator.SUBTRACT, expr, e.Literal(_middle(expr, fields)))
    return where(e.Not(e.IsNull(other)), middle)
