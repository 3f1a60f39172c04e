from __future__ import annotations

import duckdb
import pytest
import sqlglot

from discreet.server.pgwire.catalog.rewrite import end_recursion
from discreet.server.pgwire.messages import Failure

TYPES = """
    WITH RECURSIVE tree(oid, element, depth) AS (
      SELECT t.oid, t.typelem, 0 FROM pg_type t WHERE t.oid = {first}
      UNION ALL
      SELECT t.oid, t.typelem, r.depth + 1 FROM pg_type t, tree r WHERE t.oid = r.element)
    SELECT oid, depth FROM tree ORDER BY depth"""


def plain(sql):
    tree = sqlglot.parse_one(sql, read="postgres")
    end_recursion(tree)
    return tree.sql("duckdb")


@pytest.mark.parametrize("first", [1, 2])
def test_low_trees_are_climbed_as_by_recursion(first):
    with duckdb.connect() as db:
        db.execute("CREATE TABLE pg_type AS FROM (VALUES (1, 0), (2, 1)) t(oid, typelem)")
        sql = TYPES.format(first=first)
        assert "RECURSIVE" not in plain(sql)
        assert db.execute(plain(sql)).fetchall() == db.execute(sql).fetchall()


def test_higher_ones_are_cut_off_and_others_refused():
    with duckdb.connect() as db:
        db.execute("CREATE TABLE pg_type AS FROM (VALUES (1, 1)) t(oid, typelem)")
        assert db.execute(plain(TYPES.format(first=1))).fetchall() == [(1, 0), (1, 1)]
    with pytest.raises(Failure):
        plain("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT * FROM r")
    harmless = "WITH RECURSIVE r AS (SELECT 1 AS n) SELECT * FROM r"
    assert plain(harmless) == "WITH r AS (SELECT 1 AS n) SELECT * FROM r"
