"""Aggregates of two columns as arithmetic on aggregates of one: CORR, COVAR, REGR_SLOPE and the like.

Both columns are counted from the middle of their ranges, which changes no covariance and keeps the
products, and so the noise, small. Rows where either is NULL are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from discreet.plan import expr as e
from discreet.plan.expr import Expr, Operator
from discreet.plan.ir import Aggregate, Function
from discreet.plan.tables import Fields
from discreet.plan.values import numeric

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


def of_two(node: exp.Expr, first: Expr, second: Expr, fields: Fields, ask: Ask) -> Expr:
    """Return one of `PAIRED` over two columns; as in SQL, REGR_SLOPE(y, x) is of y on x."""
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
    return e.Case(((e.Not(e.IsNull(other)), middle),), e.Literal(None))
