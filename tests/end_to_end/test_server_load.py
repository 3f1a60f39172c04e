"""How the server bears up: overhead, resource bombs, and timing on D and D'."""

import statistics
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from benchmarks.load import Load, press

from patience import LONG, YARDSTICK, yardstick
from server_kit import COUNT, running, write_world

BODY = {"sql": COUNT, "epsilon": "0.001", "fresh": True}


def test_http_takes_at_most_5_ms_of_processor_time(tmp_path):
    """Both ends of the connection are in this process; a busy machine does not change the sum."""
    with served(tmp_path) as (client, curator):
        turns = [(*_turn(client, curator, time.process_time), yardstick()) for _ in range(40)]
    # What disturbs a turn makes it longer, so the quick ones count; the yardstick is measured among
    # them. 5 ms is the claim, shown by the slow test; half as much again for cold caches.
    http, alone, measure = (statistics.quantiles(each, n=4)[0] for each in zip(*turns, strict=True))
    assert http - alone < 0.0075 * max(1.0, measure / YARDSTICK), (http, alone, measure)


@pytest.mark.slow
def test_overhead_of_http_is_at_most_5_ms(tmp_path):
    """By the clock on the wall, on a machine that is idle otherwise."""
    with served(tmp_path) as (client, curator):
        gaps = _gaps(client, curator, time.perf_counter, 200)
    print(f"overhead {statistics.median(gaps) * 1000:.2f} ms")
    assert statistics.median(gaps) < 0.005


@contextmanager
def served(folder):
    with running(write_world(folder, rows=1000)) as server:
        client, lent = server.client(server.token("analyst", "bob")), server.context.workspace
        with client, lent.curator() as curator:
            yield client, curator


def _turn(client, curator, clock):
    """Return the time of a question over HTTP, and of the same one without."""
    began = clock()
    assert client.post("/api/v1/query", json=BODY).status_code == 200
    middle = clock()
    curator.query(COUNT, epsilon="0.001", fresh=True, analyst="bob")
    return middle - began, clock() - middle


def _gaps(client, curator, clock, times):
    turns = [_turn(client, curator, clock) for _ in range(times)]
    return [http - alone for http, alone in turns[times // 10 :]]


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


BOMB = "SELECT COUNT(*) AS r0 FROM range(100000) a, range(100000) b, range(1000) c"
FUSE = {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 5", "epsilon": "0.001", "fresh": True}


LIMIT = 1.0


def arm(engine):
    """Let every question about ages run a bomb under a short limit; return the first one's event."""
    hold, reading = engine.hold, threading.Event()

    def armed(tables, **how):
        held = hold(tables, **how)
        run = held._run

        def bomb(sql, **more):
            if "WHERE" not in sql:
                return run(sql, **more)
            reading.set()
            return run(BOMB, seconds=LIMIT)

        held._run = bomb
        return held

    engine.hold = armed
    return reading


def explode(server, found, times, ledger=None):
    """Ask `times` for a bomb; with a ledger its owner clears each, or the next would not be asked."""
    with server.client(server.token("analyst", "alice")) as client:
        for _ in range(times):
            began = time.monotonic()
            response = client.post("/api/v1/query", json=FUSE)
            found.append((response.status_code, time.monotonic() - began))
            for incident in ledger.incidents.open() if ledger else ():
                ledger.incidents.clear(incident.request_id, reason="a bomb of this test")


def test_a_bomb_ends_at_its_limit_and_others_are_served(tmp_path):
    """The engine kills what runs too long; the charge stands; an analyst beside it is answered."""
    config = write_world(tmp_path)
    with running(config) as server, server.context.workspace.curator() as curator:
        reading, found = arm(curator.engine), []
        thread = threading.Thread(target=explode, args=(server, found, 1))
        thread.start()
        assert reading.wait(LONG)
        with server.client(server.token("analyst", "bob")) as client:
            assert client.post("/api/v1/query", json=BODY).status_code == 200
        thread.join(LONG)
        [(status, _)] = found
        assert status == 502
        assert curator.ledger.spent("census", "alice").charges == 1


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_hundred_bombs(tmp_path, record_property):
    """Security test 22: each ends at its limit + 1 s; another analyst's p99 stays below twice.

    Rounds with and without bombs take turns in one run, so that whatever else the machine does
    weighs on both sides alike.
    """
    config = write_world(tmp_path)
    calm, pressed, found = [], [], []
    with running(config) as server, server.context.workspace.curator() as curator:
        reading = arm(curator.engine)
        with server.client(server.token("analyst", "bob")) as client:
            explode(server, [], 1, curator.ledger)  # the engine's processes start
            _timed(client, 20)
            for _ in range(20):
                calm += _timed(client, 40)
                reading.clear()
                before = curator.ledger.spent("census", "alice").charges
                bombs = (server, found, 5, curator.ledger)
                thread = threading.Thread(target=explode, args=bombs)
                thread.start()
                assert reading.wait(LONG)
                while thread.is_alive():
                    pressed += _timed(client, 5)
                thread.join()
                # Each went off: one that was refused would have cost nothing.
                assert curator.ledger.spent("census", "alice").charges == before + 5
    assert [status for status, _ in found] == [502] * 100
    before, beside = np.quantile(calm, 0.99), np.quantile(pressed, 0.99)
    longest = max(seconds for _, seconds in found)
    record_property("resource bombs ended by their limit", len(found))
    record_property("longest bomb, seconds beyond its limit", f"{longest - LIMIT:.2f}")
    record_property("another client's p99 beside bombs", f"{beside / before:.2f} times")
    print(f"p99 {before * 1000:.1f} ms alone ({len(calm)}), {beside * 1000:.1f} ms beside bombs")
    print(
        f"({len(pressed)}); medians {np.median(calm) * 1000:.1f} and "
        f"{np.median(pressed) * 1000:.1f}; longest bomb {longest:.2f} s"
    )
    assert longest < LIMIT + 1
    assert beside < 2 * before + 0.02, "20 ms: a few time slices of the scheduler"


def _timed(client, times):
    found = []
    for _ in range(times):
        began = time.perf_counter()
        assert client.post("/api/v1/query", json=BODY).status_code == 200
        found.append(time.perf_counter() - began)
    return found


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_timing_tells_neighbours_apart_no_better_than_chance(tmp_path, record_property):
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
    record_property("AUC of response times on neighbours", f"{auc(*seconds):.3f}")
    print(f"AUC {auc(*seconds):.4f}")
    assert 0.45 <= auc(*seconds) <= 0.55
    # The broken twin: a heavy CASE, seen elsewhere to take 111 ms for one person, would show.
    assert auc(seconds[0], [s + 0.111 for s in seconds[1]]) > 0.55


def auc(left, right):
    """Return the chance that a time of `right` is above one of `left`, ties counted half."""
    left, right = np.sort(left), np.asarray(right)
    below = np.searchsorted(left, right, side="left")
    upto = np.searchsorted(left, right, side="right")
    return float(np.mean((below + upto) / 2) / len(left))
