"""Other spellings are read as the long one: the same tree, so the same question, price and proof."""

import pytest

from discreet.ask.sql.parse import parse, read_checked
from discreet.errors import QueryRefused

ALIKE = [
    (
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex FETCH FIRST 5 ROWS ONLY",
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex LIMIT 5",
    ),
    (
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex FETCH NEXT ROW ONLY",
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex LIMIT 1",
    ),
    (
        "SELECT sex, 'all' AS x, age // 10, COUNT(*), SUM(age) + 1 FROM people GROUP BY ALL",
        "SELECT sex, 'all' AS x, age // 10, COUNT(*), SUM(age) + 1 FROM people GROUP BY 1, 3",
    ),
    ("SELECT COUNT(*) FROM people GROUP BY ALL", "SELECT COUNT(*) FROM people"),
    (
        "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY ALL DESC",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY 1 DESC, 2 DESC",
    ),
    (
        "SELECT COUNT(*) FROM t WHERE age BETWEEN SYMMETRIC 60 AND 20",
        "SELECT COUNT(*) FROM t WHERE (age BETWEEN 60 AND 20 OR age BETWEEN 20 AND 60)",
    ),
    (
        "SELECT COUNT(*) FROM t WHERE (a, b) = (1, 'x')",
        "SELECT COUNT(*) FROM t WHERE ((a = 1 AND NOT a IS NULL) AND (b = 'x' AND NOT b IS NULL))",
    ),
    (
        "SELECT COUNT(*) FROM t WHERE (NULL, c) = (a, b)",
        "SELECT COUNT(*) FROM t WHERE (a IS NULL AND c IS NOT DISTINCT FROM b)",
    ),
    (
        "SELECT COUNT(*) FROM t JOIN u ON (t.a, t.b) = (u.a, u.b)",
        "SELECT COUNT(*) FROM t JOIN u ON (t.a = u.a AND t.b = u.b)",
    ),
    (
        "SELECT COUNT(*) FROM t WHERE (a, b) <> (1, 'x')",
        "SELECT COUNT(*) FROM t WHERE ((a <> 1 OR a IS NULL) OR (b <> 'x' OR b IS NULL))",
    ),
    (
        "SELECT COUNT(*) FROM t WHERE NOT (a, b) IN ((1, 2), (3, 4))",
        "SELECT COUNT(*) FROM t WHERE NOT ((NOT a IS NULL AND NOT b IS NULL AND ((a = 1 AND b = 2) OR (a = 3 AND b = 4))))",
    ),
    (
        "SELECT COUNT(*) FROM t WHERE (a, b) IN ((1, NULL))",
        "SELECT COUNT(*) FROM t WHERE (((a = 1 AND NOT a IS NULL) AND b IS NULL))",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT DISTINCT p.person AS who, ward FROM visits AS p) AS t",
        "SELECT COUNT(*) FROM (SELECT p.person AS who, ward FROM visits AS p GROUP BY p.person, ward) AS t",
    ),
    (
        "WITH w AS (SELECT DISTINCT person FROM visits) SELECT COUNT(*) FROM w",
        "WITH w AS (SELECT person FROM visits GROUP BY person) SELECT COUNT(*) FROM w",
    ),
]


@pytest.mark.parametrize(("short", "long"), ALIKE)
def test_a_short_form_is_the_long_one(short, long):
    assert parse(short) == parse(long)


@pytest.mark.parametrize(
    "kept",
    [
        "SELECT COUNT(*) FROM t WHERE (a, b) = (1, 2, 3)",
        "SELECT COUNT(*) FROM t WHERE (a, b) < (1, 2)",
        "SELECT COUNT(*) FROM t WHERE (a, b) IN ((1, 2), 3)",
        "SELECT COUNT(*) FROM t WHERE (a + 1, b) IN ((1, 2), (3, 4))",
        "SELECT COUNT(*) FROM t WHERE (a, b) IN (SELECT c, d FROM u)",
        "SELECT COUNT(*) FROM (SELECT DISTINCT ON (a) a, b FROM t) AS q",
        "SELECT COUNT(*) FROM (SELECT DISTINCT a + 1 AS b FROM t) AS q",
        "SELECT COUNT(*) FROM (SELECT DISTINCT a, COUNT(*) AS n FROM t GROUP BY a) AS q",
        "SELECT DISTINCT sex FROM t",
    ],
)
def test_what_means_something_else_is_left_alone(kept):
    tree = read_checked(kept)
    assert tree == read_checked(tree.sql("duckdb"))
    assert tree.sql("duckdb") == kept


def test_a_short_form_that_becomes_long_is_refused():
    pairs = ", ".join(f"({i}, {i})" for i in range(1_500))
    with pytest.raises(QueryRefused, match="12,000 words"):
        parse(f"SELECT COUNT(*) FROM t WHERE (a, b) IN ({pairs})")
    nested = "a"
    for _ in range(30):
        nested = f"CASE WHEN {nested} BETWEEN SYMMETRIC 2 AND 1 THEN 1 END"
    with pytest.raises(QueryRefused, match="BETWEEN SYMMETRIC"):
        parse(f"SELECT SUM({nested}) FROM t")
