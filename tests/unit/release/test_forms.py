"""Shapes of outputs: linear, ratio, interval."""

from fractions import Fraction

import pytest
import sqlglot

from discreet.plan import expr as e
from discreet.release.forms import Linear, Ratio, interval_of, linear_form, ratio_form
from discreet.sql.scalars import Scope, to_expr


def expr(sql):
    scope = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
    return to_expr(sqlglot.parse_one(sql, read="duckdb"), scope)


@pytest.mark.parametrize(
    ("sql", "constant", "terms"),
    [
        ("m0", 0, {"m0": 1}),
        ("3 - 2 * m0 + m1 / 4", 3, {"m0": -2, "m1": Fraction(1, 4)}),
        ("m0 - m0", 0, {}),
        ("-(m0 + 1)", -1, {"m0": -1}),
    ],
)
def test_linear(sql, constant, terms):
    assert linear_form(expr(sql)) == Linear(Fraction(constant), terms)


@pytest.mark.parametrize("sql", ["m0 * m1", "m0 / m1", "ABS(m0)", "m0 > 3", "key0"])
def test_not_linear(sql):
    assert linear_form(expr(sql)) is None


def test_ratios():
    assert ratio_form(expr("100 * m0 / m1")) == Ratio(Fraction(0), Fraction(100), "m0", "m1")
    clamped = ratio_form(expr("GREATEST(LEAST(60 + m0 / m1, 120), 0)"))
    assert clamped == Ratio(Fraction(60), Fraction(1), "m0", "m1", Fraction(0), Fraction(120))
    assert ratio_form(expr("m0 / m0")) is None
    assert ratio_form(expr("(m0 + 1) / m1")) is None


BOUNDS = {"m0": (-2, 3), "m1": (4, 8)}


@pytest.mark.parametrize(
    ("sql", "ends"),
    [
        ("m0 + m1", (2, 11)),
        ("m0 - m1", (-10, -1)),
        ("m0 * m0", (-6, 9)),
        ("m0 / m1", (Fraction(-1, 2), Fraction(3, 4))),
        ("m1 / m0", None),
        ("SQRT(m1)", (2.0, 8**0.5)),
        ("GREATEST(m0, 0)", (0, 3)),
        ("LEAST(m0, 0)", (-2, 0)),
        ("CASE WHEN m0 > 0 THEN m0 ELSE m1 END", (-2, 8)),
        ("m0 % 2", None),
    ],
)
def test_interval_arithmetic(sql, ends):
    assert interval_of(expr(sql), BOUNDS) == ends
