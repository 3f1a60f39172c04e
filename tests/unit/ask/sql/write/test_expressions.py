"""Expressions in SQL mean what the evaluator says, in whole numbers of steps."""

import datetime as dt
from fractions import Fraction

import duckdb
import pytest
import sqlglot

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.sql.scalars import Scope, to_expr
from discreet.ask.sql.write.expressions import Cell, Writer
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
)

FIELDS = {
    "a": IntegerDomain(-30_000, 30_000),
    "s": IntegerDomain(-5, 5),
    "m": NumberDomain(Fraction(-100), Fraction(100), Fraction(1, 4)),
    "t": CategoryDomain(("Ab", "c'd")),
    "d": DateDomain(dt.date(2000, 1, 1), dt.date(2039, 12, 31)),
    "y": BooleanDomain(),
}
ROWS = [
    {"a": -7, "s": -5, "m": Fraction(-7, 4), "t": "Ab", "d": dt.date(2024, 2, 29), "y": True},
    {"a": 29_999, "s": 5, "m": Fraction(100), "t": "c'd", "d": dt.date(2000, 1, 1), "y": False},
    {"a": 0, "s": 0, "m": Fraction(0), "t": None, "d": None, "y": None},
    {"a": None, "s": None, "m": None, "t": "Ab", "d": dt.date(2039, 12, 31), "y": True},
]
WRITER = Writer({name: Cell(name, domain, name) for name, domain in FIELDS.items()}, "duckdb")


def stored(name, value):
    """Return a value the way a block's column holds it: numbers in whole steps."""
    if name == "m" and value is not None:
        return int(value * 4)
    return value


@pytest.mark.parametrize(
    "sql",
    [
        "a + m",
        "a - m * 2",
        "a * s",
        "m * m",
        "-m",
        "a / 4",
        "m / -2",
        "a // 7",
        "m // 3",
        "m // 0.5",
        "a % 7",
        "m % 3",
        "s * s",
        "2 * s + 2 * s",
        "ABS(m)",
        "FLOOR(m)",
        "CEIL(m)",
        "LEAST(a, m)",
        "GREATEST(a, s, 3)",
        "COALESCE(a, m, 7)",
        "CASE WHEN a > m THEN a WHEN y THEN m ELSE 0.5 END",
        "CASE WHEN a > m THEN t END",
        "a > m",
        "a = 0 OR m < 0",
        "NOT (y AND a > s)",
        "m IS NULL",
        "a IN (0, -7, 2)",
        "m IN (-1.75, 0.3)",
        "UPPER(t)",
        "LENGTH(t) + s * 0",
        "t LIKE 'A%'",
        "YEAR(d)",
        "MONTH(d) * 100 + DAY(d)",
        "QUARTER(d)",
        "DAYOFWEEK(d)",
        "d - DATE '2000-01-01'",
        "ROUND(s / 2)",
        "SIGN(s)",
        "CAST(s AS VARCHAR)",
    ],
)
def test_sql_agrees_with_the_evaluator(sql):
    node = sqlglot.parse_one(sql, read="duckdb")
    scope = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
    expr = to_expr(node, scope)
    written, step = WRITER.write(expr), WRITER.step(expr)
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r (a BIGINT, s BIGINT, m BIGINT, t VARCHAR, d DATE, y BOOLEAN)"
    )
    for row in ROWS:
        cells = [stored(name, row[name]) for name in FIELDS]
        connection.execute("DELETE FROM r")
        connection.execute("INSERT INTO r VALUES (?, ?, ?, ?, ?, ?)", cells)
        ((found,),) = connection.execute(f"SELECT {written} FROM r").fetchall()
        expected = evaluate(expr, row)
        if isinstance(expected, int | Fraction) and not isinstance(expected, bool):
            assert found * step == expected, row
        else:
            assert found == expected, row
    connection.close()
