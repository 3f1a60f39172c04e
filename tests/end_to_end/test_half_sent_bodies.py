"""Half-sent bodies of strangers: what they hold is bounded in sum, and they end; owners send what they like."""

import asyncio
import json
import re
import socket
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager

import pytest
from starlette.exceptions import HTTPException

from discreet.server import problems
from discreet.server.access import limits
from discreet.server.access.limits import ArrivingBody, BodiesUnderWay
from patience import LONG, eventually
from server_kit import running, sign_in, write_world

API = "/api/v1/surveys"
TOML = 'title = "t"\nepsilon = 2\n[questions.a]\nkind = "yes-no"\n'
KB = 1 << 10
BODY = 200 * KB
ROUTES = (f"{API}/one/reports/batch", "/sign-in")
"""Two that need no token: one with a limit of its own, and one with that of most routes."""
FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
ALL_KINDS = {
    f"{API}/{{name}}/reports": "application/cbor",
    f"{API}/{{name}}/reports/batch": "application/json",
    API: "application/json",
    "/api/v1/session": "application/json",
    "/api/v1/query": "application/json",
    "/api/v1/course/{name}/grade": "application/json",
    "/sign-in": FORM,
    "/api/v1/data/uploads": MULTIPART,
}
"""Routes that read their bodies in every way there is, and what they read."""


@contextmanager
def serving(folder):
    with ExitStack() as stack:
        server = stack.enter_context(running(write_world(folder, rows=10)))
        owner = stack.enter_context(server.client(server.token()))
        begun = owner.post(API, json={"name": "one", "toml": TOML})
        assert begun.status_code == 201, begun.text
        yield server, owner


def half_sent(server, path, sent, token="", *, kind=None, size=BODY):
    """Begin a request and send so many bytes of its body."""
    host, port = server.url.removeprefix("http://").split(":")
    found = socket.create_connection((host, int(port)), timeout=LONG)
    kind = kind or ("application/json" if path.startswith(API) else FORM)
    head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: {kind}\r\n{token}Content-Length: {size}\r\n\r\n"
    found.sendall(head.encode() + b" " * sent)
    return found


def answer_of(connection):
    """Return the status, the head and the problem that a connection is answered with."""
    head, body = b"", b""
    with connection.makefile("rb") as file:
        while (line := file.readline()) not in (b"\r\n", b""):
            head += line.lower()
        size = next(
            int(each[15:]) for each in head.split(b"\r\n") if each.startswith(b"content-length:")
        )
        body = file.read(size)
    return int(head.split()[1]), head.decode(), json.loads(body)


def answered(connections):
    found = []
    for each in connections:
        each.setblocking(False)
        try:
            if each.recv(1, socket.MSG_PEEK):
                found.append(each)
        except BlockingIOError:
            pass
        each.settimeout(LONG)
    return found


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("limit", ["HELD", "HELD_EACH"])
def test_what_half_sent_bodies_hold_is_bounded_in_sum(tmp_path, monkeypatch, path, limit):
    room = 1000 * KB
    monkeypatch.setattr(limits, limit, room)
    each = BODY - KB - limits.SMALL
    fit = room // each
    with serving(tmp_path) as (server, owner), ExitStack() as stack:
        held = server.context.bodies
        begun = [stack.enter_context(half_sent(server, path, BODY - KB)) for _ in range(fit + 4)]
        eventually(lambda: len(answered(begun)) >= 4, "who does not fit is told")
        refused = answered(begun)
        for one in refused:
            status, head, told = answer_of(one)
            assert (status, told["kind"]) == (503, "TooManyRequests"), told
            assert "retry-after: 5" in head
            assert "send again later" in told["detail"]
        eventually(lambda: held.held == (len(begun) - len(refused)) * each, "the others are held")
        assert held.held <= room
        # Small bodies of strangers, and large ones of the owner, go on.
        with server.client() as person:
            assert person.post(f"{API}/one/reports", json={}).status_code == 400
            assert sign_in(person, server.token()).status_code == 303
        file = {"file": ("p.csv", b"a,b\n" + b"1,2\n" * 1_000_000)}
        assert owner.post("/api/v1/data/uploads", files=file).status_code == 201
        for one in begun:
            one.close()
        eventually(lambda: held.held == 0, "all is given back")
        with server.client() as sender:
            sent = sender.post(
                ROUTES[0],
                content=b"[" + b" " * BODY + b"]",
                headers={"Content-Type": "application/json"},
            )
            assert sent.status_code == 200, sent.text


def test_without_a_sum_each_is_held(tmp_path, monkeypatch):
    """The twin: nobody is told, and the sum follows the number of connections."""
    for limit in ("HELD", "HELD_EACH"):
        monkeypatch.setattr(limits, limit, 1 << 50)
    with serving(tmp_path) as (server, _owner), ExitStack() as stack:
        begun = [stack.enter_context(half_sent(server, ROUTES[0], BODY - KB)) for _ in range(40)]
        each = BODY - KB - limits.SMALL
        eventually(lambda: server.context.bodies.held == 40 * each, "all of it is held")
        assert answered(begun) == []


@pytest.mark.parametrize("path", ROUTES)
def test_a_strangers_body_ends_in_time_and_an_owners_goes_on(tmp_path, monkeypatch, path):
    """Bytes that keep coming, one by one, do not help a stranger."""
    monkeypatch.setattr(limits, "GRACE", 0.5)
    with serving(tmp_path) as (server, _owner), ExitStack() as stack:
        token = f"Authorization: Bearer {server.token()}\r\n"
        mine = stack.enter_context(half_sent(server, API, BODY - 64 * KB, token))
        theirs = stack.enter_context(half_sent(server, path, 100))
        over = threading.Event()

        def drip():
            while not over.wait(0.02):
                try:
                    theirs.sendall(b" ")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            status, head, told = answer_of(theirs)
        finally:
            over.set()
            dripping.join(LONG)
        assert (status, told["kind"]) == (408, "InvalidInput")
        assert "connection: close" in head
        assert answered([mine]) == []
        mine.sendall(b" " * 64 * KB)
        assert answer_of(mine)[0] == 400, "read to its end, and no JSON"


def counted(server):
    """Return how often requests to each route ended with each status."""
    told = server.context.metrics.text(waiting=0, running=0, budgets={})
    found = re.findall(r'method="POST",route="([^"]+)",status="(\d+)"} (\d+)', told)
    return Counter({(route, int(status)): int(times) for route, status, times in found})


def errors_in(server):
    return [line for line in server.log.getvalue().splitlines() if '"level": "error"' in line]


def hang_up(server):
    """Hang up in the middle of a body on each of the routes; return what each request was counted with."""
    token, before = f"Authorization: Bearer {server.token()}\r\n", counted(server)
    for route, kind in ALL_KINDS.items():
        half_sent(server, route.replace("{name}", "one"), 100, token, kind=kind, size=200).close()
    eventually(
        lambda: (counted(server) - before).total() == len(ALL_KINDS), "each request is counted"
    )
    return set(counted(server) - before)


def test_whoever_hangs_up_in_the_middle_is_no_failure_of_the_server(tmp_path):
    with serving(tmp_path) as (server, _owner):
        assert hang_up(server) == {(route, 400) for route in ALL_KINDS}
        assert errors_in(server) == []


def test_without_a_handler_strangers_fill_the_log_with_failures(tmp_path, monkeypatch):
    """The twin: whoever hangs up is answered as one of our own mistakes is."""
    monkeypatch.setattr(problems, "_broken_off", problems._unexpected)
    with serving(tmp_path) as (server, _owner):
        assert (ROUTES[0].replace("one", "{name}"), 500) in hang_up(server)
        assert errors_in(server)


def received(pieces, *, after=0.0):
    async def receive():
        await asyncio.sleep(after)
        piece = next(pieces)
        return {"type": "http.request", "body": piece, "more_body": True}

    return receive


STRANGER = {"client": ("192.0.2.1", 1)}


def read(body, receive, times):
    async def reading():
        async with asyncio.timeout(LONG):
            for _ in range(times):
                await body.next(receive)

    asyncio.run(reading())


def test_time_is_given_for_bytes(monkeypatch):
    monkeypatch.setattr(limits, "GRACE", 0.05)
    monkeypatch.setattr(limits, "LEAST_RATE", 1)
    pieces = iter([b"x" * 1000, *[b"x"] * 20])
    read(ArrivingBody(BodiesUnderWay(), STRANGER), received(pieces, after=0.01), 21)
    monkeypatch.setattr(limits, "LEAST_RATE", 1 << 40)
    with pytest.raises(HTTPException, match="in time"):
        read(
            ArrivingBody(BodiesUnderWay(), STRANGER),
            received(iter([b"x"] * 10_000), after=0.01),
            10_000,
        )


def test_what_waits_to_be_read_is_read_however_late(monkeypatch):
    """The server's own slowness is no fault of the sender."""
    monkeypatch.setattr(limits, "GRACE", 0.0)

    async def ready():
        return {"type": "http.request", "body": b"x", "more_body": True}

    read(ArrivingBody(BodiesUnderWay(), STRANGER), ready, 1000)


def test_addresses_are_counted_apart_and_networks_together(monkeypatch):
    monkeypatch.setattr(limits, "HELD_EACH", 10)
    monkeypatch.setattr(limits, "HELD", 25)
    bodies = BodiesUnderWay()
    for sender in ("a", "b"):
        bodies.take(sender, 10)
        with pytest.raises(HTTPException, match="your network address"):
            bodies.take(sender, 1)
    bodies.take("c", 5)
    with pytest.raises(HTTPException, match="The server holds"):
        bodies.take("d", 1)
    for sender, size in (("a", 10), ("b", 10), ("c", 5)):
        bodies.give_back(sender, size)
    assert bodies.held == 0
    first = ArrivingBody(bodies, {"client": ("2001:db8::1", 1)})
    second = ArrivingBody(bodies, {"client": ("2001:db8::2", 1)})
    large = iter([b"x" * (limits.SMALL + 9)] * 2)
    read(first, received(large), 1)
    with pytest.raises(HTTPException):
        read(second, received(large), 1)
    first.end()
    second.end()
    assert bodies.held == 0
