"""Connections of strangers to the PostgreSQL endpoint: counted from the first moment, and not for long."""

import asyncio
import socket

import psycopg
import pytest

from discreet.errors import TooManyRequests
from discreet.server.access.limits import Buckets
from discreet.server.pgwire import server as pg_server
from discreet.server.pgwire.messages import CancelRequest
from patience import LONG
from pgwire_kit import Wire, endpoint


@pytest.fixture(scope="module")
def pg(tmp_path_factory):
    with endpoint(tmp_path_factory.mktemp("pg")) as found:
        yield found


def silent(port, address="127.0.0.1"):
    made = socket.create_connection(("127.0.0.1", port), LONG, source_address=(address, 0))
    made.settimeout(LONG)
    return made


def said(connection):
    """Return all that the server says before it hangs up."""
    found = b""
    while more := connection.recv(4096):
        found += more
    return found


def test_silent_connections_count_for_their_address_alone(pg, monkeypatch):
    monkeypatch.setattr(pg_server, "MAX_EACH", 3)
    waiting = [silent(pg.port, "127.0.0.2") for _ in range(3)]
    too_many = silent(pg.port, "127.0.0.2")
    assert b"53300" in said(too_many), "told before it has said anything"
    with psycopg.connect(pg.url()) as mine:  # from 127.0.0.1
        assert mine.execute("SELECT 1").fetchone() == (1,)
    for each in (*waiting, too_many):
        each.close()


def test_whoever_does_not_sign_in_is_hung_up_on(pg, monkeypatch):
    """All steps together have a limit: a byte now and then does not help."""
    monkeypatch.setattr(pg_server, "START_SECONDS", 0.2)
    with silent(pg.port) as nobody:
        assert said(nobody) == b""
    wire = Wire(pg.port)
    wire.startup(user="alice", database="discreet")
    assert wire.until(b"never")[-1][0] == b"", "in the middle of signing in as well"
    wire.socket.close()


class _Asker:
    cancelled = 0

    def cancel(self):
        self.cancelled += 1


class _Parts:
    def __init__(self, burst):
        self.by_address = Buckets(0.0, burst)


def test_guessing_the_key_of_a_cancel_request_is_fined():
    async def tried():
        found = pg_server._Connections(_Parts(burst=50), None)
        asker = found._askers[7, 12345] = _Asker()
        found._cancel(CancelRequest(7, 12345), "192.0.2.1")
        assert asker.cancelled == 1
        for secret in (1, 2):
            found._cancel(CancelRequest(7, secret), "192.0.2.1")
        with pytest.raises(TooManyRequests):
            found._cancel(CancelRequest(7, 3), "192.0.2.1")
        for _ in range(7):  # what is left of the bucket is for right ones, and then they wait, too
            try:
                found._cancel(CancelRequest(7, 12345), "192.0.2.1")
            except TooManyRequests:
                break
        found._cancel(CancelRequest(7, 12345), "192.0.2.2")
        return asker.cancelled

    assert asyncio.run(tried()) >= 2
