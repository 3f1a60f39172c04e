"""Kinds of values: mixtures are refused before anything is charged."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest

from asking import question
from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Comparison, Operator, Part
from discreet.ask.plan.kinds import SCALARS, check_condition, kind_of, kind_of_value
from discreet.errors import QueryRefused

KINDS = {"n": "number", "c": "category", "b": "boolean", "d": "date", "i": "identifier"}
N, C, B, D = (e.ColumnRef(name) for name in "ncbd")
ONE, TEXT, NULL = e.Literal(1), e.Literal("x"), e.Literal(None)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "number"),
        (Fraction(1, 2), "number"),
        ("x", "category"),
        (dt.date(2020, 1, 1), "date"),
    ],
)
def test_constants(value, kind):
    assert kind_of_value(value) == kind


@pytest.mark.parametrize(
    ("expr", "kind"),
    [
        (e.Arithmetic(Operator.ADD, N, ONE), "number"),
        (e.Arithmetic(Operator.SUBTRACT, D, D), "number"),
        (e.Arithmetic(Operator.ADD, N, NULL), "number"),
        (e.Compare(Comparison.LESS, N, ONE), "boolean"),
        (e.Compare(Comparison.EQUAL, C, NULL), "boolean"),
        (e.In(C, ("x", None)), "boolean"),
        (e.IsNull(e.ColumnRef("i")), "boolean"),
        (e.Case(((B, N),), NULL), "number"),
        (e.Coalesce((C, TEXT)), "category"),
        (e.Extreme(greatest=True, operands=(D, D)), "date"),
        (e.DatePart(Part.YEAR, D), "number"),
        (e.Call("length", C), "number"),
        (e.Call("text", N), "category"),
        (e.Not(B), "boolean"),
        (e.Or((B, NULL)), "boolean"),
        (e.Case(((B, NULL),), NULL), "null"),
    ],
)
def test_what_is_of_one_kind_has_it(expr, kind):
    assert kind_of(expr, KINDS) == kind


@pytest.mark.parametrize(
    "expr",
    [
        e.Arithmetic(Operator.ADD, N, TEXT),
        e.Arithmetic(Operator.ADD, D, D),
        e.Arithmetic(Operator.ADD, B, ONE),
        e.Negate(C),
        e.Compare(Comparison.LESS, C, ONE),
        e.Compare(Comparison.EQUAL, e.ColumnRef("i"), e.ColumnRef("i")),
        e.And((B, N)),
        e.Not(N),
        e.In(C, (1,)),
        e.Like(N, "%"),
        e.Case(((N, ONE),), ONE),
        e.Case(((B, ONE),), TEXT),
        e.Coalesce((N, TEXT)),
        e.Extreme(greatest=False, operands=(N, C)),
        e.DatePart(Part.YEAR, N),
        e.Call("abs", C),
        e.Call("lower", N),
        e.Call("truncate_date", N),
    ],
)
def test_mixtures_are_refused_with_a_sentence(expr):
    with pytest.raises(QueryRefused) as caught:
        kind_of(expr, KINDS)
    assert caught.value.hint


def test_a_condition_is_a_boolean_or_null():
    check_condition(B, KINDS)
    check_condition(NULL, KINDS)
    with pytest.raises(QueryRefused):
        check_condition(N, KINDS)


def test_every_function_has_a_kind():
    columns = (N, C, B, D, e.Literal(dt.datetime(2024, 1, 2, 3)))
    for function in SCALARS:
        accepted = 0
        for column in columns:
            try:
                accepted += bool(kind_of(e.Call(function, column), KINDS))
            except QueryRefused:
                continue
        assert accepted, function


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE age",
        "SELECT COUNT(*) FROM people WHERE sex + 1 > 3",
        "SELECT COUNT(*) FROM people WHERE sex * 1000000000 = 'x'",
        "SELECT COUNT(*) FROM people WHERE 'a' < 5",
        "SELECT COUNT(*) FROM people WHERE born > 5",
        "SELECT COUNT(*) FROM people WHERE sex AND member",
        "SELECT COUNT(*) FROM people WHERE LEAST(sex, 5) = 3",
        "SELECT SUM(member + 1) FROM people",
        "SELECT SUM(-sex) FROM people",
        "SELECT 'a' + COUNT(*) FROM people",
        "SELECT COUNT(*) < 'a' FROM people",
        "SELECT sex, sex + COUNT(*) FROM people GROUP BY sex",
        "SELECT COUNT(*) FROM people HAVING 5",
        "SELECT CASE WHEN COUNT(*) > 3 THEN 'a' ELSE 1 END FROM people",
        "SELECT UPPER(COUNT(*)) FROM people",
    ],
)
def test_mixtures_are_refused(sql):
    with pytest.raises(QueryRefused):
        question(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE age > 5.5 AND member",
        "SELECT COUNT(*) FROM people WHERE CASE WHEN member THEN age ELSE NULL END > 3",
        "SELECT sex, UPPER(sex), COUNT(*) > 3 FROM people GROUP BY sex",
        "SELECT COALESCE(AVG(age), 0) FROM people HAVING COUNT(*) > 0 AND TRUE",
    ],
)
def test_proper_questions_are_not(sql):
    assert question(sql)
