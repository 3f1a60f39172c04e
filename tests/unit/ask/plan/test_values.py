"""Domains by exact interval arithmetic and by tabulation."""

import datetime as dt
from fractions import Fraction

import pytest
import sqlglot

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import tabulated
from discreet.ask.plan.expr import common_step, number_domain
from discreet.ask.plan.values import infer, infer_by_rule, numeric
from discreet.ask.sql.scalars import Scope, to_expr
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.errors import QueryRefused

WIDE = IntegerDomain(-20_000, 30_000)  # too wide to be tabulated
FIELDS = {
    "small": IntegerDomain(-2, 5),
    "wide": WIDE,
    "money": NumberDomain(Fraction(0), Fraction(1000), Fraction(1, 100)),
    "huge": IntegerDomain(0, 10**17),
    "sex": CategoryDomain(("Female", "Male")),
    "day": DateDomain(dt.date(2024, 1, 1), dt.date(2024, 3, 31)),
    "long": DateDomain(dt.date(1900, 1, 1), dt.date(2020, 12, 31)),
    "yes": BooleanDomain(),
}


def domain(sql, how=infer):
    node = sqlglot.parse_one(sql, read="duckdb")
    scope = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
    return how(to_expr(node, scope), FIELDS)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("wide", WIDE),
        ("wide + money", (-20_000, 31_000, "0.01")),
        ("wide - money", (-21_000, 30_000, "0.01")),
        ("wide * wide", (-600_000_000, 900_000_000, 1)),
        ("-wide", (-30_000, 20_000, 1)),
        ("wide / 4", (-5_000, 7_500, "1/4")),
        ("wide / -4", (-7_500, 5_000, "1/4")),
        ("wide // 7", (-2858, 4285, 1)),
        ("wide % 7", (0, 6, 1)),
        ("ABS(wide)", (0, 30_000, 1)),
        ("FLOOR(money)", (0, 1000, 1)),
        ("LEAST(wide, 10)", (-20_000, 10, 10)),
        ("COALESCE(wide, 40000)", (-20_000, 40_000, 10_000)),
        ("CASE WHEN yes THEN money ELSE -1 END", (-1, 1000, "0.01")),
        ("small * small", (0, 25, 1)),
        ("small // 2", (-1, 2, 1)),
        ("day - DATE '2024-01-01'", (0, 90, 1)),
        ("long - day", (-45_380, -1096, 1)),
        ("YEAR(long)", (1900, 2020, 1)),
        ("MONTH(long)", (1, 12, 1)),
        ("MONTH(day)", (1, 3, 1)),
        ("DAYOFWEEK(long)", (0, 6, 1)),
    ],
)
def test_range_and_step(sql, expected):
    found = domain(sql)
    if isinstance(expected, tuple):
        low, high, step = expected
        allowed = Fraction(step)
        assert (found.lower, found.upper) == (low, high)
        actual = found.step if isinstance(found, NumberDomain) else Fraction(1)
        # A finer step is sound; it must divide the expected one.
        assert (allowed / actual).denominator == 1
    else:
        assert found == expected


def test_tabulated_square_is_tighter_than_the_rule():
    assert domain("small * small") == IntegerDomain(0, 25)
    assert domain("small * small", infer_by_rule) == IntegerDomain(-10, 25)


def test_texts_and_truths():
    assert domain("UPPER(sex)") == CategoryDomain(("FEMALE", "MALE"))
    assert domain("CASE WHEN wide > 0 THEN 'a' ELSE sex END") == (
        CategoryDomain(("a", "Female", "Male"))
    )
    assert domain("wide > 3 AND yes") == BooleanDomain()


def test_tabulated_begins_with_null():
    node = e.Coalesce((e.ColumnRef("small"), e.Literal(9)))
    assert tabulated(node, FIELDS) == [9, -2, -1, 0, 1, 2, 3, 4, 5]
    assert tabulated(e.Negate(e.ColumnRef("wide")), FIELDS) is None


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("huge * huge", "too large"),
        ("huge * 100 + 1", "too large"),
        ("huge * 100 > money", "too large"),
        ("money / wide", "never negative"),
        ("money / 0", "division is only possible by a constant"),
        ("wide // -3", "integer division by a negative"),
        ("POWER(wide, 40)", "inexact"),
        ("SIN(wide)", "so many values"),
        ("wide + sex", "needs a number"),
        ("ROUND(wide, 2)", "so many values"),
    ],
)
def test_what_cannot_be_bounded_is_refused(sql, words):
    with pytest.raises(QueryRefused, match=words):
        domain(sql)


def test_common_step_is_the_greatest_that_divides_both():
    assert common_step(Fraction(1, 4), Fraction(1, 6)) == Fraction(1, 12)
    assert common_step(Fraction(0), Fraction(3)) == 3
    assert common_step(Fraction(10), Fraction(4)) == 2


def test_whole_steps_are_integers():
    assert number_domain(Fraction(1), Fraction(5), Fraction(1)) == IntegerDomain(1, 5)
    with pytest.raises(QueryRefused, match="too large"):
        number_domain(Fraction(0), Fraction(2**62), Fraction(1))


@pytest.mark.parametrize("sql", ["NULLIF(small, small)", "CASE WHEN small > 99 THEN small END"])
def test_what_is_never_a_number_is_said_to_be_null(sql):
    with pytest.raises(QueryRefused, match="NULL whatever the rows hold"):
        domain(sql, numeric)
    with pytest.raises(QueryRefused, match="not one"):
        domain("yes", numeric)
