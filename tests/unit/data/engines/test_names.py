"""Names and constants of text, quoted for each dialect."""

import duckdb
import pytest

from discreet.data.engines.dialects import quoted, text_constant

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
    assert duckdb.connect().execute(f"SELECT {text_constant(value, 'duckdb')}").fetchone() == (
        value,
    )
    assert text_constant(value, "postgres") == "'" + value.replace("'", "''") + "'"
    assert text_constant(value, "duckdb") == text_constant(value, "postgres")


def test_spark_escapes_with_a_backslash():
    assert text_constant("O'Brien\\", "spark") == r"'O\'Brien\\'"


@pytest.mark.parametrize("name", ["age", "shoe size", 'say "hi"', "a`b", "select"])
def test_names_are_quoted(name):
    sql = f"SELECT t.{quoted(name, 'duckdb')} FROM (SELECT 5 AS {quoted(name, 'duckdb')}) AS t"
    assert duckdb.connect().execute(sql).fetchone() == (5,)
    assert quoted(name, "spark") == "`" + name.replace("`", "``") + "`"
