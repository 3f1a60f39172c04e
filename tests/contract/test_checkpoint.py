"""Checkpoints on every store of the ledger: what opens is what the whole history says."""

from __future__ import annotations

import pytest

from checkpoint_kit import checkpointed, differences
from discreet.privacy.ledger import checkpoint
from discreet.privacy.ledger import session as session_module
from discreet.privacy.ledger.history import load
from ledger_kit import MEN, WOMEN, forked, open_ledger, pay
from sittings import FULL

KILLS = 6 if FULL else 4
STORES = [pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=STORES)
def url(request):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "sqlite:ledger.db"


def test_a_checkpoint_leads_to_the_same_book(url, tmp_path):
    ledger = open_ledger(tmp_path, "100", url=url)
    for turn in range(70):
        receipt = pay(ledger, "1/10", f"r{turn}", WOMEN if turn % 3 else MEN)
        if turn % 4 == 0:
            ledger.store_answer(receipt, f"told {turn}".encode())
        if turn in (20, 40, 60):
            assert checkpointed(ledger)
    spent = ledger.spent("census")
    ledger.close()
    ledger = open_ledger(tmp_path, "100", url=url)
    accounts = load(ledger._store)
    assert accounts.past is not None
    assert len(accounts.charged[None]) == 9
    assert ledger.spent("census") == spent
    assert ledger.stored_answer("r8") == b"told 8"
    assert pay(ledger, "1/10", "r5", WOMEN).repeated
    assert differences(ledger) == []
    assert ledger.verify() == 2 + 70 + 18
    ledger.close()


@pytest.fixture
def small(monkeypatch):
    """Checkpoints after every few entries, merged as those of millions are."""
    monkeypatch.setattr(checkpoint, "LEAST", 5)
    monkeypatch.setattr(checkpoint, "LARGEST", 60)
    monkeypatch.setattr(session_module, "PAUSE", 1)


def test_killed_processes_leave_nothing_that_is_wrong(url, tmp_path, small):
    """Killed after their n-th line, somewhere in the next charge or checkpoint."""
    open_ledger(tmp_path, "1000", url=url).close()
    told: list[str] = []

    def job(number: int):
        def run(say) -> None:
            ledger = open_ledger(tmp_path, "1000", url=url)
            for turn in range(10**6):
                pay(ledger, "1/10", f"k{number}-{turn}", WOMEN if turn % 2 else MEN)
                say(f"k{number}-{turn}")

        return run

    for number in range(KILLS):
        child = forked(job(number))
        heard = [child.pipe.readline() for _ in range(4 + 3 * number)]
        child.kill()
        told += [line.strip() for line in heard] + child.lines()
        ledger = open_ledger(tmp_path, "1000", url=url)
        assert differences(ledger) == []
        assert all(ledger.charge_of(None, name) for name in told)
        ledger.verify()
        ledger.close()
    assert len(told) >= sum(4 + 3 * number for number in range(KILLS))


def test_processes_make_them_side_by_side(url, tmp_path, small):
    """Several processes charge one ledger, each making checkpoints, none losing a charge."""
    open_ledger(tmp_path, "1000", url=url).close()

    def job(number: int):
        def run(say) -> None:
            ledger = open_ledger(tmp_path, "1000", url=url)
            for turn in range(20):
                pay(ledger, "1/10", f"p{number}-{turn}", WOMEN if turn % 2 else MEN)
                if turn % 7 == 0:
                    assert pay(ledger, "1/10", f"p{number}-0", MEN).repeated
            say("done")

        return run

    children = [forked(job(number)) for number in range(3)]
    assert [child.lines() for child in children] == [["done"]] * 3
    ledger = open_ledger(tmp_path, "1000", url=url)
    assert ledger.spent("census").charges == 60
    assert load(ledger._store).past is not None
    assert ledger.verify() == 62
    assert differences(ledger) == []
    ledger.close()
