"""Who uses a ledger: a share ends when it is closed, and waits for a restore only so long."""

from contextlib import ExitStack

import pytest

from discreet.errors import LedgerBusy
from discreet.privacy.ledger import sqlite_file
from discreet.privacy.ledger.sqlite_file import alone, share


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def test_nobody_is_alone_while_somebody_shares(path):
    first, second = share(path, seconds=0), share(path, seconds=0)
    for each in (first, second):
        with pytest.raises(LedgerBusy, match="in use"), alone(path):
            pass
        each.close()
        each.close()  # twice is as good as once
    with alone(path):
        pass


def test_a_share_that_is_forgotten_has_ended(path):
    kept = share(path, seconds=0)
    del kept
    with alone(path):
        pass


class Clock:
    """A clock that moves while somebody sleeps, and then does what it was told."""

    def __init__(self, wake=lambda now: None) -> None:
        self.now, self.wake = 0.0, wake

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.wake(self.now)


def test_a_share_waits_for_the_end_of_a_restore(path, monkeypatch):
    restore = ExitStack()
    restore.enter_context(alone(path))
    clock = Clock(lambda now: restore.close() if now > 3 else None)
    monkeypatch.setattr(sqlite_file, "time", clock)
    share(path, seconds=60).close()
    assert 3 < clock.now < 4


def test_a_share_does_not_wait_for_ever(path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(sqlite_file, "time", clock)
    with alone(path), pytest.raises(LedgerBusy, match="being restored"):
        share(path, seconds=5)
    assert 5 < clock.now < 6
    share(path, seconds=0).close()
