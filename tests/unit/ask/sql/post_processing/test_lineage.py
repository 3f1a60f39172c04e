"""Outputs of steps are followed to the cells of results that they read."""

import pytest
import sqlglot

from discreet.ask.sql.post_processing.lineage import CellSources, sources_of
from patience import quickest, slowness


def cells(*found, same=False):
    return CellSources(frozenset(found), same)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT c0, c1 + 1 AS x FROM r0", [cells((0, 0), same=True), cells((0, 1))]),
        ("SELECT l1 FROM r0", [cells((0, 1))]),
        ("SELECT s.x FROM (SELECT c2 AS x FROM r1) AS s", [cells((1, 2), same=True)]),
        ("SELECT MAX(x) FROM (SELECT c2 AS x FROM r1) AS s", [cells((1, 2))]),
        ("SELECT (SELECT c0 FROM r0) AS m FROM (SELECT 1) AS t", [cells((0, 0), same=True)]),
        (
            "SELECT t.a0 FROM (SELECT r0.c1 AS a0 FROM r0 UNION ALL SELECT r1.c0 AS a0 FROM r1) AS t",
            [cells((0, 1), (1, 0), same=True)],
        ),
        (
            "SELECT m.x, k.x FROM (SELECT c1 AS x FROM r0) AS m JOIN (SELECT c0 AS x FROM r1) AS k ON 1 = 1",
            [cells((0, 1), same=True), cells((1, 0), same=True)],
        ),
        (
            "SELECT COUNT(*) FROM (SELECT c0 AS g, c2 AS m FROM r0) AS k WHERE m > 50",
            [cells((0, 2))],
        ),
        ("SELECT COUNT(*) FROM (SELECT c0 AS g FROM r0 WHERE c2 > 50) AS k", [cells((0, 2))]),
        ("SELECT COUNT(*) FROM r0 GROUP BY c2", [cells((0, 2))]),
        ("SELECT c2 AS m, COUNT(*) FROM r0 GROUP BY 1", [cells((0, 2), same=True), cells((0, 2))]),
        (
            "SELECT c2 AS m, COUNT(*) FROM r0 GROUP BY ALL",
            [cells((0, 2), same=True), cells((0, 2))],
        ),
        ("SELECT COUNT(*) FROM r0 HAVING MAX(c2) > 50", [cells((0, 2))]),
        ("SELECT COUNT(*) OVER () FROM r0 WHERE c2 > 50", [cells((0, 2))]),
        ("SELECT COUNT(*) OVER () FROM r0 QUALIFY RANK() OVER (ORDER BY c2) = 1", [cells((0, 2))]),
        (
            "SELECT SUM(x) FROM (SELECT c0 AS x FROM r0 ORDER BY c2 LIMIT 3) AS k",
            [cells((0, 0), (0, 2))],
        ),
        (
            "SELECT SUM(x) FROM (SELECT x FROM (SELECT c0 AS x FROM r0 ORDER BY c2) AS t LIMIT 3) AS k",
            [cells((0, 0), (0, 2))],
        ),
        ("SELECT SUM(x) FROM (SELECT c0 AS x FROM r0 ORDER BY c2) AS k", [cells((0, 0))]),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT c2 AS x FROM r0) AS k", [cells((0, 2))]),
        (
            "SELECT COUNT(*) FROM (SELECT c2 FROM r0 UNION SELECT c1 FROM r1) AS k",
            [cells((0, 2), (1, 1))],
        ),
        ("SELECT COUNT(*) FROM (SELECT c2 FROM r0 UNION ALL SELECT c1 FROM r1) AS k", [cells()]),
        (
            "SELECT COUNT(*) FROM r0 JOIN (SELECT c1 AS x FROM r1) AS k ON r0.c2 = k.x",
            [cells((0, 2), (1, 1))],
        ),
        (
            "SELECT COUNT(*) FROM (SELECT 1) AS t WHERE EXISTS(SELECT 1 FROM r0 WHERE c2 > 50)",
            [cells((0, 2))],
        ),
        ("SELECT c0 FROM r0 WHERE c2 > 50", [cells((0, 0), same=True)]),
        ("SELECT x FROM p0", [cells()]),
        ("SELECT 1", [cells()]),
    ],
)
def test_every_output_is_followed(sql, found):
    traced = sources_of(sqlglot.parse_one(sql, read="duckdb"))
    assert [CellSources(each.cells, each.same) for each in traced] == found


def test_levels_are_followed_once_each():
    sql = "SELECT c0 AS x FROM r0"
    for _ in range(40):
        sql = f"SELECT SUM(x) AS x FROM ({sql}) AS t WHERE x > 3 GROUP BY x"
    tree = sqlglot.parse_one(sql, read="duckdb")
    assert quickest(lambda _: sources_of(tree)) < 0.5 * slowness()
