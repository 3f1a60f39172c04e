"""DuckDB's own tree: read alike wherever it means the same, and refused wherever it says more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from discreet.privacy.kernel.nodes import Apply, Constant, Fold, SelectNode, Term, Unfit, Window
from discreet.privacy.kernel.read_duckdb import read_duckdb
from kernel_kit import _connection, duckdb_tree
from trees_kit import BLOCKS, COMMON, ONE, TWO, A, B, C, R, U, X, apply

OWN: dict[str, Term] = {
    "t.a / 2": apply("real /", A, TWO),
    "t.a // 2": apply("//", A, TWO),
    "-1.5": Constant("-1.5", "number"),
    "1e3": Constant("1e3", "number"),
    "t.a NOT IN (1, 2)": apply("not", apply("in", A, ONE, TWO)),
    "NOT t.a IS NULL": apply("not", apply("is null", A)),
    "t.a AND (t.b AND t.c)": apply("and", A, B, C),
    "t.a LIKE 'x%'": apply("~~", A, Constant("x%")),
    "TRY_CAST(t.a AS BIGINT)": apply("try_cast bigint", A),
    "CAST(t.a AS VARCHAR)": apply("cast varchar", A),
    # One operand for each value of a list.
    "CAST(t.a AS ENUM('x, y', 'z'))": apply("cast enum", A, Constant("x, y"), Constant("z")),
    "TRY_CAST(t.a AS ENUM('x'))": apply("try_cast enum", A, Constant("x")),
    "CASE t.a WHEN 1 THEN 2 END": apply("case", apply("=", A, ONE), TWO, Constant(None)),
    "foo(t.a, 1)": apply("foo", A, ONE),
    "FOO(t.a)": apply("foo", A),
    "foo()": Apply("foo", ()),
    "count()": Fold("count", None),
    "COUNT(*) OVER (PARTITION BY t.u)": Window("count", None, (U,), ()),
    "RANK() OVER (ORDER BY t.r ASC)": Window("rank", None, (), (R,)),
}


def serialised(sql: str) -> str:
    found = _connection().execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    return found[0]


@pytest.mark.parametrize("term", [*COMMON, *OWN])
def test_a_term_is_read_as_what_it_means(term: str) -> None:
    found = duckdb_tree(f"SELECT {term} AS n FROM canon.x AS t")
    expected = (COMMON | OWN)[term]
    assert repr(found) == repr(SelectNode((("n", expected),), X, None, ()))


@pytest.mark.parametrize("sql", BLOCKS)
def test_a_block_is_read_as_what_it_means(sql: str) -> None:
    assert duckdb_tree(sql) == BLOCKS[sql]


ALL = "BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
ANOTHER_WINDOW = "a window of another kind"
ONE_STATEMENT = "does not read the final SQL as one statement"


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT", ONE_STATEMENT),
        ("", ONE_STATEMENT),
        ("SELECT t.a AS n FROM x AS t; SELECT t.a AS n FROM x AS t", ONE_STATEMENT),
        ("INSERT INTO x VALUES (1)", ONE_STATEMENT),
        ("SELECT t.a AS n FROM x AS t UNION ALL SELECT t.a AS n FROM x AS t", "only SELECT"),
        ("SELECT s.a AS n FROM (SELECT t.a AS a FROM x AS t UNION ALL FROM x) AS s", "only SELECT"),
        ("SELECT ? AS n FROM x AS t", "'named_param_map'"),
        ("SELECT DISTINCT t.a AS n FROM x AS t", "'modifiers'"),
        ("SELECT t.a AS n FROM x AS t LIMIT 1", "'modifiers'"),
        ("SELECT t.a AS n FROM x AS t ORDER BY 1", "'modifiers'"),
        ("WITH y AS (SELECT 1) SELECT t.a AS n FROM x AS t", "'cte_map'"),
        ("SELECT t.a AS k FROM x AS t GROUP BY ALL", "'aggregate_handling'"),
        ("SELECT t.a AS k FROM x AS t GROUP BY 1 HAVING COUNT(*) > 1", "'having'"),
        ("SELECT t.a AS k FROM x AS t QUALIFY ROW_NUMBER() OVER () = 1", "'qualify'"),
        ("SELECT t.a AS k FROM x AS t TABLESAMPLE 10%", "'sample'"),
        ("SELECT t.a AS k FROM x AS t USING SAMPLE 10%", "'sample'"),
        ("SELECT t.a AS k FROM x AS t GROUP BY GROUPING SETS ((1), ())", "GROUPING SETS"),
        ("SELECT t.a AS k FROM x AS t GROUP BY ROLLUP (1)", "GROUPING SETS"),
        ("SELECT t.a AS k, t.b AS l FROM x AS t GROUP BY CUBE (1, 2)", "GROUPING SETS"),
        ("SELECT t.a AS k FROM x AS t GROUP BY 2", "a column that is not there"),
        ("SELECT 1 AS n", "unexpected EMPTY in FROM"),
        ("SELECT t.a AS n FROM range(5) AS t", "unexpected TABLE_FUNCTION in FROM"),
        ("SELECT t.a AS n FROM a.b.x AS t", "'catalog_name'"),
        ("SELECT t.a AS n FROM x AS t(a)", "'column_name_alias'"),
        ("SELECT t.a AS n FROM (SELECT s.a AS b FROM x AS s) AS t(a)", "'column_name_alias'"),
        ("SELECT t.a AS n FROM x AS t, y AS s", "'ref_type'"),
        ("SELECT t.a AS n FROM x AS t CROSS JOIN y AS s", "'ref_type'"),
        ("SELECT t.a AS n FROM x AS t NATURAL JOIN y AS s", "'ref_type'"),
        ("SELECT t.a AS n FROM x AS t ASOF JOIN y AS s ON t.a >= s.a", "'ref_type'"),
        ("SELECT t.a AS n FROM x AS t JOIN y AS s USING (a)", "'using_columns'"),
        ("SELECT t.a AS n FROM x AS t RIGHT JOIN y AS s ON t.a = s.a", "a join of another kind"),
        ("SELECT t.a AS n FROM x AS t FULL JOIN y AS s ON t.a = s.a", "a join of another kind"),
        ("SELECT t.a AS n FROM x AS t SEMI JOIN y AS s ON t.a = s.a", "a join of another kind"),
        ("SELECT t.a AS n FROM x AS t ANTI JOIN y AS s ON t.a = s.a", "a join of another kind"),
        ("SELECT * FROM x AS t", "unexpected STAR"),
        ("SELECT (SELECT 1) AS n FROM x AS t", "unexpected SUBQUERY"),
        ("SELECT t.a AS n FROM x AS t WHERE EXISTS (FROM x)", "unexpected SUBQUERY"),
        ("SELECT list_filter(t.a, lambda y: y) AS n FROM x AS t", "unexpected LAMBDA"),
        ("SELECT a AS n FROM x AS t", "a column without its relation"),
        ("SELECT t.a.b AS n FROM x AS t", "a column without its relation"),
        ("SELECT x'00' AS n FROM x AS t", "unexpected constant of kind HEX"),
        ("SELECT main.lower(t.a) AS n FROM x AS t", "'schema'"),
        ("SELECT COUNT(*) FILTER (WHERE t.a) AS n FROM x AS t", "'filter'"),
        ("SELECT SUM(t.a ORDER BY t.b) AS n FROM x AS t", "'order_bys'"),
        ("SELECT SUM(y := t.a) AS n FROM x AS t", "unexpected 'name'"),
        ("SELECT SUM(t.a, t.b) AS n FROM x AS t", "sum of 2 operands"),
        ("SELECT SUM() AS n FROM x AS t", "sum of 0 operands"),
        ("SELECT COUNT(DISTINCT t.a, t.b) AS n FROM x AS t", "count of 2 operands"),
        ("SELECT abs(DISTINCT t.a) AS n FROM x AS t", "DISTINCT in a function"),
        ("SELECT CAST(t.a AS main.bigint) AS n FROM x AS t", "'schema'"),
        ("SELECT CAST(t.a AS STRUCT(y INT)) AS n FROM x AS t", "unexpected TYPE"),
        ("SELECT t.a IS DISTINCT FROM 1 AS n FROM x AS t", "unexpected COMPARE_DISTINCT_FROM"),
        ("SELECT t.a[1] AS n FROM x AS t", "unexpected ARRAY_EXTRACT"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY t.r DESC) AS n FROM x AS t", "descending order"),
        ("SELECT SUM(t.a) OVER (ORDER BY t.r ROWS 1 PRECEDING) AS n FROM x AS t", "'start'"),
        (f"SELECT SUM(t.a) OVER (PARTITION BY t.u RANGE {ALL}) AS n FROM x AS t", ANOTHER_WINDOW),
        ("SELECT lag(t.a, 1) OVER (ORDER BY t.r) AS n FROM x AS t", ANOTHER_WINDOW),
        ("SELECT COUNT(DISTINCT t.a) OVER () AS n FROM x AS t", "'distinct'"),
        ("SELECT first_value(t.a IGNORE NULLS) OVER () AS n FROM x AS t", "'ignore_nulls'"),
        ("SELECT SUM(t.a) FILTER (WHERE t.b) OVER () AS n FROM x AS t", "'filter_expr'"),
        ("SELECT SUM(t.a) OVER (ROWS UNBOUNDED PRECEDING EXCLUDE TIES) AS n FROM x AS t", "'"),
    ],
)
def test_whatever_else_it_says_is_refused(sql: str, sentence: str) -> None:
    with pytest.raises(Unfit, match=sentence):
        duckdb_tree(sql)


RICH = (
    "SELECT t.a AS k, SUM(DISTINCT CAST(t.b AS DECIMAL(19, 0))) AS s, COUNT(*) AS n FROM canon.x AS t "
    "LEFT JOIN (SELECT y.a AS a, ROW_NUMBER() OVER (PARTITION BY y.u ORDER BY y.r) AS w, "
    "MAX(y.b) OVER (PARTITION BY y.u) AS v FROM canon.y AS y) AS z ON t.a = z.a "
    "WHERE t.a BETWEEN 1 AND 2 AND t.c IN ('x') AND t.d COLLATE NOCASE = 'x' "
    "AND CASE WHEN t.a < 1 THEN TRUE ELSE NULL END GROUP BY 1"
)
"""One of every kind of node."""


def nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for each in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from nodes(each)


def changed(change: Callable[[list[dict[str, Any]]], None]) -> str:
    tree = json.loads(serialised(RICH))
    change(list(nodes(tree)))
    return json.dumps(tree)


def test_every_kind_of_node_is_read() -> None:
    assert read_duckdb(serialised(RICH)) == duckdb_tree(RICH)


UNREAD = ("map", "error", "orders", "path")
"""Of nodes that are compared as a whole, or are only the place of something; and the outermost."""


def test_a_key_that_nobody_has_looked_at_is_refused_in_every_node() -> None:
    whole = list(nodes(json.loads(serialised(RICH))))
    asked = [i for i, node in enumerate(whole) if not any(key in node for key in UNREAD)]
    asked += [i for i, node in enumerate(whole) if "partitions" in node]
    assert len(asked) > 50
    for place in asked:
        with pytest.raises(Unfit, match="unexpected 'novel' in the final SQL"):
            read_duckdb(changed(lambda found, place=place: found[place].update(novel=None)))


def test_places_in_the_text_mean_nothing() -> None:
    def forget(found: list[dict[str, Any]]) -> None:
        for node in found:
            for key in ("query_location", "query_location_length", "qualified_name"):
                node.pop(key, None)

    assert read_duckdb(changed(forget)) == duckdb_tree(RICH)


@pytest.mark.parametrize(
    ("kind", "key", "other"),
    [
        ("JOIN", "alias", "j"),
        ("JOIN", "sample", {}),
        ("JOIN", "delim_flipped", True),
        ("JOIN", "duplicate_eliminated_columns", [1]),
        ("JOIN", "is_implicit", True),
        ("JOIN", "ranking_expression", {}),
        ("JOIN", "nearest_count", 2),
        ("JOIN", "nearest_order_type", "DESCENDING"),
        ("JOIN", "nearest_approx", True),
        ("FUNCTION", "export_state", True),
        ("FUNCTION", "catalog", "c"),
        ("WINDOW_ROW_NUMBER", "ignore_nulls", True),
        ("WINDOW_ROW_NUMBER", "has_ignore_nulls", True),
        ("WINDOW_ROW_NUMBER", "distinct", True),
        ("WINDOW_ROW_NUMBER", "offset_expr", {}),
        ("WINDOW_ROW_NUMBER", "exclude_clause", "TIES"),
        ("BASE_TABLE", "at_clause", {}),
        ("SUBQUERY", "sample", {}),
        ("SELECT_NODE", "aggregate_handling", "FORCE_AGGREGATES"),
    ],
)
def test_what_is_not_used_must_say_so(kind: str, key: str, other: Any) -> None:
    def change(found: list[dict[str, Any]]) -> None:
        node = next(node for node in found if node.get("type") == kind)
        assert node[key] != other
        node[key] = other

    with pytest.raises(Unfit, match=f"unexpected '{key}' in the final SQL"):
        read_duckdb(changed(change))


def test_a_join_without_a_condition_is_refused() -> None:
    def change(found: list[dict[str, Any]]) -> None:
        next(node for node in found if node.get("type") == "JOIN")["condition"] = None

    with pytest.raises(Unfit, match="a join of another kind"):
        read_duckdb(changed(change))


def test_a_type_is_made_of_constants() -> None:
    def change(found: list[dict[str, Any]]) -> None:
        kind = next(node for node in found if node.get("type_name") == "DECIMAL")
        kind["children"][0] = next(node for node in found if node.get("type") == "COLUMN_REF")

    with pytest.raises(Unfit, match="a type of another kind"):
        read_duckdb(changed(change))


def test_a_statement_that_failed_to_parse_is_refused_whatever_it_holds() -> None:
    for error, count in ((True, 1), (False, 2), (False, 0)):
        tree = json.loads(serialised(RICH))
        tree |= {"error": error, "statements": tree["statements"] * count}
        with pytest.raises(Unfit, match=ONE_STATEMENT):
            read_duckdb(json.dumps(tree))
    with pytest.raises(Unfit, match=ONE_STATEMENT):
        read_duckdb("{}")
