"""What the steps of a statement may be made of either shows all that it is given, or widens error bars."""

import pytest
import sqlglot
from sqlglot import exp

from asking import catalog
from discreet.ask.plan.kinds import SCALARS
from discreet.ask.sql.parse import read_checked
from discreet.ask.sql.post_processing.lineage import (
    PASSING,
    most_rows_kept,
    selection_of,
    selects,
    sources_of,
)
from discreet.ask.sql.post_processing.split import split
from discreet.ask.sql.post_processing.steps import _NAMES, STEPS

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
CHOSEN = " UNION ALL ".join(
    f"(SELECT age FROM people WHERE sex = '{sex}' GROUP BY age ORDER BY COUNT(*) DESC LIMIT 3)"
    for sex in "FM"
)
SIDE_BY_SIDE = "WITH k AS (SELECT {} FROM people) ".format(
    ", ".join(
        f"COUNT(*) FILTER (WHERE age = {i}) AS n{i}, DP_INTERVAL_LOW(n{i}) AS lo{i}, "
        f"DP_INTERVAL_HIGH(n{i}) AS hi{i}, MEDIAN(balance) FILTER (WHERE age = {i}) AS mid{i}"
        for i in (3, 4, 5)
    )
)
IN_ONE = " UNION ALL ".join(
    f"SELECT n{i} AS n, lo{i} AS lo, mid{i} AS mid FROM k" for i in (3, 4, 5)
)


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        (f"{SIDE_BY_SIDE} SELECT GREATEST(lo3, lo4, lo5) AS lo FROM k", [3]),
        (f"{SIDE_BY_SIDE} SELECT GREATEST(mid3, mid4) AS mid, lo5 FROM k", [2]),
        (f"{SIDE_BY_SIDE} SELECT lo FROM ({IN_ONE}) AS u ORDER BY n DESC LIMIT 1", [3]),
        (f"{SIDE_BY_SIDE} SELECT mid FROM ({IN_ONE}) AS u ORDER BY n DESC LIMIT 1", [3]),
        (f"{SIDE_BY_SIDE} SELECT n FROM ({IN_ONE}) AS u ORDER BY n DESC LIMIT 1", [1]),
        (f"{SIDE_BY_SIDE} SELECT (lo3 + hi3) / 2 AS middle, lo4, mid5 FROM k", [1]),
        ("SELECT GREATEST(MODE(age), MODE(balance)) AS x FROM people", [2, 2]),
        (f"SELECT age FROM ({CHOSEN}) AS u ORDER BY age LIMIT 1", [2, 2]),
        (f"SELECT age FROM ({CHOSEN.replace(' LIMIT 3', '')}) AS u", [1, 1]),
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
def test_how_many_columns_of_queries_show_errors_in_one_column(sql, columns):
    program = split(read_checked(sql), catalog())
    assert sorted(selection_of(program, i).columns for i in range(len(program.parts))) == columns


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


ORDERED = "FROM (SELECT age, n, lo, mid FROM m ORDER BY n DESC) AS u"
TWICE = "SELECT age, lo FROM m UNION ALL SELECT age, lo FROM m"
BY_ROWS = [
    f"SELECT lo {ORDERED} QUALIFY ROW_NUMBER() OVER () = 1",
    "SELECT lo FROM m QUALIFY ROW_NUMBER() OVER (ORDER BY age // 10) = 1",
    "SELECT lo FROM m QUALIFY ROW_NUMBER() OVER (PARTITION BY age // 10) = 1",
    f"SELECT lo {ORDERED} QUALIFY NTILE(9) OVER () = 1",
    f"SELECT lo {ORDERED} QUALIFY LAG(1) OVER () IS NULL",
    f"SELECT lo {ORDERED} QUALIFY COUNT(*) OVER (ROWS UNBOUNDED PRECEDING) = 1",
    f"SELECT CASE WHEN ROW_NUMBER() OVER () = 1 THEN lo END AS lo {ORDERED}",
    f"SELECT CASE WHEN ROW_NUMBER() OVER () = 1 THEN mid END AS mid {ORDERED}",
    f"SELECT CASE WHEN COUNT(*) OVER (ROWS 1 PRECEDING) = 1 THEN lo END AS lo {ORDERED}",
    f"SELECT CASE WHEN age = FIRST_VALUE(age) OVER () THEN lo END AS lo {ORDERED}",
    f"SELECT CASE WHEN age = MODE(age) OVER () THEN lo END AS lo {ORDERED}",
    f"SELECT SUM(lo) FILTER (WHERE r = 1) AS lo FROM (SELECT lo, ROW_NUMBER() OVER () AS r {ORDERED}) AS v",
    "SELECT SUM(lo) OVER (ORDER BY r) AS lo FROM (SELECT lo, ROW_NUMBER() OVER () AS r FROM m) AS v",
    f"SELECT CASE WHEN age = (SELECT ARG_MAX(age, 1) {ORDERED}) THEN lo END AS lo FROM m",
    f"SELECT CASE WHEN ROW_NUMBER() OVER (ORDER BY age) = 1 THEN lo END AS lo FROM ({TWICE}) AS v",
]
"""What shows a cell by its place among rows, which may stand in the order of noisy values."""
BY_KEYS = [
    f"SELECT lo {ORDERED} QUALIFY ROW_NUMBER() OVER (ORDER BY age) = 1",
    f"SELECT lo {ORDERED} QUALIFY RANK() OVER (ORDER BY age // 10) = 1",
    f"SELECT lo {ORDERED} QUALIFY COUNT(*) OVER (ORDER BY age ROWS UNBOUNDED PRECEDING) = 1",
    f"SELECT CASE WHEN ROW_NUMBER() OVER (ORDER BY age DESC) = 1 THEN lo END AS lo {ORDERED}",
    f"SELECT CASE WHEN LAG(1) OVER (ORDER BY age) IS NULL THEN lo END AS lo {ORDERED}",
    f"SELECT CASE WHEN age = MAX(age) OVER () THEN lo END AS lo {ORDERED}",
    f"SELECT CASE WHEN age = ARG_MAX(age, 1) OVER (ORDER BY age) THEN lo END AS lo {ORDERED}",
    f"SELECT lo, ROW_NUMBER() OVER () AS place {ORDERED}",
]
"""What the order of rows changes nothing in, or none of the errors that are shown."""


def rows_kept(sql):
    return most_rows_kept(split(read_checked(M + sql), catalog()), 0)


@pytest.mark.parametrize("sql", BY_ROWS)
def test_a_place_among_rows_selects_unless_keys_alone_decide_it(sql, monkeypatch):
    assert rows_kept(sql) == 0
    monkeypatch.setattr("discreet.ask.sql.post_processing.lineage.follows_rows", lambda _: False)
    if sql not in OTHERWISE:
        assert rows_kept(sql) is None, "the twin is not caught"


OTHERWISE = {sql for sql in BY_ROWS if TWICE in sql or "(SELECT ARG_MAX" in sql}
"""What selects for another reason too."""


@pytest.mark.parametrize("sql", BY_KEYS)
def test_a_place_that_keys_decide_selects_nothing(sql):
    assert rows_kept(sql) is None


@pytest.mark.parametrize(
    ("grouped", "found"),
    [
        ("SELECT age, sex, {n} GROUP BY age, sex", None),
        ("SELECT age, sex, {n} GROUP BY 1, 2", None),
        ("SELECT age, {n} GROUP BY age, sex", 0),
        ("SELECT age // 10 AS age, {n} GROUP BY age // 10", None),
        ("SELECT sex AS age, {n} GROUP BY age, sex", 0),
        ("SELECT {n}", None),
    ],
)
def test_rows_are_told_apart_by_all_that_was_grouped_by(grouped, found):
    counted = "COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lo FROM people"
    keys = [key for key in ("age", "sex") if key in grouped.split("{n}")[0]]
    order = f"ORDER BY {', '.join(keys)}" if keys else ""
    sql = f"WITH m AS ({grouped.format(n=counted)}) SELECT lo FROM m QUALIFY ROW_NUMBER() OVER ({order}) = 1"
    assert most_rows_kept(split(read_checked(sql), catalog()), 0) == found
