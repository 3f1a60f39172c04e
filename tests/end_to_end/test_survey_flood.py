"""Strangers flood the collector of surveys: it closes with a sentence, and everything else works."""

import os
import secrets
import subprocess
import threading
from contextlib import ExitStack, contextmanager
from urllib.parse import quote

import pytest

from discreet.errors import InternalError, InvalidInput
from discreet.server.access.auth import all_routes, roles_of
from discreet.server.features.survey import collector
from discreet.server.features.survey import collector as intake
from discreet.server.features.survey import collector as turns
from discreet.server.features.survey.collector import PIECE
from discreet.survey.device import encoded
from discreet.survey.store import SurveyStore, size_of
from patience import LONG, eventually
from server_kit import COUNT, running, sign_in, write_world

API = "/api/v1/surveys"
CBOR = {"Content-Type": "application/cbor"}
JSON = {"Content-Type": "application/json"}
TOML = 'title = "t"\nepsilon = 2\n{limits}\n[questions.a]\nkind = "yes-no"\n'
MB = 1 << 20


@contextmanager
def flooded(folder, *, limits="", surveys=("one",), toml=TOML, **settings):
    """A server with surveys, its owner, and somebody without a token."""
    with ExitStack() as stack:
        server = stack.enter_context(running(write_world(folder, rows=10), **settings))
        server.folder = folder
        owner = stack.enter_context(server.client(server.token()))
        stranger = stack.enter_context(server.client())
        for name in surveys:
            begun = owner.post(API, json={"name": name, "toml": toml.format(limits=limits)})
            assert begun.status_code == 201, begun.text
        yield server, owner, stranger


def forged(server, count, survey="one"):
    plan = SurveyStore.open(survey, server.folder).plan
    return [encoded([1, plan.id, secrets.token_bytes(16), [0]]) for _ in range(count)]


def send(stranger, batch, survey="one"):
    path = f"{API}/{survey}/reports/batch"
    return stranger.post(path, content=encoded(batch), headers=CBOR)


def ask(owner):
    return owner.post("/api/v1/query", json={"sql": COUNT, "epsilon": 0.1})


def everything_else_works(server, owner, *, survey="one"):
    assert ask(owner).status_code == 200
    with server.client() as person:
        assert sign_in(person, server.token()).status_code == 303
    for path in ("/surveys", f"/surveys/{survey}", f"{API}/{survey}", f"/s/{survey}"):
        assert owner.get(path).status_code == 200
    closed = owner.post(f"{API}/{survey}/close")
    assert closed.status_code == 200, closed.text
    assert owner.get(f"{API}/{survey}").json()["closed"]


def health(client):
    return client.get("/api/v1/health").json()


def test_a_flood_stops_at_what_the_owner_declared(tmp_path):
    with flooded(tmp_path, limits="most_reports = 1000") as (server, owner, stranger):
        for _ in range(4):
            assert send(stranger, forged(server, 400)).status_code == 200
        assert owner.get(f"{API}/one").json()["reports"] == 1000
        one = stranger.post(f"{API}/one/reports", content=forged(server, 1)[0], headers=CBOR)
        assert one.status_code == 503
        assert one.json()["kind"] == "CollectorClosed"
        assert "retry-after" in one.headers
        assert health(stranger)["status"] == "ok", "one full survey closes no other"
        assert owner.get(f"{API}/one").json()["most_reports"] == 1000
        assert "1,000 reports" in owner.get("/surveys/one").text
        everything_else_works(server, owner)


def test_all_surveys_together_hold_no_more_than_the_operator_said(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "COUNTED_AGAIN", 0.0)
    with flooded(tmp_path, surveys=("one", "two"), survey_reports=50) as (server, owner, stranger):
        assert send(stranger, forged(server, 30)).json()["accepted"] == 30
        assert send(stranger, forged(server, 30, "two"), "two").status_code == 503
        assert send(stranger, forged(server, 20, "two"), "two").json()["accepted"] == 20
        refused = send(stranger, forged(server, 1))
        assert refused.status_code == 503
        assert "its surveys hold as many as they may" in refused.json()["detail"]
        said = health(stranger)
        assert said["status"] == "limited"
        assert said["limited"] == {"survey": refused.json()["detail"]}
        everything_else_works(server, owner)


def test_one_address_is_slowed_down(tmp_path):
    with flooded(tmp_path, survey_burst=100, survey_rate=0.01) as (server, _owner, stranger):
        assert send(stranger, forged(server, 60)).status_code == 200
        assert send(stranger, forged(server, 60)).status_code == 429
        assert send(stranger, forged(server, 40)).status_code == 200
    assert intake.network_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert intake.network_of("2001:db8::1") == intake.network_of("2001:db8::ffff:2")


def test_bytes_that_are_no_reports_slow_an_address_down_before_they_are_parsed(
    tmp_path, monkeypatch
):
    parsed = []
    with flooded(tmp_path, survey_burst=100, survey_rate=0.01) as (_server, _owner, stranger):
        path = f"{API}/one/reports/batch"
        for _ in range(2):
            found = stranger.post(path, content=b"]" * (40 * PIECE), headers=JSON)
            assert found.status_code == 400
        monkeypatch.setattr(collector, "batch_of", lambda *_, **__: parsed.append(1))
        assert stranger.post(path, content=b"]" * (40 * PIECE), headers=JSON).status_code == 429
        assert stranger.post(path, content=b"{" * 21, headers=JSON).status_code == 429
        assert parsed == []
        monkeypatch.undo()
        for _ in range(20):
            assert stranger.post(path, content=b"", headers={}).status_code == 400
        assert stranger.post(path, content=b"", headers={}).status_code == 429, (
            "counted, so charged"
        )
    with flooded(tmp_path / "two", survey_burst=100, survey_rate=0.01) as (
        _server,
        _owner,
        stranger,
    ):
        for expected in (200, 429):
            found = stranger.post(path, content=b"[" + b"1," * 60 + b"1]", headers=JSON)
            assert found.status_code == expected, (
                "members that are no objects are charged when they are known"
            )


def test_no_batch_is_larger_than_what_one_address_may_send_at_once(tmp_path, monkeypatch):
    with flooded(tmp_path, survey_burst=100, survey_rate=0.01) as (server, owner, stranger):
        path, hidden = f"{API}/one/reports/batch", b"[" + b"1," * 100 + b"1]"
        refused = [stranger.post(path, content=hidden, headers=JSON)]
        with monkeypatch.context() as patched:
            for reader in ("batch_of", "donations_of"):
                patched.setattr(collector, reader, lambda *_, **__: pytest.fail("it was parsed"))
            refused.append(send(stranger, forged(server, 101)))
            refused.append(stranger.post(path, content=b"{" * 101, headers=JSON))
            refused.append(stranger.post(path, content=b"\x9a\xff\xff\xff\xff", headers=CBOR))
        for each in refused:
            assert (each.status_code, each.json()["kind"]) == (413, "TooLarge")
            assert "at most 100 reports at once" in each.json()["detail"]
        found = owner.get(f"{API}/one").json()
        assert (found["reports"], found["refused"]) == (0, {"too large": 4})
        # Each of the four cost what one report costs; the rest of the 100 may still be sent.
        assert send(stranger, forged(server, 97)).status_code == 429
        assert send(stranger, forged(server, 96)).json()["accepted"] == 96


def test_below_the_floor_the_door_is_closed_and_says_so(tmp_path, monkeypatch):
    free = [500 * MB]
    monkeypatch.setattr(intake, "disk_space", lambda _folder: (2_000 * MB, free[0]))
    with flooded(tmp_path) as (server, owner, stranger):
        assert send(stranger, forged(server, 5)).json()["accepted"] == 5
        # The usual floor of a disk of 2,000 MB is 5% of it: what is being taken must leave that free.
        free[0] = 100 * MB + 4 * len(encoded(forged(server, 2_000))) - 1
        assert send(stranger, forged(server, 2_000)).status_code == 503
        free[0] = 100 * MB - 1
        refused = send(stranger, forged(server, 1))
        assert (refused.status_code, refused.json()["kind"]) == (503, "CollectorClosed")
        assert health(stranger)["limited"] == {"survey": refused.json()["detail"]}
        assert refused.json()["detail"] in owner.get("/surveys/one").text
        assert '"surveys are closed"' in server.log.getvalue()
        everything_else_works(server, owner)
        free[0] = 500 * MB
        assert health(stranger)["status"] == "ok"


class HeldRequests:
    """Batches of one address whose reading does not end until the test does."""

    def __init__(self, server, monkeypatch):
        self.server, self.go_on = server, threading.Event()
        self.inside, self.answered, self.senders = [], [], []
        monkeypatch.setattr(collector, "batch_of", self._hold)

    def _hold(self, body, **_about):
        self.inside.append(len(body))
        assert self.go_on.wait(LONG)
        raise InvalidInput("This is no batch.")

    def post(self):
        """Send one and return what came of it."""
        with self.server.client() as sender:
            return sender.post(f"{API}/one/reports/batch", content=b"]" * 100, headers=JSON)

    def start(self, count):
        """Send so many at once, each in a thread of its own."""
        started = [
            threading.Thread(target=lambda: self.answered.append(self.post())) for _ in range(count)
        ]
        for each in started:
            each.start()
        self.senders += started

    def waiting(self):
        """Return how many wait for a turn."""
        part = self.server.context.parts.get(turns.ReportTurns)
        return 0 if part is None else part._waiting.total()

    def end(self):
        self.go_on.set()
        for each in self.senders:
            each.join(LONG)


@contextmanager
def held_requests(server, monkeypatch):
    held = HeldRequests(server, monkeypatch)
    try:
        yield held
    finally:
        held.end()


def test_reports_leave_threads_to_everybody_else(tmp_path, monkeypatch):
    """More requests than the server has threads for short ones wait at the collector; everything else goes on."""
    most = 50
    monkeypatch.setattr(turns, "WAITING_EACH", most)
    with (
        flooded(tmp_path) as (server, owner, stranger),
        held_requests(server, monkeypatch) as held,
    ):
        held.start(turns.IN_WORK)
        eventually(lambda: len(held.inside) == turns.IN_WORK, "those who have a turn begin")
        held.start(most)
        eventually(lambda: held.waiting() == most, "the others wait")
        for _ in range(6):
            refused = held.post()
            assert (refused.status_code, refused.json()["kind"]) == (503, "CollectorClosed")
            assert "too many arrive at once" in refused.json()["detail"]
            assert "retry-after" in refused.headers
        assert health(stranger)["status"] == "ok"
        everything_else_works(server, owner)
        assert len(held.inside) == turns.IN_WORK, "and nobody else does"
        assert held.answered == []
    assert len(held.inside) == turns.IN_WORK + most, "the others had their turn"
    assert [each.status_code for each in held.answered] == [400] * len(held.inside)


def test_without_turns_reports_take_all_threads(tmp_path, monkeypatch):
    """The twin: what the test above would see."""
    monkeypatch.setattr(turns, "IN_WORK", 1000)
    with (
        flooded(tmp_path) as (server, _owner, _stranger),
        held_requests(server, monkeypatch) as held,
    ):
        held.start(60)
        eventually(lambda: len(held.inside) == 40, "all threads are taken")


@contextmanager
def small_disk(place, megabytes):
    """Lend a file system of its own; only root may make one."""
    place.mkdir()
    asked = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(asked, check=False, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


WIDE = {
    "limits": "most_reports = 1000000000\nmost_mb = 1000",
    "survey_burst": 10**9,
    "survey_mb": 10**6,
    "survey_reports": 10**9,
    "toml": TOML.replace("yes-no", "open") + "rows = 16\nbuckets = 16384\n",
}


def flood(server, stranger):
    """Send until the intake takes nothing; return whether it took anything."""
    plan = SurveyStore.open("one", server.folder).plan
    report, taken = bytes(plan.choices[0].randomizer.shape.length), 0
    for count in (100, 10, 1):
        for _ in range(300):
            batch = [encoded([1, plan.id, secrets.token_bytes(16), [report]]) for _ in range(count)]
            found = send(stranger, batch)
            if found.status_code == 503:
                break
            taken += found.json()["accepted"]
    assert found.status_code == 503
    return taken


def test_a_flood_fills_no_disk(tmp_path):
    with (
        small_disk(tmp_path / "disk", 32) as disk,
        flooded(disk, **WIDE, free_disk_mb=12) as (server, owner, stranger),
    ):
        assert flood(server, stranger)
        assert os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize > 8 * MB
        assert health(stranger)["status"] == "limited"
        everything_else_works(server, owner)


def test_without_a_floor_the_same_flood_fills_the_disk(tmp_path):
    """The twin: what the test above would see if nothing was kept free."""
    with (
        small_disk(tmp_path / "disk", 32) as disk,
        flooded(disk, **WIDE, free_disk_mb=0) as (server, owner, stranger),
    ):
        assert flood(server, stranger)
        assert os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize < 8 * MB
        closed = owner.post(f"{API}/one/close")  # this works all the same
        assert closed.status_code == 200, closed.text


def open_routes(app):
    """Return method and path of every route that needs no token."""
    for route in all_routes(app.routes):
        endpoint = getattr(route, "endpoint", None)
        if endpoint is not None and getattr(route, "methods", None) and hasattr(route, "path"):
            try:
                known = roles_of(endpoint) is not None
            except InternalError:  # not ours: the description of the interface
                known = False
            if not known:
                yield from ((method, route.path) for method in sorted(route.methods))


BODIES = (
    (b"", {}),
    (b"\xff" * 2000, CBOR),
    (b'{"answer": "' + b"x" * 2000 + b'", "name": "x"}', {"Content-Type": "application/json"}),
    (b"token=wrong&nonce=x&ticket=y", {"Content-Type": "application/x-www-form-urlencoded"}),
)


def written(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def strange_requests(server, stranger, rounds, routes):
    """Call every route that needs no token in every way we can think of, each time with new texts."""
    for number in range(rounds):
        mark = secrets.token_hex(6)
        for method, path in routes:
            parts = path.split("/")
            filled = [("one" if number % 2 else mark) if "{" in part else part for part in parts]
            address = "/".join(quote(part) for part in filled)
            body, headers = BODIES[number % len(BODIES)]
            query = f"?token={mark}&code={mark}&state={mark}" if number % 3 == 0 else ""
            more = {"Authorization": f"Bearer {mark}", "Cookie": f"x={mark}"}
            stranger.request(method, address + query, content=body, headers=headers | more)
        send(stranger, forged(server, 40))
        one = forged(server, 1)[0]
        stranger.post(f"{API}/one/reports", content=one, headers=CBOR)


LINES = 10_000
"""Bytes that the audit log may grow by: a line a minute for each kind of failure, not one for each request."""


def test_whatever_strangers_send_what_they_make_us_write_is_bounded(tmp_path):
    """After as many requests as any limit allows, the same number again makes no file any larger."""
    with flooded(tmp_path, limits="most_reports = 100") as (server, _owner, stranger):
        routes = list(open_routes(server.app))
        assert {("POST", f"{API}/{{name}}/reports"), ("POST", "/sign-in")} < set(routes)
        strange_requests(server, stranger, 12, routes)
        assert size_of(tmp_path / "surveys" / "one")[0] == 100
        before = written(tmp_path)
        strange_requests(server, stranger, 12, routes)
        assert written(tmp_path) - before < LINES


def test_an_intake_without_limits_would_be_caught(tmp_path):
    with flooded(tmp_path) as (server, _owner, stranger):
        strange_requests(server, stranger, 12, [])
        before = written(tmp_path)
        strange_requests(server, stranger, 12, [])
        assert written(tmp_path) - before > LINES
