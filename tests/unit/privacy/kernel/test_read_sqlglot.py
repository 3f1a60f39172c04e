"""sqlglot's tree: the same as DuckDB's own where the words are the same, and refused where they say more."""

from __future__ import annotations

import pytest
from sqlglot import exp

from discreet.data.engines.functions import function
from discreet.privacy.kernel import read_sqlglot as reader
from discreet.privacy.kernel.nodes import Apply, Constant, Fold, Name, Term, Unfit
from discreet.privacy.kernel.read_sqlglot import read_sqlglot
from trees_kit import BLOCKS, COMMON, ONE, THREE, TWO, A, B, C, X, apply

DIALECTS = ("duckdb", "postgres", "spark")


def term(sql: str, dialect: str) -> Term:
    sql = sql.replace('"', "`") if dialect == "spark" else sql
    found = read_sqlglot(f"SELECT {sql} AS n FROM canon.x AS t", dialect)
    ((name, output),) = found.outputs
    assert (name, found.source, found.where, found.group) == ("n", X, None, ())
    return output


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", COMMON)
def test_a_term_is_read_as_duckdb_reads_it(sql: str, dialect: str) -> None:
    assert repr(term(sql, dialect)) == repr(COMMON[sql])


@pytest.mark.parametrize(
    ("sql", "dialect", "expected"),
    [
        # Whole numbers stay whole only where the dialect says so.
        ("t.a / 2", "postgres", apply("/", A, TWO)),
        ("t.a / 2", "spark", apply("real /", A, TWO)),
        ("t.a / 2", "duckdb", apply("real /", A, TWO)),
        ("t.a DIV 2", "spark", apply("//", A, TWO)),
        ("t.a // 2", "duckdb", apply("//", A, TWO)),
        ("-1.5", "postgres", apply("negate", Constant("1.5", "number"))),
        ("t.a AND (t.b AND t.c)", "postgres", apply("and", A, apply("and", B, C))),
        ("NOT t.a IS NULL", "postgres", apply("is not null", A)),
        ("NOT t.a IS NOT NULL", "postgres", apply("not", apply("is not null", A))),
        ("t.a NOT IN (1, 2)", "postgres", apply("not in", A, ONE, TWO)),
        ("NOT lower(t.a)", "postgres", apply("not", apply("lower", A))),
        ("NOT t.a", "postgres", apply("not", A)),
        ("t.a LIKE 'x%'", "spark", apply("like", A, Constant("x%"))),
        ("foo(t.a, 1)", "spark", apply("anonymous", Constant("foo"), A, ONE)),
        ("FOO()", "spark", apply("anonymous", Constant("foo"))),
        ("EXTRACT(YEAR FROM t.a)", "postgres", apply("extract", Constant("YEAR"), A)),
        ("substring(t.a, 1, 2)", "postgres", apply("substring", A, ONE, TWO)),
        ("IF(t.a, 1, 2)", "spark", apply("if", A, ONE, TWO)),
        ("CURRENT_DATE", "postgres", Apply("currentdate", ())),
        ("ROUND(t.a, 3)", "postgres", apply("round", A, THREE)),
        ("TRY_CAST(t.a AS BIGINT)", "spark", apply("cast bigint", A)),
    ],
)
def test_a_dialect_has_words_of_its_own(sql: str, dialect: str, expected: Term) -> None:
    assert repr(term(sql, dialect)) == repr(expected)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", BLOCKS)
def test_a_block_is_read_as_duckdb_reads_it(sql: str, dialect: str) -> None:
    assert read_sqlglot(sql, dialect) == BLOCKS[sql]


NOT_ONE = "the final SQL is not one SELECT"
JOIN = "a join of another kind"
ROW = "ROW_NUMBER() OVER (PARTITION BY t.u ORDER BY t.r{}) AS n FROM x AS t"


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT (", "the final SQL is not SQL"),
        ("", NOT_ONE),
        ("SELECT t.a AS n FROM x AS t; SELECT t.a AS n FROM x AS t", NOT_ONE),
        ("SELECT t.a AS n FROM x AS t UNION ALL SELECT t.a AS n FROM x AS t", NOT_ONE),
        ("INSERT INTO x VALUES (1)", NOT_ONE),
        ("SELECT 1 AS n", "a SELECT without FROM"),
        ("SELECT t.a FROM x AS t", "an output without a name"),
        ("SELECT t.* FROM x AS t", "an output without a name"),
        ("SELECT t.a AS n FROM x", "a relation without a name"),
        (
            "SELECT t.a AS n FROM x AS t JOIN LATERAL (SELECT t.b AS b FROM x AS y) AS s ON TRUE",
            "a relation without a name",
        ),
        ("SELECT t.a AS n FROM f(1) AS t", "a function in FROM"),
        ("SELECT t.a AS n FROM (x JOIN y ON TRUE) AS t", "only SELECT has a place"),
        (
            "SELECT t.a AS n FROM (SELECT s.a AS a FROM x AS s UNION SELECT s.a AS a FROM x AS s) AS t",
            "only SELECT has a place",
        ),
        ("SELECT t.a AS n FROM (VALUES (1)) AS t", "'expressions'"),
        ("SELECT t.a AS n FROM c.b.x AS t", "'catalog'"),
        ("SELECT t.a AS n FROM x AS t(a)", "'columns'"),
        ("SELECT t.a AS n FROM ONLY x AS t", "'only'"),
        ("SELECT t.a AS n FROM x AS t, y AS s", JOIN),
        ("SELECT t.a AS n FROM x AS t CROSS JOIN y AS s", JOIN),
        ("SELECT t.a AS n FROM x AS t CROSS JOIN y AS s ON t.b", JOIN),
        ("SELECT t.a AS n FROM x AS t RIGHT JOIN y AS s ON t.b", JOIN),
        ("SELECT t.a AS n FROM x AS t FULL JOIN y AS s ON t.b", JOIN),
        ("SELECT t.a AS n FROM x AS t LEFT JOIN y AS s", JOIN),
        ("SELECT t.a AS n FROM x AS t JOIN y AS s USING (a)", "'using'"),
        ("SELECT t.a AS n FROM x AS t NATURAL JOIN y AS s", "'method'"),
        ("SELECT DISTINCT t.a AS n FROM x AS t", "'distinct'"),
        ("SELECT t.a AS n FROM x AS t LIMIT 1", "'limit'"),
        ("SELECT t.a AS n FROM x AS t ORDER BY 1", "'order'"),
        ("WITH y AS (SELECT 1 AS a) SELECT t.a AS n FROM x AS t", "'with_'"),
        ("SELECT t.a AS n FROM x AS t TABLESAMPLE SYSTEM (10)", "'sample'"),
        ("SELECT t.a AS n FROM x AS t GROUP BY 1 HAVING COUNT(*) > 1", "'having'"),
        ("SELECT t.a AS n FROM x AS t GROUP BY ALL", "'all'"),
        ("SELECT t.a AS n FROM x AS t GROUP BY ROLLUP (1)", "unexpected Rollup"),
        ("SELECT t.a AS n FROM x AS t GROUP BY GROUPING SETS ((1), ())", "unexpected GroupingSets"),
        ("SELECT t.a AS n FROM x AS t GROUP BY 2", "a column that is not there"),
        ("SELECT t.a AS n FROM x AS t FOR UPDATE", "'locks'"),
        ("SELECT t.a AS n INTO y FROM x AS t", "'into'"),
        ("SELECT a AS n FROM x AS t", "a column without its relation"),
        ("SELECT s.t.a AS n FROM x AS t", "'db'"),
        ("SELECT COUNT(t.*) AS n FROM x AS t", "a column without its relation"),
        ("SELECT (SELECT s.a AS a FROM x AS s) AS n FROM x AS t", "unexpected Subquery"),
        ("SELECT t.a IN (SELECT s.a AS a FROM x AS s) AS n FROM x AS t", "'query'"),
        ("SELECT EXISTS (SELECT s.a AS a FROM x AS s) AS n FROM x AS t", "unexpected Select"),
        ("SELECT t.a IS TRUE AS n FROM x AS t", "IS of another kind"),
        ("SELECT t.a IS NOT FALSE AS n FROM x AS t", "IS of another kind"),
        ("SELECT t.a BETWEEN SYMMETRIC 2 AND 1 AS n FROM x AS t", "'symmetric'"),
        ("SELECT CASE t.a WHEN 1 THEN 2 END AS n FROM x AS t", "'this'"),
        ("SELECT INTERVAL '1' DAY AS n FROM x AS t", "unexpected Interval"),
        ("SELECT $1 AS n FROM x AS t", "unexpected Parameter"),
        ("SELECT t.a[1] AS n FROM x AS t", "unexpected Bracket"),
        ("SELECT TRIM(LEADING 'x' FROM t.a) AS n FROM x AS t", "'position'"),
        ("SELECT CONCAT(t.a, t.b) AS n FROM x AS t", "'coalesce'"),
        ("SELECT AVG(t.a) AS n FROM x AS t", "unexpected aggregate Avg"),
        ("SELECT STRING_AGG(t.a, ',') AS n FROM x AS t", "unexpected aggregate GroupConcat"),
        ("SELECT SUM(*) AS n FROM x AS t", r"\* in an aggregate"),
        ("SELECT COUNT(t.a, t.b) AS n FROM x AS t", "'expressions'"),
        ("SELECT COUNT(DISTINCT t.a, t.b) AS n FROM x AS t", "DISTINCT of several columns"),
        ("SELECT COUNT(*) FILTER (WHERE t.a) AS n FROM x AS t", "unexpected Filter"),
        ("SELECT SUM(t.a ORDER BY t.b) AS n FROM x AS t", "unexpected Order"),
        ("SELECT RANK() OVER (ORDER BY t.a) AS n FROM x AS t", "a window of another kind"),
        ("SELECT LAG(t.a) OVER (ORDER BY t.r) AS n FROM x AS t", "a window of another kind"),
        ("SELECT COUNT(*) OVER (PARTITION BY t.u) AS n FROM x AS t", "unexpected Star"),
        ("SELECT COUNT(DISTINCT t.a) OVER () AS n FROM x AS t", "unexpected Distinct"),
        ("SELECT SUM(t.a) FILTER (WHERE t.b) OVER () AS n FROM x AS t", "a window of another kind"),
        ("SELECT SUM(t.a) OVER w AS n FROM x AS t", "'alias'"),
        ("SELECT SUM(t.a) OVER (ORDER BY t.r ROWS 1 PRECEDING) AS n FROM x AS t", "'spec'"),
        ("SELECT " + ROW.format(" DESC"), "'desc'"),
    ],
)
def test_whatever_else_it_says_is_refused(sql: str, sentence: str) -> None:
    with pytest.raises(Unfit, match=sentence):
        read_sqlglot(sql, "postgres")


@pytest.mark.parametrize(
    ("sql", "dialect", "sentence"),
    [
        ("SELECT t.a AS n FROM x AS t LEFT SEMI JOIN y AS s ON t.b", "spark", JOIN),
        ("SELECT t.a AS n FROM x AS t LEFT ANTI JOIN y AS s ON t.b", "spark", JOIN),
        ("SELECT t.a AS n FROM x AS t LATERAL VIEW explode(t.b) s AS c", "spark", "'laterals'"),
        ("SELECT /*+ BROADCAST(t) */ t.a AS n FROM x AS t", "spark", "'hint'|comment"),
        ("SELECT COUNT(* EXCLUDE (a)) AS n FROM x AS t", "duckdb", "'except_'"),
        ("SELECT date_diff('day', t.a, t.b) AS n FROM x AS t", "duckdb", "'date_part_boundary'"),
        ("SELECT t.a XOR t.b AS n FROM x AS t", "mysql", "'expression'"),
    ],
)
def test_other_dialects_say_other_things(sql: str, dialect: str, sentence: str) -> None:
    with pytest.raises(Unfit, match=sentence):
        read_sqlglot(sql, dialect)


@pytest.mark.parametrize("nulls", ["", " ASC", " NULLS FIRST", " NULLS LAST"])
def test_where_missing_values_stand_in_an_order_means_nothing(nulls: str) -> None:
    found = read_sqlglot("SELECT " + ROW.format(nulls), "postgres")
    assert found == read_sqlglot("SELECT " + ROW.format(""), "postgres")


def test_an_argument_that_is_filled_must_be_one_that_is_read() -> None:
    """Nothing, FALSE and an empty list are no argument; whatever else is there says something."""
    column = exp.column("a", table="t")
    for empty in (None, False, []):
        assert reader._args(exp.Paren(this=column, novel=empty), "this")["this"] is column
    for filled in (True, "", 0.5, column, [column]):
        with pytest.raises(Unfit, match="unexpected 'novel' in the final SQL"):
            reader._args(exp.Paren(this=column, novel=filled), "this")


@pytest.mark.parametrize("name", ["big_int", "safe", "quoted", "typed"])
def test_how_something_was_spelled_means_nothing(name: str) -> None:
    column = exp.column("a", table="t")
    assert reader._term(exp.Paren(this=column, **{name: True})) == A
    assert reader._term(exp.Lower(this=column, **{name: True})) == apply("lower", A)


def test_a_function_keeps_no_flag_to_itself() -> None:
    column = exp.column("a", table="t")
    for empty in (None, False):
        assert reader._term(exp.Lower(this=column, novel=empty)) == apply("lower", A)
    for filled in (True, "word", 7):
        with pytest.raises(Unfit, match="unexpected 'novel' in the final SQL"):
            reader._term(exp.Lower(this=column, novel=filled))
    with pytest.raises(Unfit, match="unexpected 'novel' in the final SQL"):
        reader._term(exp.Anonymous(this="foo", expressions=[column], novel=True))


def test_a_cross_join_stays_one_whatever_its_condition() -> None:
    join = exp.Join(this=exp.alias_(exp.to_table("y"), "s", table=True), kind="CROSS")
    join.set("on", exp.column("b", table="t"))
    with pytest.raises(Unfit, match=JOIN):
        reader._join(X, join)


# A sum of whole numbers that is taken 21 bits at a time, on engines whose sums have 64.


def test_a_sum_in_parts_is_written_and_read_with_the_same_numbers() -> None:
    """x = (x >> 42) * 4398046511104 + (x >> 21 & 2097151) * 2097152 + (x & 2097151)."""
    whole = apply("cast bigint", A)
    wide = "cast decimal(38, 0)"
    high = Fold("sum", apply("bitwiserightshift", whole, Constant(42)))
    shifted = apply("bitwiserightshift", whole, Constant(21))
    middle = Fold("sum", apply("bitwiseand", shifted, Constant(2097151)))
    low = Fold("sum", apply("bitwiseand", whole, Constant(2097151)))
    first = apply("*", apply(wide, high), Constant(4398046511104))
    second = apply("*", apply(wide, middle), Constant(2097152))
    assert reader._in_parts(whole) == apply("+", apply("+", first, second), apply(wide, low))
    summed = apply(wide, Fold("sum", apply("cast decimal(19, 0)", A)))
    assert term(function("sum_integer", "spark", "t.a"), "spark") == summed


@pytest.mark.parametrize("sql", ["t.a + SUM(t.b)", "SUM(t.a) + CAST(SUM(t.b + 1) AS BIGINT)"])
def test_any_other_sum_stays_what_it_is(sql: str) -> None:
    found = term(sql, "spark")
    assert isinstance(found, Apply)
    assert found.name == "+"


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM x AS t -- y\\\nWHERE t.a = 5",
        "SELECT COUNT(*) AS n FROM x AS t WHERE t.a = 5 -- y",
        "SELECT COUNT(*) AS n /* y */ FROM x AS t",
        "-- y\nSELECT COUNT(*) AS n FROM x AS t",
    ],
)
def test_a_comment_is_refused(sql: str, dialect: str) -> None:
    """To Spark a backslash before its end lets it go on: the next line is not read."""
    with pytest.raises(Unfit, match="a comment"):
        read_sqlglot(sql, dialect)


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
@pytest.mark.parametrize("name", ["t.Person", "T.person", "t.PERSON", "t.Ä"])
def test_a_name_with_capitals_is_quoted_or_refused(name: str, dialect: str) -> None:
    """PostgreSQL would fold it to another column, or none."""
    with pytest.raises(Unfit, match="capitals"):
        read_sqlglot(f"SELECT COUNT({name}) AS n FROM x AS t", dialect)


def test_quotes_and_signs_inside_of_texts_are_no_matter() -> None:
    found = read_sqlglot(
        "SELECT COUNT(t.\"Person\") AS n FROM x AS t WHERE t.a = '-- Y'", "postgres"
    )
    assert found.outputs == (("n", Fold("count", Name("t", "Person"))),)
    assert found.where == Apply("=", (Name("t", "a"), Constant("-- Y")))
