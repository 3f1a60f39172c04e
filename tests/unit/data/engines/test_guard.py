from __future__ import annotations

import pytest

from discreet.data.engines.guard import only_select
from discreet.errors import EngineFailed

DIALECTS = ["duckdb", "postgres", "spark"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "(SELECT 1)",
        "  WITH t AS (SELECT 1 AS a) SELECT a FROM t",
        "VALUES (1)",
        "SELECT 'drop table; -- /* $ pg_sleep(1) set' AS a",
        "SELECT DATE '2020-01-01', CASE WHEN 1 = 1 THEN 2 END",
        "SELECT setting, loaded, updated_at, offset_days FROM t",
    ],
)
def test_plain_selects_pass(sql, dialect):
    assert only_select(sql, dialect) == sql


def test_quoted_names_may_be_any_word():
    assert only_select('SELECT "load", "set", "pg_class" FROM "copy"', "duckdb")
    assert only_select("SELECT `load`, 'it\\'s; set' FROM `copy`", "spark")
    assert only_select("SELECT 'it''s; set'", "postgres")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "sql",
    [
        "",
        "DROP TABLE t",
        "SELECT 1; DROP TABLE t",
        "SELECT 1 -- x",
        "SELECT /* x */ 1",
        "SELECT 'unfinished",
        "SELECT $$x$$",
        "SELECT E'\\'; DROP TABLE t; '",
        "SELECT 1\x00",
        "EXPLAIN SELECT 1",
        "WITH gone AS (DELETE FROM t RETURNING 1) SELECT 1",
        "SELECT * FROM t TABLESAMPLE (10)",
        "SELECT * INTO t FROM u",
    ],
)
def test_everything_else_is_refused(sql, dialect):
    with pytest.raises(EngineFailed):
        only_select(sql, dialect)


def test_a_backslash_does_not_hide_a_statement_where_it_is_plain():
    # Standard SQL ends this literal at the second quote; Spark does not.
    sql = "SELECT '\\' ; DROP TABLE t; SELECT '"
    for dialect in ("duckdb", "postgres"):
        with pytest.raises(EngineFailed):
            only_select(sql, dialect)


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT * FROM read_csv('x')", "duckdb"),
        ("SELECT random()", "duckdb"),
        ("SELECT QUERY ('x')", "duckdb"),
        ("SELECT pg_sleep(1)", "postgres"),
        ("SELECT * FROM pg_stats", "postgres"),
        ("SELECT set_config('a', 'b', false)", "postgres"),
        ("SELECT reflect('a', 'b')", "spark"),
        ("SELECT rand()", "spark"),
    ],
)
def test_functions_that_reach_outside_are_refused(sql, dialect):
    with pytest.raises(EngineFailed):
        only_select(sql, dialect)
