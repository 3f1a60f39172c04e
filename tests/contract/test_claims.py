"""Who works on a charge, on every store: at most one who lives, and nobody who has ended."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from discreet.ask.release.outcome import once
from discreet.errors import AnswerLost
from discreet.privacy.ledger.history import open_store
from ledger_kit import forked, open_ledger, pay
from patience import eventually

STORES = [pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=STORES)
def url(request):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "sqlite:ledger.db"


@pytest.fixture
def stores(url, tmp_path):
    """Return two stores of one ledger, in this process."""
    found = [open_store(url, base=tmp_path) for _ in range(2)]
    yield found
    for store in found:
        store.close()


def other_process(url, base, position=7):
    """Return what another process gets that claims the same, and keeps nothing."""

    def ask(say):
        store = open_store(url, base=base)
        say(store.claim(position))

    (said,) = forked(ask).lines()
    return said == "True"


def soon_claimed(store, position):
    """Wait until a process that has ended holds its claim no more: a server notices later."""
    eventually(lambda: store.claim(position), "a claim outlived its process")


def test_one_claim_at_a_time(stores, url, tmp_path):
    first, second = stores
    assert first.claim(7)
    assert not first.claim(7)
    assert not second.claim(7)
    assert not other_process(url, tmp_path)
    assert other_process(url, tmp_path, position=8)
    second.claim(9)
    second.let_go(9)  # neither another claim
    first.let_go(8)  # nor one that was never made
    assert not other_process(url, tmp_path)
    first.let_go(7)
    assert other_process(url, tmp_path)  # and it has ended since
    soon_claimed(second, 7)
    second.let_go(7)


def test_a_claim_ends_with_its_process_and_is_not_inherited(stores, url, tmp_path):
    def hold(say):
        store = open_store(url, base=tmp_path)
        say(store.claim(7))
        signal.pause()  # until it is killed

    child = forked(hold)
    assert child.pipe.readline() == "True\n"
    assert not stores[0].claim(7)
    child.kill()
    child.lines()
    soon_claimed(stores[0], 7)

    def inherit(say):
        say(stores[0].claim(7))  # the parent's, seen from a fork

    assert forked(inherit).lines() == ["False"]
    stores[0].let_go(7)


def test_threads_do_not_share_a_claim(stores):
    start, granted = threading.Barrier(2), []

    def ask(store):
        start.wait()
        granted.append(store.claim(7))

    threads = [threading.Thread(target=ask, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(granted) == [False, True]
    for store in stores:
        store.let_go(7)


@pytest.mark.parametrize("kills", [3, pytest.param(2000, marks=pytest.mark.slow)])
def test_kills_at_any_moment_leave_one_look_for_each_charge(url, tmp_path, kills):
    """Many processes are killed at random; over all of them each id is looked at once at most."""
    ledger = open_ledger(tmp_path, "1000", url=url)

    def ask(name, say):
        own = open_ledger(tmp_path, "1000", url=url)

        def look(_permit):
            say("looked")
            time.sleep(0.01)
            return b"told"

        say(once(own, pay(own, "1/10", name), look).decode())

    for turn in range(kills):
        name = f"r{turn}"
        children = [forked(lambda say, name=name: ask(name, say)) for _ in range(2)]
        time.sleep(0.03 + 0.02 * (turn % 7))
        children[0].kill()
        lines = [line for child in children for line in child.lines()]
        assert lines.count("looked") <= 1
        try:
            found = once(ledger, pay(ledger, "1/10", name), lambda _: b"late")
        except AnswerLost:
            found = b"lost"
        # Whoever is told something was told what stays; a late look means that there was none.
        assert lines.count("looked") + (found == b"late") <= 1
        assert ("told" in lines) <= (found == b"told")
    ledger.verify()
    ledger.close()


@pytest.mark.postgres
def test_a_lost_connection_takes_no_claim_along(postgres_url, tmp_path):
    first, second = (open_store(postgres_url, base=tmp_path) for _ in range(2))
    assert first.claim(7)
    with second.exclusive() as writer:
        assert writer is second
    list(first._select("SELECT 1"))
    second._connected().execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    with pytest.raises(Exception, match="reached or written"):
        first.find(0)
    first.find(0)  # connected again, and with it what it works on
    assert not second.claim(7)
    first.let_go(7)
    assert second.claim(7)
    for store in (first, second):
        store.close()
