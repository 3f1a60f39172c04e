"""Which questions have no rows whatever the data is, and what is left of them."""

from __future__ import annotations

import pytest
from sqlglot import exp

from discreet.server.pgwire.dispatch import asks_for_no_rows, over_previews
from discreet.server.pgwire.statements import browsed, split


def parsed(sql):
    [statement] = split(sql)
    return browsed(statement)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM people LIMIT 0",
        "SELECT COUNT(*) FROM people LIMIT 0",
        "SELECT * FROM people FETCH FIRST 0 ROWS ONLY",
        "SELECT * FROM people WHERE 1 = 0",
        "SELECT * FROM people WHERE 'a' = 'b'",
        "SELECT * FROM people WHERE 1 <> 1",
        "SELECT * FROM people WHERE (FALSE) AND age > 3",
        "SELECT * FROM people WHERE age > 3 AND (1 = 2 AND TRUE)",
    ],
)
def test_no_rows_are_wanted(sql):
    assert asks_for_no_rows(parsed(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM people",
        "SELECT * FROM people LIMIT 1",
        "SELECT * FROM people LIMIT '0'",
        "SELECT * FROM people LIMIT $1",
        "SELECT * FROM people OFFSET 0",
        "SELECT * FROM people WHERE 1 = 1",
        "SELECT * FROM people WHERE 1 = 0 OR TRUE",
        "SELECT * FROM people WHERE NOT 1 = 0",
        "SELECT * FROM people WHERE age = 0",
        "SELECT COUNT(*) FROM people WHERE 1 = 0",
        "SELECT sex FROM people WHERE 1 = 0 GROUP BY sex",
        "SELECT * FROM people LIMIT 0 UNION SELECT * FROM people",
    ],
)
def test_rows_may_be_wanted(sql):
    """A COUNT has its row also where nobody is counted: it is asked like any other."""
    assert not asks_for_no_rows(parsed(sql))


def test_only_made_up_tables_are_left():
    tree = parsed(
        "WITH w AS (SELECT * FROM census.people) SELECT * FROM w, public.visits AS v, "
        "(SELECT age FROM discreet.census.people WHERE age IN (SELECT age FROM agents)) AS s"
    )
    found = over_previews(tree)
    named = {(table.db, table.name) for table in found.find_all(exp.Table)}
    assert named == {("", "w"), ("preview", "people"), ("preview", "visits"), ("preview", "agents")}
    assert not any(table.catalog for table in found.find_all(exp.Table))
    assert found.sql("postgres").endswith("LIMIT 0")
    assert tree.sql("postgres") != found.sql("postgres"), "the original is as it was"


def test_a_table_named_like_a_cte_elsewhere_is_made_up_too():
    """A name with a schema is never the CTE of that name."""
    found = over_previews(parsed("WITH people AS (SELECT 1) SELECT * FROM census.people LIMIT 0"))
    assert [table.db for table in found.find_all(exp.Table)] == ["preview"]
