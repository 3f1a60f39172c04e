"""Shapes of outputs: linear, ratio, interval."""

from fractions import Fraction

import pytest
import sqlglot

from discreet.ask.plan import expr as e
from discreet.ask.release.confidence_sets import (
    Linear,
    Ratio,
    Spread,
    linear_form,
    ratio_form,
    spread_form,
)
from discreet.ask.sql.scalars import Scope, to_expr


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


@pytest.mark.parametrize(
    ("sql", "constant", "factor", "low", "high"),
    [
        ("3 - 2 * GREATEST(LEAST(m0 / m1, 9), 1)", 3, -2, -15, 1),
        ("-(m0 / m1) / 4 - 1", -1, Fraction(-1, 4), None, None),
        ("GREATEST(GREATEST(LEAST(m0 / m1, 9), 1), 5)", 0, 1, 5, 9),
        ("CASE WHEN m1 > 0 THEN m0 / m1 END", 0, 1, None, None),
    ],
)
def test_ratios_are_moved_and_cut(sql, constant, factor, low, high):
    found = ratio_form(expr(sql))
    assert found == Ratio(Fraction(constant), Fraction(factor), "m0", "m1", low, high)


def test_a_case_on_anything_else_is_no_ratio():
    assert ratio_form(expr("CASE WHEN m0 > 0 THEN m0 / m1 END")) is None


def test_variances():
    sql = "GREATEST(LEAST(4 * m0 / m2 - (2 * m1 / m2) * (2 * m1 / m2), 100), 0)"
    assert spread_form(expr(sql)) == Spread(
        Fraction(4), Fraction(2), "m0", "m1", "m2", Fraction(100)
    )
    assert spread_form(expr(sql.replace("100", "m0"))) is None
    assert spread_form(expr("GREATEST(LEAST(m0 / m2 - (m1 / m3) * (m1 / m3), 9), 0)")) is None
    assert spread_form(expr("GREATEST(LEAST(m0 / m2 - (m1 / m2) * (m0 / m2), 9), 0)")) is None
