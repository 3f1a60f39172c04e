"""Expressions evaluated as SQL would, and totally."""

import datetime as dt
from fractions import Fraction

import pytest
import sqlglot

from discreet.plan import expr as e
from discreet.plan.evaluate import evaluate, like_pattern
from discreet.sql.scalars import Scope, to_expr

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
    assert like_pattern("a.c%", False).fullmatch("a.c[x]")
    assert not like_pattern("a.c", False).fullmatch("abc")
    assert like_pattern("a%", False).fullmatch("a\nb")
