"""Long jobs in children of a real server: killed anywhere, the charge is told truly and never looked at twice."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from child_tasks import lives, on_path
from patience import LONG, eventually
from ports import free_port
from postgres_server import postgres_server, postgres_url  # noqa: F401  # fixtures
from server_kit import CANARY, COUNT, plain_client, running, write_world

SYNTH = "/api/v1/synth"
WISH = {"table": "census.people", "epsilon": "0.5", "method": "independent", "rows": 50}
FITTING = "storing the codes"
CHOICES = "/api/v1/choices"
CHOICE = {"table": "census.people", "column": "sex", "epsilon": "0.5"}
PROGRAM = Path(__file__).resolve().parents[1] / "browser" / "killable.py"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    world = write_world(tmp_path_factory.mktemp("world"), rows=200, epsilon="50", analysts="")
    with running(world) as found:
        yield found


@pytest.fixture(scope="module")
def owner(server):
    with server.client(server.token()) as client:
        yield client


@pytest.fixture
def held(server, tmp_path, monkeypatch):
    """Return a function that starts a copy, or something else, whose child stops at a place, and gives job and process.

    A quick one is forked for its job, and its engine is not its own.
    """

    def start(client, where, name, *, file="here", quick=False, post=(SYNTH, WISH)):
        place = tmp_path / file
        monkeypatch.setenv("PYTHONPATH", on_path())
        monkeypatch.setenv("CHILD_HELD", f"{where}|{place}")
        if not quick:
            monkeypatch.setattr(server.context.children, "module", "child_held")
        path, body = post
        job = client.post(path, json=body | {"request_id": name}).json()["job"]
        eventually(place.exists, "the child did not get there")
        monkeypatch.undo()
        return job, int(place.read_text())

    return start


def follow(client, job):
    with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        stream.read()
    return client.get(f"/api/v1/jobs/{job}").json()


def again(client, name, post=(SYNTH, WISH)):
    path, body = post
    return follow(client, client.post(path, json=body | {"request_id": name}).json()["job"])


def charges(client, name):
    entries = client.get("/api/v1/history?last=1000").json()["entries"]
    return [e["outcome"] for e in entries if e["kind"] == "charge" and e["request_id"] == name]


def group(leader):
    """Return the processes that live in a child's group."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            facts = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(facts[2]) == leader and facts[0] not in "ZX":
            found.append(int(place.name))
    return found


def left(server):
    """Return what lies in folders of jobs, and results held for one: all of it must be gone."""
    state = server.context.settings.state_folder
    return [*state.glob("jobs/*"), *state.glob("duckdb/tables/held_*"), *state.glob("*/making-*")]


def test_cancelled_in_the_middle_of_a_fit(server, owner, held):
    job, child = held(owner, FITTING, "cancelled")
    assert len(group(child)) > 1, "it has an engine of its own"
    # The child has said where it is; the thread that listens may hear it a moment later.
    looked = f"/api/v1/jobs/{job}"
    told = "its step is not told"
    eventually(lambda: (owner.get(looked).json()["progress"] or {}).get("what") == FITTING, told)
    assert owner.get(looked).json()["state"] == "running"
    assert owner.get(looked).json()["charged"] is True
    # Meanwhile the server answers questions.
    asked = {"sql": COUNT, "epsilon": "0.1", "fresh": True}
    assert owner.post("/api/v1/query", json=asked).status_code == 200
    owner.delete(f"/api/v1/jobs/{job}")
    found = follow(owner, job)
    assert found["state"] == "cancelled"
    assert "The charge stands, and there is no answer." in found["problem"]["detail"]
    eventually(lambda: group(child) == [], "an engine outlived its job")
    assert left(server) == []
    assert charges(owner, "cancelled") == ["lost"]
    lost = again(owner, "cancelled")["problem"]
    assert (lost["kind"], lost["status"]) == ("AnswerLost", 410)
    assert charges(owner, "cancelled") == ["lost"]


def test_killed_in_the_middle_of_a_fit(server, owner, held):
    job, child = held(owner, FITTING, "killed")
    os.kill(child, signal.SIGKILL)
    found = follow(owner, job)
    assert found["state"] == "failed"
    assert found["charged"] is True
    assert found["problem"]["kind"] == "AnswerLost"
    assert "was killed" in found["problem"]["detail"]
    eventually(lambda: group(child) == [], "an engine outlived its job")
    assert left(server) == []
    assert charges(owner, "killed") == ["lost"]
    assert CANARY not in server.log.getvalue()


def test_one_request_killed_at_every_other_place_is_paid_once_and_told_truly(owner, held):
    """Before the charge; with a charge that nobody was told of; with a model and without its files."""
    seen = []
    for where in ("before the charge", "charged", "stored"):
        job, child = held(owner, where, "again", file=where, quick=True)
        os.kill(child, signal.SIGKILL)
        found = follow(owner, job)
        assert found["state"] == "failed"
        assert found["problem"]["kind"] == "ServerFailed"
        said = found["problem"]["detail"].partition(". ")[2]
        seen.append((found["charged"], said, charges(owner, "again")))
    assert seen == [
        (False, "Nothing was charged.", []),
        (True, "The charge stands, and no row has been read.", ["paid"]),
        (True, "The charge stands, and the answer is kept.", ["answered"]),
    ]
    ended = again(owner, "again")
    assert ended["state"] == "done", ended
    assert ended["answer"]["free"] is True
    assert charges(owner, "again") == ["answered"]


@pytest.mark.parametrize("how", ["killed", "cancelled"])
def test_a_choice_ended_in_the_middle_is_paid_and_lost(server, owner, held, how):
    post, name = (CHOICES, CHOICE), f"choice-{how}"
    job, child = held(owner, "chosen", name, post=post)
    assert child != os.getpid()
    assert len(group(child)) > 1, "it has an engine of its own"
    if how == "killed":
        os.kill(child, signal.SIGKILL)
    else:
        owner.delete(f"/api/v1/jobs/{job}")
    found = follow(owner, job)
    assert (found["state"], found["charged"]) == ("failed" if how == "killed" else how, True)
    eventually(lambda: group(child) == [], "an engine outlived its job")
    assert left(server) == []
    assert charges(owner, name) == ["lost"]
    lost = again(owner, name, post)["problem"]
    assert (lost["kind"], lost["status"]) == ("AnswerLost", 410)
    assert charges(owner, name) == ["lost"]


def test_a_choice_killed_once_it_is_stored_is_final_and_given_again(owner, held):
    post, name = (CHOICES, CHOICE), "choice-stored"
    job, child = held(owner, "stored", name, file="choice", quick=True, post=post)
    os.kill(child, signal.SIGKILL)
    found = follow(owner, job)
    assert found["state"] == "failed"
    assert "the answer is kept" in found["problem"]["detail"]
    kept = [again(owner, name, post)["answer"] for _ in range(2)]
    assert [each["free"] for each in kept] == [True, True]
    assert kept[0]["choice"] == kept[1]["choice"]
    assert charges(owner, name) == ["answered"]
    other = owner.post(CHOICES, json=CHOICE | {"epsilon": "0.4", "request_id": name})
    assert follow(owner, other.json()["job"])["problem"]["kind"] == "RequestConflict"


def test_a_child_without_memory_says_so_and_the_server_lives(tmp_path):
    world = write_world(tmp_path, rows=200, epsilon="50", analysts="")
    request = WISH | {"rows": 10_000_000, "request_id": "large"}
    limited = running(world, quick=False, job_memory_mb=40)
    with limited as server, server.client(server.token()) as owner:
        found = follow(owner, owner.post(SYNTH, json=request).json()["job"])
        assert found["state"] == "failed", found
        assert "memory" in found["problem"]["detail"], found
        assert found["charged"] is (charges(owner, "large") != [])
        assert owner.get("/api/v1/budget").status_code == 200


def test_no_child_outlives_a_killed_server_and_its_charge_is_lost(tmp_path, monkeypatch):
    world, port = write_world(tmp_path / "w", rows=50, epsilon="100", analysts=""), free_port()
    reached = tmp_path / "reached"
    monkeypatch.setenv("PYTHONPATH", on_path())
    monkeypatch.setenv("CHILD_HELD", f"{FITTING}|{reached}")
    program = [sys.executable, str(PROGRAM), str(world), str(port), "new", "child", ""]
    server = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    try:
        headers = {"Authorization": f"Bearer {server.stdout.readline().strip()}"}
        address = f"http://127.0.0.1:{port}"
        with plain_client(base_url=address, headers=headers) as client:
            eventually(lambda: _answers(client), "the server did not start")
            client.post(SYNTH, json=WISH | {"request_id": "orphan"})
        eventually(reached.exists, "the child did not get there")
        child = int(reached.read_text())
        assert lives(child)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    eventually(lambda: group(child) == [], "a child outlived its server")
    with running(world) as second, second.client(second.token()) as owner:
        assert left(second) == []
        assert charges(owner, "orphan") == ["lost"]


def _answers(client):
    try:
        return client.get("/api/v1/health").status_code == 200
    except httpx.TransportError:
        return False


def spend_from_both(world):
    """Ask for more than there is from the server's own process and from children at once."""
    with running(world) as server, server.client(server.token()) as owner:
        body = {"sql": COUNT, "epsilon": "0.1", "fresh": True}

        def ask(_):
            return owner.post("/api/v1/query", json=body).status_code == 200

        def copy(number):
            request = WISH | {"epsilon": "0.1", "request_id": f"copy {number}"}
            job = owner.post(SYNTH, json=request).json()["job"]
            return follow(owner, job)["state"] == "done"

        with ThreadPoolExecutor(2) as pool:
            copies = pool.submit(lambda: [copy(i) for i in range(2)])
            asked = [ask(i) for i in range(12)]
            made = copies.result(LONG)
        with server.context.workspace.curator() as curator:
            curator.ledger.verify()
            spent = curator.ledger.spent("census")
        return sum(asked) + sum(made), spent


def test_server_and_children_share_one_ledger(tmp_path):
    granted, spent = spend_from_both(write_world(tmp_path, rows=100, epsilon="1", analysts=""))
    assert granted == 10
    assert spent.epsilon == 1


@pytest.mark.postgres
def test_server_and_children_share_one_ledger_in_postgresql(tmp_path, postgres_url):  # noqa: F811
    world = write_world(tmp_path, rows=100, epsilon="1", analysts="", ledger=postgres_url)
    granted, spent = spend_from_both(world)
    assert granted == 10
    assert spent.epsilon == 1
