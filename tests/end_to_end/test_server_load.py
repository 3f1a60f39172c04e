"""How the server bears up: overhead, resource bombs, and timing on D and D'."""

import statistics
import threading
import time

import numpy as np
import pytest
from benchmarks.load import Load, press

from server_kit import COUNT, running, write_world

BODY = {"sql": COUNT, "epsilon": "0.001", "fresh": True}


def test_overhead_of_http_is_at_most_5_ms(tmp_path):
    """Interleaved, so that a busy machine slows both; the smallest of 5 medians counts."""
    with running(write_world(tmp_path, rows=1000)) as server:
        client, lent = server.client(server.token("analyst", "bob")), server.context.workspace
        with client, lent.curator() as curator:
            gaps = [_gap(client, curator) for _ in range(5)]
    assert min(gaps) < 0.005, gaps


def _gap(client, curator):
    gaps = []
    for _ in range(12):
        began = time.perf_counter()
        assert client.post("/api/v1/query", json=BODY).status_code == 200
        middle = time.perf_counter()
        curator.query(COUNT, epsilon="0.001", fresh=True, analyst="bob")
        gaps.append((middle - began) - (time.perf_counter() - middle))
    return statistics.median(gaps)


def test_a_short_load_charges_what_the_ledger_says(tmp_path):
    with running(write_world(tmp_path, rows=1000)) as server:
        tokens = [server.token("analyst", "bob") for _ in range(4)]
        with server.client(tokens[0]) as client:  # the engine's processes start
            assert client.post("/api/v1/query", json=BODY).status_code == 200
        found = press(Load(server.url, tokens, clients=12, seconds=1.5, epsilon="0.001"))
        with server.context.workspace.curator() as curator:
            charges = curator.ledger.spent("census", "bob").charges
    assert found.errors == 0
    assert found.answers == charges - 1
    assert found.answers >= 12


def test_a_bomb_ends_at_its_limit_and_others_are_served(tmp_path):
    """The engine kills what runs too long; the charge stands; an analyst beside it is answered."""
    config = write_world(tmp_path, limits="seconds = 1")
    with running(config) as server, server.context.workspace.curator() as curator:
        engine, run = curator.engine, curator.engine.run
        bomb = "SELECT COUNT(*) AS r0 FROM range(100000) a, range(100000) b, range(1000) c"
        reading = threading.Event()

        def slow(sql, **more):
            if "age" not in sql:
                return run(sql, **more)
            reading.set()
            return run(bomb, **more)

        engine.run = slow
        answers = []

        def explode():
            body = {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 5", "epsilon": 0.1}
            with server.client(server.token("analyst", "alice")) as client:
                began = time.monotonic()
                response = client.post("/api/v1/query", json=body)
                answers.append((response.status_code, time.monotonic() - began))

        thread = threading.Thread(target=explode)
        thread.start()
        assert reading.wait(30)
        with server.client(server.token("analyst", "bob")) as client:
            began = time.monotonic()
            assert client.post("/api/v1/query", json=BODY).status_code == 200
            waited = time.monotonic() - began
        thread.join(60)
        [(status, seconds)] = answers
        assert status == 502
        # 1 s limit + 1 s; the rest is slack for a busy machine before the reading begins.
        assert seconds < 12
        assert waited < 12
        assert curator.ledger.spent("census", "alice").charges == 1


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_timing_tells_neighbours_apart_no_better_than_chance(tmp_path):
    """Security test 13: AUC at most 0.55 on 1,000 requests each, in turn, best split of both sides.

    With 1,000 each, the AUC of equal laws has standard deviation 0.013: 0.55 is 3.9 of them, a
    false alarm of about 1 in 10,000 (two-sided).
    """
    body = {"sql": "SELECT SUM(income) AS s FROM people WHERE age > 40", "epsilon": "0.001"}
    body["fresh"] = True
    first = write_world(tmp_path / "a")
    second = write_world(tmp_path / "b", without=77)
    with running(first) as one, running(second) as two:
        clients = [s.client(s.token("analyst", "bob")) for s in (one, two)]
        for client in clients:
            for _ in range(20):
                client.post("/api/v1/query", json=body)
        seconds = ([], [])
        order = np.random.default_rng(3).permutation([0, 1] * 1000)
        for which in order:
            began = time.perf_counter()
            assert clients[which].post("/api/v1/query", json=body).status_code == 200
            seconds[which].append(time.perf_counter() - began)
        for client in clients:
            client.close()
    assert 0.45 <= auc(*seconds) <= 0.55
    # The broken twin: 2 ms more for one person is seen.
    assert auc(seconds[0], [s + 0.002 for s in seconds[1]]) > 0.55


def auc(left, right):
    """Return the chance that a time of `right` is above one of `left`, ties counted half."""
    left, right = np.sort(left), np.asarray(right)
    below = np.searchsorted(left, right, side="left")
    upto = np.searchsorted(left, right, side="right")
    return float(np.mean((below + upto) / 2) / len(left))
