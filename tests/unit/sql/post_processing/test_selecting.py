"""What the steps of a statement may be made of either shows all that it is given, or widens error bars."""

import pytest
import sqlglot
from sqlglot import exp

from asking import catalog
from discreet.plan.functions.registry import SCALARS
from discreet.sql.parse import read_checked
from discreet.sql.post_processing.grammar import _NAMES, STEPS
from discreet.sql.post_processing.lineage import most_rows_kept, selection_of, sources_of
from discreet.sql.post_processing.selecting import PASSING, selects
from discreet.sql.post_processing.split import split

OF_QUERIES = {
    *(exp.Alias, exp.CTE, exp.Except, exp.From, exp.Group, exp.Having, exp.Intersect, exp.Join),
    *(exp.Limit, exp.Offset, exp.Qualify, exp.Select, exp.Subquery, exp.Table, exp.TableAlias),
    *(exp.Union, exp.With, exp.Exists),
}
"""Parts of queries: `selects` and `sources_of` have their rules."""
WITHOUT_VALUES = {
    *(exp.Boolean, exp.Column, exp.Literal, exp.Null, exp.Star, exp.Identifier, exp.Var, exp.Pi),
    *(exp.DataType, exp.DataTypeParam, exp.CurrentDate, exp.CurrentTimestamp, exp.WindowSpec),
}
"""What is given no value: names, constants, types."""


def hides(sql):
    (found,) = sources_of(sqlglot.parse_one(f"SELECT {sql} AS x FROM r0", read="duckdb"))
    return found.hides


def given_noise(kind):
    """Return a node of this kind with an end of an interval wherever it takes a value."""
    end = exp.column("l0")
    parts = {"this": end.copy(), "expression": end.copy()}
    found = kind(**{name: part for name, part in parts.items() if name in kind.arg_types})
    if "expressions" in kind.arg_types:
        found.set("expressions", [end.copy()])
    if kind is exp.Cast:
        found.set("to", exp.DataType.build("INT"))
    return found


@pytest.mark.parametrize(
    "kind", sorted(STEPS - OF_QUERIES - WITHOUT_VALUES, key=lambda k: k.__name__)
)
def test_a_function_of_the_grammar_is_listed_or_selects(kind):
    node = given_noise(kind)
    assert node.find(exp.Column), "this test gives it nothing"
    (found,) = sources_of(exp.Select(expressions=[node]).from_("r0"))
    assert found.hides or PASSING[kind][0]


def test_only_what_the_grammar_knows_is_listed_and_with_a_reason():
    assert PASSING.keys() <= STEPS
    assert all(reason for reason, _ in PASSING.values())


@pytest.mark.parametrize("name", sorted(_NAMES))
def test_a_function_that_the_parser_does_not_know_selects(name):
    assert hides(f"{name}(l0, 1)")


@pytest.mark.parametrize(
    "call", sorted({call for row in SCALARS.values() if row.steps for call in row.written})
)
def test_a_scalar_function_selects_but_for_rounding(call):
    node = sqlglot.parse_one(call, read="duckdb")
    rounds = (exp.Round, exp.Floor, exp.Ceil, exp.Cast)
    if not node.find(exp.Column) or isinstance(node, rounds):
        return
    for column in node.find_all(exp.Column):
        column.replace(exp.column("l0"))
    assert hides(node.sql(dialect="duckdb"))


@pytest.mark.parametrize(
    "sql",
    [
        *("l0", "l0 + h0", "2 * l0 - 1", "-(l0)", "l0 / 3", "l0 * 100.0 / 7", "ROUND(l0, 1)"),
        *("l0::DOUBLE", "CAST([c0, c1] AS TEXT)", "SUM(l0)", "AVG(l0)", "COUNT(l0)", "COUNT(*)"),
        *("SUM(l0) OVER ()", "RANK() OVER (ORDER BY l0)", "FLOOR(l0)", "UPPER('a')"),
    ],
)
def test_sums_and_the_like_pass(sql):
    assert not hides(sql)


@pytest.mark.parametrize(
    "sql",
    [
        *("l0 * c1", "l0 / c1", "1 / l0", "l0::TINYINT", "TRY_CAST(l0 AS DOUBLE)", "l0 > 3"),
        *("SUM(DISTINCT l0)", "SUM(l0) FILTER (WHERE c1 > 3)", "CASE WHEN c1 > 3 THEN l0 END"),
        *("CASE c1 WHEN 3 THEN l0 END", "SUM(l0) OVER (ORDER BY c1)", "LAG(l0) OVER (ORDER BY c1)"),
        *(
            "SUM(l0) OVER (PARTITION BY c1)",
            "SUM(l0) OVER (ROWS 1 PRECEDING)",
            "ROUND(l0, c1::INT)",
        ),
        *("MAX(l0) OVER ()", "l0 + SQRT(c1)", "COALESCE(l0, 0)", "(SELECT l0 FROM r0 LIMIT 1)"),
        *(
            "l0 + (SELECT 0 WHERE l0 > 3)",
            "l0 + EXISTS(SELECT 1 FROM r0)::DOUBLE",
            "l0 + elsewhere",
        ),
    ],
)
def test_what_is_not_listed_selects(sql):
    assert hides(sql)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT c0 FROM r0 ORDER BY c1", False),
        ("SELECT c0 FROM r0 UNION ALL SELECT c0 FROM r1", False),
        ("SELECT c0 FROM r0 UNION SELECT c0 FROM r1", True),
        ("SELECT c0 FROM r0 EXCEPT ALL SELECT c0 FROM r1", True),
        ("SELECT DISTINCT c0 FROM r0", True),
        ("SELECT c0 FROM (SELECT c0 FROM r0 LIMIT 3) AS t", True),
        ("SELECT c0 FROM r0 UNION ALL SELECT c0 FROM r1 LIMIT 3", True),
        ("SELECT r0.c0 FROM r0, r1", True),
        ("SELECT SUM(c0) FROM r0 HAVING SUM(c0) > 3", True),
    ],
)
def test_a_clause_that_leaves_rows_out_selects(sql, found):
    assert selects(sqlglot.parse_one(sql, read="duckdb")) is found


M = (
    "WITH m AS (SELECT age, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lo, MEDIAN(balance) AS mid "
    "FROM people GROUP BY age) "
)


ONE = (
    "SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lo, MEDIAN(age) AS mid FROM people WHERE age < {}"
)
THREE = " UNION ALL ".join(ONE.format(i) for i in (3, 4, 5))


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        (f"SELECT lo FROM ({THREE}) AS u", [3, 3, 3]),
        (f"SELECT mid FROM ({THREE}) AS u", [3, 3, 3]),
        (f"SELECT n FROM ({THREE}) AS u", [1, 1, 1]),
        (f"SELECT lo - (SELECT AVG(mid) FROM ({ONE.format(9)}) AS t) FROM ({THREE}) AS u", [4] * 4),
        (
            f"SELECT lo, (SELECT AVG(mid) FROM ({ONE.format(9)}) AS t) FROM ({ONE.format(3)}) AS u",
            [1, 1],
        ),
        (
            "SELECT sex, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM people) FROM people GROUP BY sex",
            [1, 1],
        ),
        ("SELECT sex, COUNT(*), MEDIAN(age) FROM people GROUP BY ROLLUP (sex)", [2, 2]),
    ],
)
def test_how_many_queries_show_errors_in_one_column(sql, parts):
    program = split(read_checked(sql), catalog())
    assert sorted(selection_of(program, i).parts for i in range(len(program.parts))) == parts


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT age, n, lo FROM m ORDER BY n DESC", None),
        ("SELECT age, n, RANK() OVER (ORDER BY n DESC) AS place, lo FROM m", None),
        ("SELECT age, n, MAX(n) OVER () AS most, LAG(n) OVER (ORDER BY n) AS other FROM m", None),
        ("SELECT age, n * 100.0 / SUM(n) OVER () AS share, lo - 1 AS low FROM m", None),
        ("SELECT age, CASE WHEN n > 3 THEN 'many' END AS word FROM m", None),
        ("SELECT SUM(n) AS n, SUM(lo) AS lo, AVG(mid) AS mid FROM m", None),
        ("SELECT MAX(n) AS most FROM m", None),
        ("SELECT SUM(lo) FILTER (WHERE age < 9) AS lo FROM m", None),
        ("SELECT CASE WHEN age < 9 THEN mid END AS mid FROM m", None),
        ("SELECT age, SUM(lo) OVER (ORDER BY age) AS lo FROM m", None),
        ("SELECT MAX(lo) AS lo FROM m", 0),
        ("SELECT MAX(mid) AS mid FROM m", 0),
        ("SELECT age, lo / n AS lo FROM m", 0),
        ("SELECT age, (SELECT MAX(lo) FROM m) AS lo FROM m", 0),
        ("SELECT age, (SELECT lo FROM m ORDER BY n LIMIT 1) AS lo FROM m", 0),
        ("SELECT x FROM (SELECT LAG(lo) OVER (ORDER BY n) AS x FROM m) AS t", 0),
        ("SELECT lo FROM m UNION ALL SELECT MIN(lo) FROM m", 0),
        ("SELECT SUM(lo) FILTER (WHERE n > 9) AS lo FROM m", 0),
        ("SELECT age, lo FROM m ORDER BY n LIMIT 3", 3),
    ],
)
def test_steps_select_where_errors_depend_on_it(sql, found):
    program = split(read_checked(M + sql), catalog())
    assert most_rows_kept(program, 0) == found
