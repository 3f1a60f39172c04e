from __future__ import annotations

import asyncio

import pytest

from discreet.curator import parsed
from discreet.server.pgwire.dispatch import MAX_VIEWS, Views
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.statements import browsed, split
from discreet.server.pgwire.types import INT4, WireColumn


async def describe(_statement):
    return (WireColumn("age", INT4),)


async def aside(work, *arguments):
    return work(*arguments)


@pytest.fixture
def views():
    return Views(describe, aside)


def say(views, sql):
    [statement] = split(sql)

    async def run():
        ready = await views.ready(statement)
        return None if ready is None else (await ready.run(())).tag

    return asyncio.run(run())


def question(views, sql):
    return views.asking(parsed(sql)).tree.sql("duckdb")


def test_a_view_is_its_select(views):
    assert (
        say(views, "CREATE TEMP VIEW grown AS SELECT age FROM people WHERE age > 17")
        == "CREATE VIEW"
    )
    inner = "(SELECT age FROM people WHERE age > 17)"
    assert (
        question(views, "SELECT COUNT(*) FROM grown") == f'SELECT COUNT(*) FROM {inner} AS "grown"'
    )
    assert (
        question(views, "SELECT COUNT(*) FROM Grown AS g") == f"SELECT COUNT(*) FROM {inner} AS g"
    )
    assert views.expanded(browsed(split("SELECT * FROM grown")[0])).sql().count("people") == 1
    assert views.shown == [("grown", (WireColumn("age", INT4),))]
    for other in ("census.grown", '"Grown"', "grown2"):
        assert question(views, f"SELECT 1 FROM {other}") == f"SELECT 1 FROM {other}"
    shadow = "WITH grown AS (SELECT 1) SELECT * FROM grown"
    assert question(views, shadow) == shadow


def test_views_of_views(views):
    say(views, "CREATE TEMPORARY VIEW a AS SELECT age FROM people")
    say(views, "CREATE TEMPORARY VIEW b AS SELECT age FROM a")
    say(views, "DROP VIEW a")
    assert question(views, "SELECT 1 FROM b").count("people") == 1


def test_making_and_dropping(views):
    make = "CREATE TEMP VIEW v AS SELECT 1"
    assert say(views, make) == "CREATE VIEW"
    with pytest.raises(Failure):
        say(views, make)
    assert say(views, "CREATE OR REPLACE TEMP VIEW v AS SELECT 2") == "CREATE VIEW"
    assert say(views, "DROP VIEW IF EXISTS w CASCADE") == "DROP VIEW"
    assert say(views, "DROP VIEW IF EXISTS") == "DROP VIEW"
    with pytest.raises(Failure):
        say(views, "DROP VIEW w")
    assert say(views, 'DROP VIEW "v"') == "DROP VIEW"
    assert views.shown == []
    assert say(views, "CREATE VIEW v AS SELECT 1") is None
    assert say(views, "DROP TABLE people") is None


def test_views_cannot_grow_without_end(views):
    say(views, "CREATE TEMP VIEW v0 AS SELECT age FROM people")
    doubled = "CREATE OR REPLACE TEMP VIEW v0 AS SELECT a.age FROM v0 a, v0 b"
    for _ in range(9):
        say(views, doubled)
    with pytest.raises(Failure) as caught:
        say(views, doubled)
    assert caught.value.code == "54001"
    for i in range(2 * MAX_VIEWS):
        say(views, f"CREATE TEMP VIEW w{i} AS SELECT 1")
    assert len(views.shown) == MAX_VIEWS
