"""Conditions as boxes: exact where they are boxes, a hull where they are not."""

import datetime as dt
from fractions import Fraction

import pytest
import sqlglot

from discreet.ask.plan import evaluate as tabulate
from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.regions import place_of, to_box
from discreet.ask.sql.scalars import Scope, coerce, to_expr
from discreet.base.event import NULL, Positions
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
)
from sittings import FULL

FIELDS = {
    "age": IntegerDomain(0, 120),
    "code": IntegerDomain(100, 999_999),
    "money": NumberDomain(Fraction(0), Fraction(10_000), Fraction(1, 100)),
    "sex": CategoryDomain(("Female", "Male")),
    "long": DateDomain(dt.date(1900, 1, 1), dt.date(2020, 12, 31)),
}


def condition(sql):
    node = sqlglot.parse_one(sql, read="duckdb")
    scope = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
    return coerce(to_expr(node, scope), FIELDS)


def box(sql):
    return to_box(condition(sql), FIELDS)


@pytest.mark.parametrize(
    ("sql", "spans"),
    [
        ("code > 150", [(51, 999_899)]),
        ("150 > code", [(0, 49)]),
        ("code >= 150.5", [(51, 999_899)]),
        ("code = 100", [(0, 0)]),
        ("code = 150.5", []),
        ("code <> 100", [(1, 999_899)]),
        ("code < 0", []),
        ("code > 0", [(0, 999_899)]),
        ("code IS NULL", [(-1, -1)]),
        ("NOT code IS NULL", [(0, 999_899)]),
        ("NOT (code > 150)", [(0, 50)]),
        ("code IN (100, 102, 5)", [(0, 0), (2, 2)]),
        ("code NOT IN (100, 101)", [(2, 999_899)]),
        ("code NOT IN (100, NULL)", []),
        ("code < 110 OR code > 999990", [(0, 9), (999_891, 999_899)]),
        ("code > NULL", []),
        ("money <= 0.015", [(0, 1)]),
        ("money > 0.01", [(2, 1_000_000)]),
        ("long >= '2020-12-30'", [(44_193, 44_194)]),
        ("long < DATE '1900-01-03'", [(0, 1)]),
        ("sex = 'Male'", [(1, 1)]),
        ("sex = 'male'", []),
        ("sex <> 'Male'", [(0, 0)]),
        ("age % 50 = 1", [(1, 1), (51, 51), (101, 101)]),
        ("COALESCE(age, 0) = 0", [(-1, 0)]),
    ],
)
def test_condition_on_one_column_is_exactly_a_box(sql, spans):
    found = box(sql)
    assert found.residual == e.TRUE
    assert list(found.positions.values()) == [Positions.of(spans)]
    assert found.hull == found.positions


def test_conjuncts_meet():
    found = box("age > 10 AND sex = 'Male' AND age <= 20")
    assert found.positions == {"age": Positions.of([(11, 20)]), "sex": Positions.points([1])}


def test_what_is_not_a_box_stays_as_residual():
    found = box("age > 10 AND age > code")
    assert found.positions == {"age": Positions.of([(11, 120)])}
    assert found.residual == condition("age > code")


def test_or_over_two_columns_has_a_hull_where_both_sides_restrict():
    found = box("(sex = 'Male' AND age < 5) OR (sex = 'Male' AND code = 100)")
    assert found.positions == {}
    assert found.hull == {"sex": Positions.points([1])}


@pytest.mark.parametrize(
    "sql",
    ["code > 150 OR code IS NULL", "NOT (code < 110 AND code > 105)", "code IN (100, 999999)"],
)
def test_large_columns_agree_with_the_evaluator(sql):
    ((name, positions),) = box(sql).positions.items()
    domain = FIELDS[name]
    for place in [-1, 0, 1, 4, 5, 6, 9, 10, 50, 51, 52, domain.size - 1]:
        value = None if place < 0 else domain.value(place)
        assert (place in positions) == (evaluate(condition(sql), {name: value}) is True), place


def test_place_of_a_value_between_two_steps():
    assert place_of(Fraction(3, 2), IntegerDomain(0, 9)) == (2, 2)
    assert place_of(4, IntegerDomain(0, 9)) == (4, 5)
    assert place_of("x", IntegerDomain(0, 9)) is None
    assert place_of(True, IntegerDomain(0, 9)) is None


@pytest.mark.parametrize("comparison", list(e.Comparison))
@pytest.mark.parametrize("by", [7, 3600])
def test_quotients_of_a_large_column_are_a_box(comparison, by):
    domain = IntegerDomain(-20_000, 90_000)
    quotient = e.Arithmetic(e.Operator.FLOOR_DIVIDE, e.ColumnRef("x"), e.Literal(by))
    # Of many in a row, those where a quotient begins and ends, and some between.
    every = 1 if FULL else max(1, by // 90)
    points = {0, 90_000, -20_000, -1, 1, *range(2 * by, 4 * by, every), *range(-by, by, every)}
    points |= {times * by + beside for times in range(-2, 5) for beside in (-2, -1, 0, 1, 2)}
    for value in (-30_000, -1, 0, 3, 12_857):
        condition = e.Compare(comparison, quotient, e.Literal(value))
        box = to_box(condition, {"x": domain})
        assert box.residual == e.TRUE
        for x in points:
            inside = (x - domain.lower) in box.positions["x"]
            assert inside == evaluate(condition, {"x": x}), (x, value)
        assert NULL not in box.positions["x"]


SMALL = {
    "age": IntegerDomain(-3, 12),
    "money": NumberDomain(Fraction(-1), Fraction(2), Fraction(1, 4)),
    "sex": CategoryDomain(("Female", "Male", "1")),
    "yes": BooleanDomain(),
    "day": DateDomain(dt.date(2024, 2, 20), dt.date(2024, 3, 9)),
}
CONSTANTS = {
    "age": ["0", "-3", "12", "13", "-4", "5.5", "NULL"],
    "money": ["0", "0.25", "-1", "2", "0.3", "3", "NULL"],
    "sex": ["'Male'", "'1'", "'other'", "''", "NULL"],
    "yes": ["TRUE", "FALSE", "NULL"],
    "day": ["DATE '2024-02-29'", "'2024-03-09'", "DATE '1999-01-01'", "DATE '2030-01-01'", "NULL"],
}


def simple_conditions(name):
    values = CONSTANTS[name]
    for sign in ("=", "<>", "<", "<=", ">", ">="):
        yield from (f"{name} {sign} {value}" for value in values)
        yield from (f"{value} {sign} {name}" for value in values)
    yield from (f"{name} IS NULL", f"{name} IN ({', '.join(values)})")
    yield from (f"{name} IN ({values[0]}, {values[1]})", f"{name} NOT IN ({values[0]})")
    yield from (f"{name} BETWEEN {low} AND {high}" for low in values for high in values)


@pytest.mark.parametrize("name", SMALL)
def test_a_rule_says_what_trying_every_value_says(name):
    domain = SMALL[name]
    simple = list(simple_conditions(name))
    pairs = [
        f"({a}) {word} NOT ({b})"
        for a, b in zip(simple, simple[7:], strict=False)
        for word in ("AND", "OR")
    ]
    for sql in [*simple, *(f"NOT ({each})" for each in simple), *pairs]:
        node = sqlglot.parse_one(sql, read="duckdb")
        scope = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
        asked = coerce(to_expr(node, scope), SMALL)
        found = to_box(asked, SMALL)
        assert found.residual == e.TRUE, sql
        for place in range(-1, domain.size):
            value = None if place < 0 else domain.value(place)
            inside = all(place in positions for positions in found.positions.values())
            assert inside == (evaluate(asked, {name: value}) is True), (sql, value)


def test_no_value_of_a_long_calendar_is_tried_for_a_comparison(monkeypatch):
    monkeypatch.setattr(tabulate, "evaluate", lambda *_: pytest.fail("44,195 days were tried"))
    box("long = '1985-03-04'")
    box("long BETWEEN '1985-03-04' AND '1985-03-09' OR long IS NULL")
    box("long NOT IN ('1985-03-04', '1985-03-05')")
