"""A silent or slow provider holds few threads, and none for ever; addresses it names are safe ones."""

import socket
import threading
from contextlib import contextmanager

import pytest

from discreet.errors import InvalidInput, NotSignedIn
from discreet.server.features.openid import provider as fetching
from discreet.server.features.openid.pages import KEPT, MINUTES, PendingSignIns
from discreet.server.features.openid.provider import (
    AT_ONCE,
    OpenIdSettings,
    Provider,
    fetched,
    require_safe,
)
from patience import LONG

DRIPS = 400


@contextmanager
def dripping(first, times=DRIPS):
    """Lend the address of a server that sends `first` and then a byte each 50 ms, so many times."""
    listening = socket.create_server(("127.0.0.1", 0))
    sent, gone = [], threading.Event()

    def serve():
        connection, _ = listening.accept()
        with connection:
            connection.sendall(first)
            try:
                for _ in range(times):
                    connection.sendall(b"x")
                    sent.append(1)
                    if gone.wait(0.05):
                        return
            except OSError:
                pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", sent
    finally:
        gone.set()
        thread.join()
        listening.close()


@pytest.mark.parametrize("first", [b"HTTP/1.0 200 OK\r\nA: ", b"HTTP/1.0 200 OK\r\n\r\n{"])
def test_bytes_that_come_slowly_do_not_hold_the_server(monkeypatch, first):
    monkeypatch.setattr(fetching, "SECONDS", 0.3)
    with dripping(first) as (address, sent):
        with pytest.raises(NotSignedIn):
            fetched(address)
        assert len(sent) < DRIPS / 2, "it was left long before it had said all"


def test_a_fetch_without_the_timer_waits_for_every_byte(monkeypatch):
    """The broken twin: each byte comes in time, so that a limit for each is none for all."""
    monkeypatch.setattr(fetching, "SECONDS", 0.3)
    ended_after, connected = fetching._ended_after, fetching._connected
    monkeypatch.setattr(fetching, "_ended_after", lambda _: ended_after(LONG))

    def patient(*arguments, **named):
        made = connected(*arguments, **named)
        made.settimeout(LONG)  # each byte is in time, however busy the machine
        return made

    monkeypatch.setattr(fetching, "_connected", patient)
    with dripping(b"HTTP/1.0 200 OK\r\n\r\n{", 20) as (address, sent), pytest.raises(NotSignedIn):
        fetched(address)
    assert len(sent) >= 20


def settings(issuer="https://id.example.org"):
    return OpenIdSettings(issuer, "c", "", "https://d.example.org", "sub", {"a": "alice"})


def test_whoever_would_wait_is_told_at_once():
    for _ in range(AT_ONCE):
        assert fetching._turns.acquire(blocking=False)
    try:
        with pytest.raises(NotSignedIn, match="asked for others"):
            fetched("https://nowhere.invalid")
    finally:
        fetching._turns.release(AT_ONCE)


def test_one_thread_learns_and_others_go_on_with_what_is_known(monkeypatch):
    provider = Provider(settings())
    with provider._learning:
        with pytest.raises(NotSignedIn, match="asked for others"):
            provider.address(state="s", nonce="n", verifier="v")
        provider._said = {"authorization_endpoint": "https://id.example.org/a"}
        assert provider.address(state="s", nonce="n", verifier="v").startswith("https://id")
    monkeypatch.setattr("discreet.server.features.openid.provider.fetched", lambda *_: {})
    provider._said = {}
    with pytest.raises(NotSignedIn, match="another one"):
        provider.address(state="s", nonce="n", verifier="v")
    assert not provider._learning.locked(), "a failure gives the turn back"


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://localhost/", "http://[::1]/"])
def test_a_provider_elsewhere_names_nothing_on_this_machine(address):
    assert Provider(settings("http://127.0.0.1:5"))._safe(address) == address
    with pytest.raises(InvalidInput):
        Provider(settings())._safe(address)
    assert require_safe("https://id.example.org/x?y=z") == "https://id.example.org/x?y=z"


def test_a_ticket_is_used_once_and_in_time():
    now = [0.0]
    tickets = PendingSignIns(clock=lambda: now[0])
    mine = tickets.new("ann")
    assert tickets.used("x") is None
    assert tickets.used(mine) == "ann"
    assert tickets.used(mine) is None
    late = tickets.new("ann")
    now[0] = 60 * MINUTES + 1
    assert tickets.used(late) is None
    first = tickets.new("ann")
    for _ in range(KEPT):
        tickets.new("bob")
    assert tickets.used(first) is None
