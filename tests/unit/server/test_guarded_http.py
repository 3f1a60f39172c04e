"""Half requests are hung up on, by a clock that the test turns; steady ones are not."""

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from discreet.server import start
from discreet.server.start import HEAD_SECONDS, LEAST_RATE, LOOK, GuardedProtocol

HEAD = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"


class Task:
    def add_done_callback(self, _act):
        pass


class Loop:
    """As much of an event loop as a protocol needs, with a clock of ours."""

    def __init__(self):
        self.now, self.waiting = 0.0, []

    def time(self):
        return self.now

    def call_later(self, seconds, act):
        handle = Handle(self.now + seconds, act)
        self.waiting.append(handle)
        return handle

    def create_task(self, work):
        work.close()
        return Task()

    def pass_time(self, seconds):
        until = self.now + seconds
        while due := [each for each in self.waiting if each.at <= until and not each.gone]:
            first = min(due, key=lambda each: each.at)
            self.waiting.remove(first)
            self.now = first.at
            first.act()
        self.now = until


class Handle:
    def __init__(self, at, act):
        self.at, self.act, self.gone = at, act, False

    def cancel(self):
        self.gone = True


class Transport:
    def __init__(self, address):
        self.address, self.open, self.sent = address, True, b""

    def get_extra_info(self, name, default=None):
        return {"peername": (self.address, 1), "sockname": ("here", 2)}.get(name, default)

    def write(self, data):
        self.sent += data

    def is_closing(self):
        return not self.open

    def close(self):
        self.open = False

    abort = close

    def pause_reading(self):
        pass

    resume_reading = pause_reading


@pytest.fixture
def made():
    async def app(_scope, _receive, _send):
        pass

    config = uvicorn.Config(app, http=GuardedProtocol, log_config=None, interface="asgi3")
    config.load()
    loop, state = Loop(), ServerState()

    def make(address="192.0.2.1", kind=GuardedProtocol):
        protocol = kind(config, state, {}, _loop=loop)
        protocol.connection_made(Transport(address))
        return protocol

    make.loop = loop
    return make


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"])
@pytest.mark.parametrize(("kind", "held"), [(GuardedProtocol, False), (H11Protocol, True)])
def test_half_a_head_is_hung_up_on(made, sent, kind, held):
    """Without the guard it is held for ever: the broken twin is uvicorn's own."""
    protocol = made(kind=kind)
    if sent:
        protocol.data_received(sent)
    for _ in range(10):
        made.loop.pass_time(HEAD_SECONDS / 4)
        if sent:
            protocol.data_received(b"A: b\r\n")  # dripping does not help
    assert protocol.transport.open is held


@pytest.mark.parametrize(("kind", "held"), [(GuardedProtocol, False), (H11Protocol, True)])
def test_a_body_that_does_not_go_on_is_hung_up_on(made, kind, held):
    protocol = made(kind=kind)
    protocol.data_received(HEAD)
    for _ in range(6):
        made.loop.pass_time(LOOK / 2)
        protocol.data_received(b"x")
    assert protocol.transport.open is held


def test_a_slow_body_that_goes_on_is_read(made):
    protocol = made()
    protocol.data_received(HEAD)
    for _ in range(40):
        made.loop.pass_time(LOOK / 10)
        protocol.data_received(b"x" * int(LEAST_RATE * LOOK / 10 + 1))
    assert protocol.transport.open


def test_a_body_that_the_server_does_not_read_is_no_fault_of_the_client(made):
    protocol = made()
    protocol.data_received(HEAD)
    protocol.flow.pause_reading()
    made.loop.pass_time(10 * LOOK)
    assert protocol.transport.open


def test_a_request_in_work_is_waited_for(made):
    protocol = made()
    protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    made.loop.pass_time(10 * HEAD_SECONDS)
    assert protocol.transport.open


def test_one_address_has_so_many_connections_and_others_have_theirs(made, monkeypatch):
    monkeypatch.setattr(start, "MAX_EACH", 3)
    several = [made() for _ in range(4)]
    assert [each.transport.open for each in several] == [True, True, True, False]
    assert several[3].transport.sent.startswith(b"HTTP/1.1 503")
    assert made("192.0.2.2").transport.open
    for each in several:
        each.connection_lost(None)
    assert made().transport.open


def test_one_address_cannot_fill_the_server():
    assert start.MAX_EACH < 2000, "limit_concurrency of run.make_server"
