"""What callers see of the history: the right lines, without reading the rest of the ledger."""

from __future__ import annotations

import shutil

import pytest

from discreet.errors import LedgerTampered
from discreet.privacy.ledger import Cap
from discreet.privacy.ledger.reports import history_report
from ledger_kit import ALICE, OWNER, open_ledger, pay

CAPS = {name: {"census": Cap.of(1000)} for name in ("alice", "bob")}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Make the history once, for every test to copy."""
    base = tmp_path_factory.mktemp("filled")
    ledger = open_ledger(base, epsilon="1000", analysts=CAPS)
    for place in range(30):
        payer = (OWNER, ALICE, ALICE)[place % 3]
        receipt = pay(ledger, "1", f"r{place}", payer=payer)
        ledger.store_answer(receipt, f"answer {place}".encode())
    ledger.close()
    return base


@pytest.fixture
def ledger(filled, tmp_path):
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    ledger = open_ledger(tmp_path, epsilon="1000", analysts=CAPS)
    yield ledger
    ledger.close()


def names(found):
    return [entry["request_id"] for entry in found]


@pytest.fixture
def read(ledger, monkeypatch):
    """Return the positions of all links that are read from the store from now on."""
    seen, store = [], ledger._store  # what is read is what is claimed
    links, find = store.links, store.find

    def counted(*, start):
        for link in links(start=start):
            seen.append(link.position)
            yield link

    def found(position):
        seen.append(position)
        return find(position)

    monkeypatch.setattr(store, "links", counted)
    monkeypatch.setattr(store, "find", found)
    return seen


def test_the_latest_come_first(ledger):
    assert names(history_report(ledger, last=3)) == ["r29", "r28", "r27"]
    assert names(history_report(ledger, last=3, analysts=("alice",))) == ["r29", "r28", "r26"]
    assert names(history_report(ledger, last=2, analysts=(None,))) == ["r27", "r24"]
    both = history_report(ledger, last=4, analysts=(None, "alice"))
    assert names(both) == ["r29", "r28", "r27", "r26"]
    assert history_report(ledger, last=5, analysts=("bob",)) == []
    assert history_report(ledger, last=0) == history_report(ledger, last=0, analysts=("alice",))
    assert len(history_report(ledger, last=1000, analysts=("alice",))) == 20
    assert [e["kind"] for e in history_report(ledger, last=1000)][-2:] == ["limit", "genesis"]


@pytest.mark.parametrize("analysts", [None, ("alice",), (None,), (None, "alice")])
def test_only_the_end_is_read(ledger, read, analysts):
    history_report(ledger, last=3, analysts=analysts)
    most = 12 if analysts is None else 3  # one entry of four says how a request ended
    assert 3 <= len([place for place in read if place < 63]) <= most, "the end, and no more"
    read.clear()
    ledger.history()
    assert len(read) >= 30, "this counter sees a whole reading"


def test_an_answer_is_found_by_its_request_and_given_to_its_payer_only(ledger, read):
    assert ledger.stored_answer("r28", "alice") == b"answer 28"
    assert ledger.stored_answer("r27", None) == b"answer 27"
    assert ledger.stored_answer("r27", "alice") is None
    assert ledger.stored_answer("r28", None) is None
    assert ledger.stored_answer("r28", "bob") is None
    assert ledger.stored_answer("nonsense", "alice") is None
    assert set(read) == {63}, "where the chain was left, each time"


def test_an_edited_record_does_not_change_who_paid(ledger):
    """The table of answers says whose each is, but only the chain decides."""
    with ledger._store.exclusive() as writer:  # an attacker with the file
        writer._change("UPDATE answers SET analyst = 'bob'")
    assert ledger.stored_answer("r28", "bob") is None
    with pytest.raises(LedgerTampered, match="'r28' is damaged"):
        ledger.stored_answer("r28", "alice")


def test_what_another_process_charged_is_listed(ledger, tmp_path):
    other = open_ledger(tmp_path, epsilon="1000", analysts=CAPS)
    pay(other, "1", "elsewhere", payer=ALICE)
    other.close()
    assert names(history_report(ledger, last=1, analysts=("alice",))) == ["elsewhere"]
    assert names(history_report(ledger, last=1)) == ["elsewhere"]
