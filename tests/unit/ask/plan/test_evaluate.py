"""Expressions evaluated as SQL would, and totally."""

import datetime as dt
from fractions import Fraction

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import LONGEST, evaluate, is_like
from discreet.ask.plan.kinds import SCALARS
from discreet.ask.sql.scalars import Scope, to_expr

ROW = {
    "i": 7,
    "n": -3,
    "f": Fraction(5, 2),
    "t": "Ab c",
    "d": dt.date(2024, 2, 29),
    "yes": True,
    "no": False,
    "null": None,
    "zero": 0,
}


def value(sql):
    node = sqlglot.parse_one(sql, read="duckdb")
    scope = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
    return evaluate(to_expr(node, scope), ROW)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("i + n * 2", 1),
        ("i / 2", Fraction(7, 2)),
        ("i // 2", 3),
        ("n // 2", -2),
        ("i % 4", 3),
        ("n % 4", 1),
        ("i / zero", None),
        ("i // zero", None),
        ("i % zero", None),
        ("i + null", None),
        ("-f", Fraction(-5, 2)),
        ("i > n", True),
        ("i = null", None),
        ("null IS NULL", True),
        ("i IS NOT NULL", True),
        ("yes AND null", None),
        ("no AND null", False),
        ("yes OR null", True),
        ("no OR null", None),
        ("NOT null", None),
        ("i IN (1, 7)", True),
        ("i IN (1, 2)", False),
        ("i IN (1, NULL)", None),
        ("null IN (1)", None),
        ("i BETWEEN 1 AND 7", True),
        ("t LIKE 'A%c'", True),
        ("t LIKE 'a%'", False),
        ("t ILIKE 'a_ %'", True),
        ("null LIKE '%'", None),
        ("CASE WHEN null THEN 1 WHEN yes THEN 2 END", 2),
        ("CASE i WHEN 7 THEN 'x' ELSE 'y' END", "x"),
        ("CASE WHEN no THEN 1 END", None),
        ("IF(no, 1, 2)", 2),
        ("NULLIF(i, 7)", None),
        ("COALESCE(null, n)", -3),
        ("LEAST(i, n)", -3),
        ("GREATEST(i, null)", None),
        ("CLAMP(i, 0, 5)", 5),
        ("ABS(n)", 3),
        ("FLOOR(f)", 2),
        ("CEIL(f)", 3),
        ("ROUND(f)", 3),
        ("ROUND(-f)", -3),
        ("ROUND(f * 0.1, 1)", Fraction(3, 10)),
        ("SIGN(n)", -1),
        ("SQRT(i + 2)", 3.0),
        ("SQRT(n)", None),
        ("LN(zero)", None),
        ("POWER(i, 2)", 49),
        ("POWER(zero, -1)", None),
        ("EXP(100000)", None),
        ("UPPER(t)", "AB C"),
        ("LOWER(t)", "ab c"),
        ("LENGTH(t)", 4),
        ("LEFT(t, 2)", "Ab"),
        ("RIGHT(t, 1)", "c"),
        ("RIGHT(t, 0)", ""),
        ("SUBSTRING(t, 2, 2)", "b "),
        ("TRIM('  x ')", "x"),
        ("CAST(f AS INTEGER)", 3),
        ("CAST('12' AS INTEGER)", 12),
        ("CAST('1x' AS INTEGER)", None),
        ("CAST(yes AS VARCHAR)", "true"),
        ("EXTRACT(YEAR FROM d)", 2024),
        ("QUARTER(d)", 1),
        ("MONTH(d)", 2),
        ("DAY(d)", 29),
        ("DAYOFWEEK(d)", 4),
        ("DATE_TRUNC('month', d)", dt.date(2024, 2, 1)),
        ("DATE_TRUNC('quarter', d)", dt.date(2024, 1, 1)),
        ("DATE_TRUNC('week', d)", dt.date(2024, 2, 26)),
        ("d - DATE '2024-02-01'", 28),
        ("DATE '2024-01-31' + INTERVAL 1 MONTH", dt.date(2024, 2, 29)),
        ("DATE '2024-03-01' - INTERVAL 2 WEEK", dt.date(2024, 2, 16)),
        ("WIDTH_BUCKET(i, 0, 10, 5)", 4),
        ("WIDTH_BUCKET(n, 0, 10, 5)", 0),
        ("WIDTH_BUCKET(100, 0, 10, 5)", 6),
        ("no IS FALSE", True),
        ("null IS TRUE", False),
    ],
)
def test_value(sql, expected):
    found = value(sql)
    assert found == expected
    assert isinstance(found, bool) == isinstance(expected, bool)


def test_like_treats_other_signs_as_themselves():
    assert is_like("a.c[x]", "a.c%")
    assert not is_like("abc", "a.c")
    assert is_like("a\nb", "a%")


EXTREMES = [
    None,
    0,
    -1,
    2**62,
    -(10**40),
    Fraction(-1, 3),
    Fraction(10**30, 7),
    1e-300,
    -1e308,
    float("inf"),
    float("nan"),
    True,
    "",
    "x",
    dt.date.min,
    dt.date.max,
]
LEAVES = st.builds(e.Literal, st.sampled_from(EXTREMES)) | st.just(e.ColumnRef("x"))


def _grown(parts):
    pairs = st.tuples(parts, parts)
    return st.one_of(
        st.builds(e.Arithmetic, st.sampled_from(list(e.Operator)), parts, parts),
        st.builds(e.Compare, st.sampled_from(list(e.Comparison)), parts, parts),
        st.builds(e.Negate, parts) | st.builds(e.Not, parts) | st.builds(e.IsNull, parts),
        st.builds(e.And, pairs) | st.builds(e.Or, pairs) | st.builds(e.Coalesce, pairs),
        st.builds(e.Case, st.tuples(pairs), parts),
        st.builds(e.Extreme, st.booleans(), pairs),
        st.builds(e.In, parts, st.just((1, "x", None))),
        st.builds(e.Like, parts, st.just("%x_"), st.booleans()),
        st.builds(e.DatePart, st.sampled_from(list(e.Part)), parts),
        st.builds(
            e.Call,
            st.sampled_from(sorted(SCALARS)),
            parts,
            st.lists(st.sampled_from([-1, 2, 64, Fraction(1, 2), "week", 10**9]), max_size=2).map(
                tuple
            ),
        ),
    )


@given(st.recursive(LEAVES, _grown, max_leaves=12), st.sampled_from(EXTREMES))
def test_it_never_raises(expr, x):
    found = evaluate(expr, {"x": x})
    assert found is None or isinstance(found, int | Fraction | float | str | dt.date)


def test_numbers_without_use_are_null():
    negative = e.Call("power", e.ColumnRef("n"), (Fraction(1, 2),))
    assert evaluate(negative, ROW) is None  # a complex number in Python
    product = e.ColumnRef("x")
    for _ in range(5):
        product = e.Arithmetic(e.Operator.MULTIPLY, product, product)
    assert evaluate(product, {"x": 2**100}) == 2**3200
    assert evaluate(product, {"x": 2 ** (LONGEST // 20)}) is None


def test_whole_quotients_of_large_numbers_are_exact():
    assert evaluate(
        e.Arithmetic(e.Operator.MODULO, e.ColumnRef("x"), e.Literal(7)), {"x": 10**30}
    ) == (10**30 % 7)
