"""Outputs of steps are followed to the cells of results that they read."""

import pytest
import sqlglot

from discreet.sql.post_processing.lineage import CellSources, sources_of


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
        ("SELECT x FROM p0", [cells()]),
        ("SELECT 1", [cells()]),
    ],
)
def test_every_output_is_followed(sql, found):
    traced = sources_of(sqlglot.parse_one(sql, read="duckdb"))
    assert [CellSources(each.cells, each.same) for each in traced] == found
