"""Constants and names, quoted for each dialect."""

import datetime as dt
from fractions import Fraction

import duckdb
import pytest

from discreet.engine.dialect.names import quoted
from discreet.kernel.canonical.literals import constant, decimal, text

NASTY = [
    "O'Brien",
    "back\\slash",
    'say "hi"',
    "a`b",
    "line\nbreak",
    "'; DROP TABLE t; --",
    "Sør",
    "",
]


@pytest.mark.parametrize("value", NASTY)
def test_text_comes_back_as_it_was(value):
    assert duckdb.connect().execute(f"SELECT {text(value, 'duckdb')}").fetchone() == (value,)
    assert text(value, "postgres") == "'" + value.replace("'", "''") + "'"
    assert text(value, "duckdb") == text(value, "postgres")


def test_spark_escapes_with_a_backslash():
    assert text("O'Brien\\", "spark") == r"'O\'Brien\\'"


@pytest.mark.parametrize("name", ["age", "shoe size", 'say "hi"', "a`b", "select"])
def test_names_are_quoted(name):
    sql = f"SELECT t.{quoted(name, 'duckdb')} FROM (SELECT 5 AS {quoted(name, 'duckdb')}) AS t"
    assert duckdb.connect().execute(sql).fetchone() == (5,)
    assert quoted(name, "spark") == "`" + name.replace("`", "``") + "`"


def test_other_constants():
    assert constant(None, "duckdb") == "NULL"
    assert constant(True, "duckdb") == "TRUE"
    assert constant(dt.date(2024, 2, 29), "spark") == "DATE '2024-02-29'"
    assert constant(Fraction(7), "postgres") == "7"
    assert decimal(Fraction(1, 8)) == "0.125"
    assert (
        constant(dt.datetime(2024, 2, 29, 1, 2, 3), "duckdb") == "TIMESTAMP '2024-02-29 01:02:03'"
    )
    assert constant(False, "spark") == "FALSE"
    assert decimal(Fraction(-3)) == "-3"
    assert decimal(Fraction(1, 2)) == "0.5"
    assert decimal(Fraction(-5, 4)) == "-1.25"
    assert decimal(Fraction(1, 10**9)) == "0.000000001"
