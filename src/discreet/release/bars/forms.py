"""The shape of an output over the noisy measures: linear, a ratio, or something else.

Linear outputs have exact error bars before anything is spent; ratios and variances get theirs from
the noisy values afterwards (sets.py); everything else by interval arithmetic over joint bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.plan import expr as e
from discreet.plan.expr import Expr, Operator


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


@dataclass(frozen=True, slots=True)
class Spread:
    """square * squares / count - (factor * centred / count)^2: a variance, at most `high`."""

    square: Fraction
    factor: Fraction
    squares: str
    centred: str
    count: str
    high: Fraction


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
        case e.Arithmetic(operator=operator, left=left, right=right):
            return _computed(operator, left, right)
        case e.Negate(operand=operand):
            return _moved(ratio_form(operand), Fraction(-1), Fraction(0))
        case e.Call(function="number", operand=operand):
            return ratio_form(operand)
        case e.Case(branches=((condition, value),), otherwise=e.Literal(value=None)):
            found = ratio_form(value)
            return found if found is not None and _is_positive(condition, found.bottom) else None
        case e.Extreme(operands=(inner, e.Literal(value=end))) if isinstance(end, int | Fraction):
            return _clamped(ratio_form(inner), Fraction(end), greatest=expr.greatest)
        case _:
            return None


def _computed(operator: Operator, left: Expr, right: Expr) -> Ratio | None:
    first, second = linear_form(left), linear_form(right)
    if operator is Operator.DIVIDE and first is not None and second is not None:
        return _quotient(first, second)
    if second is not None and not second.terms:
        return _with_constant(operator, ratio_form(left), second.constant)
    if first is not None and not first.terms and operator is Operator.SUBTRACT:
        return _moved(ratio_form(right), Fraction(-1), first.constant)
    if first is not None and not first.terms and operator in {Operator.ADD, Operator.MULTIPLY}:
        return _with_constant(operator, ratio_form(right), first.constant)
    return None


def _quotient(top: Linear, bottom: Linear) -> Ratio | None:
    if top.constant or bottom.constant or len(top.terms) != 1 or len(bottom.terms) != 1:
        return None
    ((above, one),), ((below, two),) = top.terms.items(), bottom.terms.items()
    return None if above == below else Ratio(Fraction(0), one / two, above, below)


def _with_constant(operator: Operator, found: Ratio | None, value: Fraction) -> Ratio | None:
    match operator:
        case Operator.ADD:
            return _moved(found, Fraction(1), value)
        case Operator.SUBTRACT:
            return _moved(found, Fraction(1), -value)
        case Operator.MULTIPLY if value:
            return _moved(found, value, Fraction(0))
        case Operator.DIVIDE if value:
            return _moved(found, 1 / value, Fraction(0))
        case _:
            return None


def _moved(found: Ratio | None, factor: Fraction, constant: Fraction) -> Ratio | None:
    """Return factor * found + constant."""
    if found is None:
        return None
    ends = [None if end is None else factor * end + constant for end in (found.low, found.high)]
    low, high = ends if factor > 0 else reversed(ends)
    return Ratio(
        factor * found.constant + constant,
        factor * found.factor,
        found.top,
        found.bottom,
        low,
        high,
    )


def _clamped(found: Ratio | None, end: Fraction, *, greatest: bool) -> Ratio | None:
    if found is None:
        return None
    best = max if greatest else min
    low, high = (None if old is None else best(old, end) for old in (found.low, found.high))
    if greatest:
        return replace(found, low=end if low is None else low, high=high)
    return replace(found, low=low, high=end if high is None else high)


def _is_positive(condition: Expr, name: str) -> bool:
    return condition == e.Compare(e.Comparison.GREATER, e.ColumnRef(name), e.Literal(0))


def spread_form(expr: Expr) -> Spread | None:
    """Return the variance that `measure.py` writes, None if `expr` is not one."""
    match expr:
        case e.Extreme(
            greatest=True,
            operands=(
                e.Extreme(greatest=False, operands=(inner, e.Literal(value=high))),
                e.Literal(value=0),
            ),
        ) if isinstance(high, int | Fraction):
            return _difference(inner, Fraction(high))
        case _:
            return None


def _difference(expr: Expr, high: Fraction) -> Spread | None:
    match expr:
        case e.Arithmetic(
            operator=Operator.SUBTRACT,
            left=left,
            right=e.Arithmetic(operator=Operator.MULTIPLY, left=one, right=two),
        ) if one == two:
            squares, centred = ratio_form(left), ratio_form(one)
        case _:
            return None
    if squares is None or centred is None or squares.bottom != centred.bottom:
        return None
    if squares.constant or centred.constant or squares.factor <= 0 or centred.factor <= 0:
        return None
    return Spread(squares.factor, centred.factor, squares.top, centred.top, squares.bottom, high)


def selects_inside(expr: Expr, noisy: AbstractSet[str]) -> bool:
    """Return whether noisy values decide in a cell what of it is shown: by CASE, COALESCE, a clamp, a root.

    Quotients and variances have a set in every cell, also where they are NULL, so their own conditions hide no
    error; and a divisor that is NULL instead of 0 changes nothing.
    """
    rooted = isinstance(expr, e.Call) and expr.function == "sqrt"
    bare = expr.operand if isinstance(expr, e.Call) and rooted else expr
    if ratio_form(expr) is not None or spread_form(bare) is not None:
        return False
    match expr:
        case e.Case(branches=branches) if any(e.columns_of(c) & noisy for c, _ in branches):
            return True
        case e.Coalesce(operands=operands) if any(
            e.columns_of(part) & noisy and linear_form(part) is None for part in operands[:-1]
        ):
            return True
        case e.Extreme(operands=operands) if e.columns_of(expr) & noisy:
            if not all(e.columns_of(part) & noisy for part in operands):
                return True
        case e.Call(function="sqrt") if e.columns_of(expr) & noisy:
            return True
        case e.Arithmetic(operator=Operator.DIVIDE, left=left, right=right):
            return any(selects_inside(part, noisy) for part in (left, _divisor(right)))
        case _:
            pass
    return any(selects_inside(part, noisy) for part in e.children(expr))


def _divisor(expr: Expr) -> Expr:
    """Return `expr` without the condition that makes it NULL where it is 0."""
    match expr:
        case e.Case(
            branches=((e.Compare(comparison, tested, e.Literal(value=0)), e.Literal(value=None)),),
            otherwise=otherwise,
        ) if comparison is e.Comparison.EQUAL and tested == otherwise:
            return otherwise
        case _:
            return expr
