"""Long questions over HTTP: they can be left, watched and cancelled."""

import threading
from functools import partialmethod

import pytest

from discreet.data.engines.base import engine_failed
from discreet.data.engines.duckdb.snapshots import DuckDBHeld
from discreet.server.access.tokens import Role
from patience import LONG
from server_kit import COUNT, running, write_world

ASK = {"sql": COUNT, "epsilon": 0.1, "fresh": True}


@pytest.fixture
def server(tmp_path):
    with running(write_world(tmp_path)) as found:
        yield found


def _gated(held, gate, *arguments, **named):
    return gate.run(held, *arguments, **named)


class Gate:
    """Holds an engine's queries until it is opened, or until that thread is cancelled."""

    def __init__(self, engine, monkeypatch):
        self.reached = threading.Semaphore(0)
        self.open = threading.Event()
        self.stopped = {}
        self._run = DuckDBHeld._run
        monkeypatch.setattr(DuckDBHeld, "_run", partialmethod(_gated, self))
        monkeypatch.setattr(engine, "cancel", self.cancel)

    def run(self, *arguments, **named):
        mine = self.stopped.setdefault(threading.get_ident(), threading.Event())
        self.reached.release()
        while not self.open.wait(0.005):
            if mine.is_set():
                raise engine_failed()
        return self._run(*arguments, **named)

    def cancel(self, *, thread=None):
        self.stopped[thread].set()


@pytest.fixture
def gate(server, monkeypatch):
    with server.context.workspace.curator() as curator:
        yield Gate(curator.engine, monkeypatch)


def wait(client, job):
    with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        text = stream.read().decode()
    assert text.rstrip().split("event: ")[-1].startswith("end")
    return client.get(f"/api/v1/jobs/{job}").json()


def test_a_job_goes_through_public_steps_to_its_answer(server):
    with server.client(server.token("analyst", "bob")) as client:
        started = client.post("/api/v1/jobs", json=ASK)
        assert started.status_code == 202
        job = started.json()["job"]
        with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            text = stream.read().decode()
        steps = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
        names = ["queued", "running", "planning", "charging", "charged", "reading", "noise", "done"]
        assert steps == [f'{{"step": "{name}"}}' for name in names] + ['{"state": "done"}']
        found = client.get(f"/api/v1/jobs/{job}").json()
        assert found["state"] == "done"
        assert found["answer"]["columns"] == ["sex", "n"]
        assert [item["job"] for item in client.get("/api/v1/jobs").json()["jobs"]] == [job]
    with server.client(server.token("analyst", "alice")) as other:
        for path in (f"/api/v1/jobs/{job}", f"/api/v1/jobs/{job}/events"):
            assert other.get(path).status_code == 404
        assert other.delete(f"/api/v1/jobs/{job}").status_code == 404


def test_a_failed_job_says_its_problem(server):
    with server.client(server.token("analyst", "alice")) as client:
        job = client.post("/api/v1/jobs", json={**ASK, "epsilon": 9}).json()["job"]
        found = wait(client, job)
        assert found["state"] == "failed"
        assert found["problem"]["kind"] == "BudgetExceeded"


def test_cancelling_one_leaves_the_others_alone(server, gate):
    bob = server.client(server.token("analyst", "bob"))
    alice = server.client(server.token("analyst", "alice"))
    with bob, alice:
        mine = bob.post("/api/v1/jobs", json=ASK).json()["job"]
        hers = alice.post("/api/v1/jobs", json=ASK).json()["job"]
        assert gate.reached.acquire(timeout=LONG)
        assert gate.reached.acquire(timeout=LONG)
        bob.delete(f"/api/v1/jobs/{mine}")
        found = wait(bob, mine)
        assert found["state"] == "cancelled"
        assert found["charged"] is True
        assert "What was already charged stands." in found["problem"]["detail"]
        gate.open.set()
        assert wait(alice, hers)["state"] == "done"


def test_cancelling_before_the_charge_costs_nothing(server, gate):
    with server.client(server.token("analyst", "bob")) as client:
        running_now = [client.post("/api/v1/jobs", json=ASK).json()["job"] for _ in range(4)]
        assert gate.reached.acquire(timeout=LONG)
        waiting = client.post("/api/v1/jobs", json=ASK).json()["job"]
        assert client.delete(f"/api/v1/jobs/{waiting}").json()["state"] == "cancelled"
        found = client.get(f"/api/v1/jobs/{waiting}").json()
        assert "Nothing was charged." in found["problem"]["detail"]
        gate.open.set()
        assert {wait(client, job)["state"] for job in running_now} == {"done"}
        assert client.get("/api/v1/budget").json()["datasets"]["census"]["charges"] == 4


def test_whoever_holds_the_engine_does_not_hold_the_others_up(server, gate):
    """One analyst's stuck questions leave explaining, looking and other analysts' questions free."""
    with server.client(server.token("analyst", "bob")) as bob:
        for _ in range(10):
            bob.post("/api/v1/jobs", json=ASK)
        assert gate.reached.acquire(timeout=LONG)
        with server.client(server.token("analyst", "alice")) as alice:
            assert alice.post("/api/v1/explain", json=ASK).status_code == 200
            job = alice.post("/api/v1/jobs", json={**ASK, "epsilon": 0.01}).json()["job"]
            assert gate.reached.acquire(timeout=LONG)  # hers reads although bob's ten are first
            gate.open.set()
            assert wait(alice, job)["state"] == "done"


def test_stopping_the_server_ends_running_questions(tmp_path):
    with running(write_world(tmp_path)) as server:
        token = server.token("analyst", "bob")
        with server.client(token) as client:
            job = client.post("/api/v1/jobs", json=ASK).json()["job"]
    # The block has ended: the server is down, and what was in work is either paid and stored or
    # was never charged.
    with running(tmp_path / "discreet.toml") as server, server.client(token) as client:
        assert job
        for entry in client.get("/api/v1/answers").json()["answers"]:
            assert client.get(f"/api/v1/answers/{entry['request_id']}").status_code == 200


TABLE = {"table": "census.people", "epsilon": "0.1"}
PRICED = {
    "/models": TABLE | {"target": "sex"},
    "/models/explain": TABLE | {"target": "sex"},
    "/recommenders": TABLE | {"item": "sex", "rating": "age"},
    "/recommenders/explain": TABLE | {"item": "sex", "rating": "age"},
    "/choices": TABLE | {"column": "sex"},
    "/choices/explain": TABLE | {"column": "sex"},
    "/synth": TABLE,
    "/synth/explain": TABLE,
    "/bounds/explain": TABLE,
    "/publish": {"spec": "title = 1"},
}


def test_every_price_waits_in_the_queue_of_its_caller(server, monkeypatch):
    with server.client(server.token()) as owner:
        monkeypatch.setattr(server.context.runner, "_waiting_each", 0)
        for path, body in PRICED.items():
            found = owner.post(f"/api/v1{path}", json=body)
            assert (found.status_code, found.json()["kind"]) == (429, "TooManyRequests"), path


@pytest.mark.parametrize("path", ["/choices", "/choices/explain", "/synth/explain"])
def test_a_price_whose_caller_is_gone_stops_reading_and_delays_nobody(server, monkeypatch, path):
    token = server.context.tokens.new(Role.ANALYST, analyst="bob")
    reached, stopped, others = threading.Event(), threading.Event(), []
    with server.context.workspace.curator() as curator:
        engine, hold = curator.engine, curator.engine.hold

    def held(tables, **how):
        if reached.is_set():
            return hold(tables, **how)
        reached.set()
        others.append(threading.get_ident())
        assert stopped.wait(LONG)
        raise engine_failed()

    def cancel(*, thread=None):
        assert thread in others
        stopped.set()

    monkeypatch.setattr(engine, "hold", held)
    monkeypatch.setattr(engine, "cancel", cancel)
    found = []

    def ask():
        with server.client(token.text) as bob:
            found.append(bob.post(f"/api/v1{path}", json=PRICED[path]))

    asking = threading.Thread(target=ask)
    asking.start()
    assert reached.wait(LONG)
    with server.client(server.token("analyst", "alice")) as alice:
        body = PRICED["/choices/explain"]
        assert alice.post("/api/v1/choices/explain", json=body).status_code == 200
    with server.client(server.token()) as owner:
        assert owner.delete(f"/api/v1/tokens/{token.token.id}").status_code == 200
        asking.join()
        assert (found[0].status_code, found[0].json()["kind"]) == (401, "NotSignedIn")
        assert stopped.wait(LONG), "what was read for it went on"
        kinds = [each["kind"] for each in owner.get("/api/v1/history").json()["entries"]]
    assert "charge" not in kinds
