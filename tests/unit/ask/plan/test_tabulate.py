"""Which expressions are worked out value by value, and that a rule says no less than the values."""

import datetime as dt

import pytest

from discreet.ask.plan import expr as e
from discreet.ask.plan import values
from discreet.ask.plan.evaluate import PLAIN_TABLE, computes, tabulated
from discreet.ask.plan.expr import Operator, Part, lattice
from discreet.ask.plan.values import infer
from discreet.base.schema import DateDomain, IntegerDomain

FIELDS = {
    "x": IntegerDomain(-900, 900),
    "day": DateDomain(dt.date(2001, 3, 1), dt.date(2007, 2, 1)),
}
X, DAY = e.ColumnRef("x"), e.ColumnRef("day")


def number(value):
    return e.Literal(value)


PLAIN = [
    e.Arithmetic(Operator.MULTIPLY, X, X),
    e.Arithmetic(Operator.SUBTRACT, X, X),
    e.Arithmetic(Operator.MODULO, X, number(7)),
    e.Arithmetic(Operator.FLOOR_DIVIDE, X, number(-7)),
    e.Negate(e.Call("abs", X, ())),
    e.Call("floor", e.Arithmetic(Operator.DIVIDE, X, number(8)), ()),
    e.Call("ceil", e.Arithmetic(Operator.DIVIDE, X, number(8)), ()),
    e.Extreme(True, (X, number(-1000))),
    e.DatePart(Part.MONTH, DAY),
    e.Arithmetic(Operator.SUBTRACT, DAY, number(dt.date(2000, 1, 1))),
]


def outside(expr) -> list:
    """Return the values of `expr` that the inferred domain does not hold."""
    low, high, step = lattice(infer(expr, FIELDS))
    found = [value for value in tabulated(expr, FIELDS) if value is not None]
    return [v for v in found if not (low <= v <= high and (v / step).denominator == 1)]


@pytest.mark.parametrize("expr", PLAIN, ids=str)
def test_a_rule_says_no_less_than_the_values(expr):
    assert all(domain.size > PLAIN_TABLE for domain in FIELDS.values())
    assert computes(expr)
    assert outside(expr) == []


def test_a_rule_that_says_less_is_caught(monkeypatch):
    monkeypatch.setattr(values, "_by_rule", lambda *_: IntegerDomain(0, 9))
    assert outside(PLAIN[0])


@pytest.mark.parametrize("function", ["ln", "round"])
def test_what_plain_sql_does_not_compute_is_looked_up(function):
    assert not computes(e.Call(function, X, ()))
    assert not computes(e.Call("floor", e.Call(function, X, ()), ()))


def test_a_plain_function_with_options_has_no_plain_meaning():
    assert not computes(e.Call("floor", X, ("week",)))
