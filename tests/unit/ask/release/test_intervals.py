"""Interval arithmetic over outputs."""

import math

import pytest
import sqlglot

from discreet.ask.plan import expr as e
from discreet.ask.release.confidence_sets import interval_of
from discreet.ask.sql.scalars import Scope, to_expr


def expr(sql):
    scope = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
    return to_expr(sqlglot.parse_one(sql, read="duckdb"), scope)


BOUNDS = {"m0": (-2, 3), "m1": (4, 8)}


@pytest.mark.parametrize(
    ("sql", "ends"),
    [
        ("m0 + m1", (2, 11)),
        ("m0 - m1", (-10, -1)),
        ("m0 * m0", (-6, 9)),
        ("m0 / m1", (-0.5, 0.75)),
        ("m1 / m0", (-math.inf, math.inf)),
        ("LEAST(GREATEST(m1 / m0, 0), 7)", (0, 7)),
        ("m1 / m0 - m1 / m0", (-math.inf, math.inf)),
        ("EXP(m0)", None),
        ("SQRT(m1)", (2.0, 8**0.5)),
        ("GREATEST(m0, 0)", (0, 3)),
        ("LEAST(m0, 0)", (-2, 0)),
        ("CASE WHEN m0 > 0 THEN m0 ELSE m1 END", (-2, 8)),
        ("m0 % 2", None),
    ],
)
def test_interval_arithmetic(sql, ends):
    assert interval_of(expr(sql), BOUNDS) == ends
