"""Texts that were made to hurt: over HTTP and PostgreSQL they get a sentence, and nobody else notices."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

from patience import LONG
from pgwire_kit import endpoint
from server_kit import COUNT, running, write_world
from sittings import FULL

API = "/api/v1"


def chained(steps: int, step: str) -> str:
    parts = [f"c{i} AS (SELECT {step} FROM c{i - 1})" for i in range(1, steps)]
    ctes = ", ".join(["c0 AS (SELECT age AS a FROM people)", *parts])
    return f"WITH {ctes} SELECT SUM(a) AS n FROM c{steps - 1}"


BOMBS = {
    "doubled": chained(60, "a + a AS a"),
    "chained": chained(800 if FULL else 300, "a"),
    "added": f"SELECT SUM({'+'.join(['age'] * (60 if FULL else 30))}) AS n FROM people",
}
DEEP = "SELECT * FROM " + "(SELECT * FROM " * 12_000 + "people" + ") t" * 12_000


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


@pytest.fixture(scope="module")
def pg(tmp_path_factory):
    with endpoint(tmp_path_factory.mktemp("pg")) as found:
        yield found


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("route", ["explain", "query"])
def test_a_bomb_is_answered_with_a_sentence_and_costs_nothing(server, name, route):
    with server.client(server.token("analyst", "bob")) as bob:
        answer = bob.post(f"{API}/{route}", json={"sql": BOMBS[name], "epsilon": "0.1"})
        assert answer.status_code in {200, 400}, answer.text
        if answer.status_code == 400:
            assert answer.json()["kind"] == "QueryRefused"
        small = {"sql": COUNT, "epsilon": "0.1"}
        assert bob.post(f"{API}/explain", json=small).status_code == 200


def test_explaining_waits_in_the_queue(server):
    """While the caller's one text is at work, an explanation waits like a question."""
    go, seen = threading.Event(), []
    job = server.context.runner.submit("analyst bob", lambda _job: go.wait(LONG), plans=True)
    body = {"sql": COUNT, "epsilon": "0.1"}
    with server.client(server.token("analyst", "bob")) as bob:
        asked = threading.Thread(
            target=lambda: seen.append(bob.post(f"{API}/explain", json=body).status_code)
        )
        asked.start()
        while server.context.runner.load != (1, 1):  # one waits, and the other one runs
            assert asked.is_alive(), "it did not wait"
            time.sleep(0.01)
        go.set()
        asked.join(LONG)
    assert seen == [200]
    assert job.future.result(LONG)


def state_of(connection, sql):
    """Return the SQLSTATE with which `sql` is refused, None if it is answered."""
    try:
        connection.execute(sql)
    except psycopg.Error as error:
        return error.sqlstate
    return None


@pytest.mark.parametrize("name", [*BOMBS, "deep"])
def test_bombs_over_postgres(pg, name):
    sql = DEEP if name == "deep" else BOMBS[name]
    with psycopg.connect(pg.url(), autocommit=True) as alice:
        alice.execute("SET discreet.epsilon = 0.1")
        before = pg.spent("alice")
        for text in (sql, f"EXPLAIN {sql}"):
            assert state_of(alice, text) in {None, "0A000", "42601"}
        if name == "deep":
            assert pg.spent("alice") == before
        assert alice.execute("SELECT 1").fetchone() == (1,)
