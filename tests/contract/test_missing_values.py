"""Rows that miss a value, left out before a sum is clamped or counted as 0: the number is that of plain SQL."""

from __future__ import annotations

import random

import duckdb
import pytest

import discreet
from sittings import FULL

TOML = """
[datasets.town]
epsilon = 1e12
[datasets.town.tables.t]
source = "t.csv"
unit = "row"
[datasets.town.tables.t.columns]
a = {{ type = "integer", lower = 0, upper = 30 }}
b = {{ type = "integer", lower = -10, upper = 50 }}
half = {{ type = "number", lower = -5, upper = 5, step = 0.5 }}
flag = {{ type = "boolean" }}
kind = {{ type = "category", values = ["x", "y"] }}
"""
OPERANDS = [
    "a * 2 + 1",
    "a * b",
    "a - half",
    "-b",
    "ABS(b - 7)",
    "COALESCE(a, 3) * b",
    "b / 4 + a",
    "CASE WHEN flag THEN b END",
    "CASE WHEN flag THEN b ELSE 0 END",
    "CASE WHEN flag THEN b ELSE a END",
    "CASE WHEN flag THEN b ELSE 7 END",
    "CASE WHEN flag THEN a + 40 END",  # whose clamp has no 0
    "CASE WHEN flag THEN a * 2 - 20 END",  # in steps that have a 0, which a literal has not
    "CASE WHEN flag THEN a * 5 - 50 WHEN a > 3 THEN b - 1 END",
    "CASE WHEN a IS NULL THEN 1 END",
    "CASE WHEN flag THEN half * 2 WHEN kind = 'x' THEN 0 END",
]
MEASURES = [
    "SUM({0})",
    "SUM({0}), COUNT({0})",
    "SUM({0}), COUNT(*)",
    "SUM({0}), SUM(b * 3 + 1)",
    "COUNT(DISTINCT {0}), SUM({0})",
    "COUNT(*), AVG({0}), SUM(b * 3 + 1), COUNT(a), COUNT(kind), COUNT(flag), COUNT(DISTINCT kind)",
]

RESTS = ("", " WHERE flag IS NOT NULL")


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("missing")
    rng = random.Random(7)

    def maybe(text: object) -> str:
        return "" if rng.random() < 0.3 else str(text)

    def row() -> str:
        numbers = (rng.randint(0, 30), rng.randint(-10, 50), rng.randint(-10, 10) / 2)
        others = (rng.choice(["true", "false"]), rng.choice("xy"))
        return ",".join(map(maybe, (*numbers, *others)))

    rows = [row() for _ in range(300)]
    (folder / "t.csv").write_text("\n".join(["a,b,half,flag,kind", *rows]) + "\n")
    (folder / "discreet.toml").write_text(TOML.format())
    plain = duckdb.connect()
    plain.execute(f"CREATE TABLE t AS FROM read_csv('{folder / 't.csv'}', nullstr = '')")
    with discreet.open(folder / "discreet.toml") as curator:
        yield curator, plain


@pytest.mark.parametrize("operand", OPERANDS)
def test_a_sum_is_that_of_plain_sql(town, operand):
    curator, plain = town
    for place, measures in enumerate(MEASURES, OPERANDS.index(operand)):
        for rest in RESTS if FULL else RESTS[place % 2 :][:1]:
            sql = f"SELECT {measures.format(operand)} FROM t{rest}"
            (answer,) = curator.query(sql, epsilon=1e8, fresh=True).rows
            (exact,) = plain.execute(sql).fetchall()
            assert [float(value) for value in answer] == pytest.approx(list(map(float, exact)))


def test_whom_a_flag_that_is_there_touches(town):
    curator, _ = town
    everyone = curator.explain("SELECT SUM(a * 2 + 1) FROM t", epsilon=1).region
    assert everyone == curator.explain("SELECT COUNT(*) FROM t", epsilon=1).region
    there = curator.explain("SELECT COUNT(*) FROM t WHERE flag IS NOT NULL", epsilon=1)
    assert there.region != everyone
    (sql,) = there.sql.splitlines()
    assert "IN (TRUE, FALSE)" in sql
