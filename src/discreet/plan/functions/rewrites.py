"""Functions of numbers put as arithmetic that every engine computes exactly."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan import expr as e
from discreet.plan.expr import Comparison, Expr, Operator
from discreet.plan.functions.row import ValueLattice

_ONE = e.Literal(1)


def floor(operand: Expr) -> Expr:
    """Return the greatest whole number that is not above."""
    return e.Arithmetic(Operator.FLOOR_DIVIDE, operand, _ONE)


def ceil(operand: Expr) -> Expr:
    """Return the least whole number that is not below."""
    return e.Negate(floor(e.Negate(operand)))


def rounded(call: e.Call, found: ValueLattice) -> Expr:
    """Return the nearest number with so many digits, halves away from zero, as SQL rounds."""
    digits = int(call.options[0]) if call.options else 0  # type: ignore[arg-type]  # numbers by the grammar
    low, high, step = found
    operand, to = call.operand, Fraction(10) ** -digits
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


def product(power: e.Call, _found: ValueLattice) -> Expr:
    """Return a small whole power as a product, which is exact."""
    exponent = power.options[0]
    if exponent not in {1, 2, 3, 4} or isinstance(exponent, bool):
        return power
    found = power.operand
    for _ in range(int(exponent) - 1):  # type: ignore[arg-type]  # one of the four
        found = e.Arithmetic(Operator.MULTIPLY, found, power.operand)
    return found


def sign(call: e.Call, _found: ValueLattice) -> Expr:
    """Return 1, -1, 0 or NULL by what a number is compared with 0."""
    compared = ((Comparison.GREATER, 1), (Comparison.LESS, -1), (Comparison.EQUAL, 0))
    branches = tuple(
        (e.Compare(how, call.operand, e.Literal(0)), e.Literal(value)) for how, value in compared
    )
    return e.Case(branches, e.Literal(None))
