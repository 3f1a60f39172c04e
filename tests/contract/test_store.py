"""What every store of the ledger promises. Adding a store is adding one line to STORES."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest

from discreet.base.event import Cost
from discreet.base.proof import ROOT
from discreet.errors import (
    BudgetExceeded,
    LedgerBusy,
    LedgerError,
    LedgerTampered,
    RequestConflict,
)
from discreet.privacy.ledger import Ledger, sqlite
from discreet.privacy.ledger import store as tables
from discreet.privacy.ledger.entry import link
from discreet.privacy.ledger.history import open_store
from discreet.privacy.ledger.store import StoredAnswer, seal
from ledger_kit import OWNER, as_a_new_process, forked, open_ledger, pay, policy, quote

STORES = [pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=STORES)
def url(request):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "sqlite:ledger.db"


@pytest.fixture
def store(url, tmp_path):
    store = open_store(url, base=tmp_path)
    yield store
    store.close()


def links(count: int):
    previous, made = ROOT, []
    for position in range(count):
        made.append(link(position, "look", {"n": position, "text": "é \x00 \\"}, previous=previous))
        previous = made[-1].hash
    return made


def answer(name: str, payload: bytes = b"\x00\xff", position: int = 0, **more) -> StoredAnswer:
    facts = {"analyst": "", "dataset": "d", "question": "q", "snapshot": ""} | more
    made = StoredAnswer(request_id=name, position=position, payload=payload, digest="", **facts)
    return replace(made, digest=seal(made))


def test_what_is_committed_is_read_back_exactly(store):
    made = links(5)
    with store.exclusive() as writer:
        for item in made:
            writer.append(item)
        assert list(writer.links(start=3)) == made[3:]
    assert list(store.links(start=0)) == made
    assert store.find(2) == made[2]
    assert store.find(5) is None


@pytest.mark.parametrize("page", [1, 3, 4, 5, 1000])
def test_links_are_read_between_two_places_whatever_a_page_holds(store, monkeypatch, page):
    monkeypatch.setattr(tables, "PAGE", page)
    made = links(12)
    with store.exclusive() as writer:
        for item in made:
            writer.append(item)
    for start in (0, 1, 4, 11, 12):
        for stop in (None, start, start + 1, start + 4, 12, 20):
            assert list(store.links(start=start, stop=stop)) == made[start:stop]


def test_every_answer_is_read_whatever_a_page_holds(store, monkeypatch):
    monkeypatch.setattr(sqlite, "ANSWERS_PAGE", 2)
    with store.exclusive() as writer:
        for place in range(5):
            assert writer.add_answer(answer(f"r{place}", position=place))
            assert not writer.add_answer(answer(f"r{place}", position=place))
    assert [item.request_id for item in store.every_answer()] == [f"r{n}" for n in range(5)]
    last = store.answers(dataset="d", analyst="", snapshot="", last=2)
    assert [item.request_id for item in last] == ["r3", "r4"]


def test_a_claim_is_held_by_one_until_it_is_let_go(store):
    assert [store.claim(place) for place in (5, 5, 6)] == [True, False, True]
    store.let_go(5), store.let_go(5)
    assert [store.claim(place) for place in (5, 6)] == [True, False]
    store.let_go(5), store.let_go(6)


def test_nothing_of_a_failed_transaction_is_kept(store):
    with pytest.raises(ZeroDivisionError), store.exclusive() as writer:  # noqa: PT012 - the block is the transaction
        writer.append(links(1)[0])
        writer.add_answer(answer("a"))
        raise ZeroDivisionError
    assert list(store.links(start=0)) == []
    assert store.answer("a") is None


def test_a_position_is_taken_once(store):
    with pytest.raises(LedgerError), store.exclusive() as writer:  # noqa: PT012 - the block is the transaction
        writer.append(links(1)[0])
        writer.append(links(1)[0])
    assert list(store.links(start=0)) == []


def test_the_first_answer_stays(store):
    with store.exclusive() as writer:
        writer.add_answer(answer("a", b"first"))
    with store.exclusive() as writer:
        writer.add_answer(answer("a", b"second"))
    assert store.answer("a").payload == b"first"


def test_answers_belong_to_an_analyst_a_dataset_and_a_snapshot(store):
    with store.exclusive() as writer:
        writer.add_answer(answer("b", position=2))
        writer.add_answer(answer("a", position=1))
        writer.add_answer(answer("other analyst", analyst="alice"))
        writer.add_answer(answer("other dataset", dataset="e"))
        writer.add_answer(answer("other snapshot", snapshot="2"))
    found = store.answers(dataset="d", analyst="", snapshot="", last=100)
    assert [item.request_id for item in found] == ["a", "b"]
    assert len(list(store.every_answer())) == 5
    asked = {"dataset": "d", "analyst": "", "snapshot": ""}
    assert store.latest_answer(**asked, question="q").request_id == "b"
    assert store.latest_answer(**asked, question="another") is None


def test_a_damaged_answer_is_refused(store):
    forged = answer("a", b"true")
    broken = StoredAnswer(**{**_facts(forged), "payload": b"false"})
    with store.exclusive() as writer:
        writer.add_answer(broken)
    with pytest.raises(LedgerTampered, match="damaged"):
        store.answer("a")


def _facts(item: StoredAnswer) -> dict:
    return {name: getattr(item, name) for name in StoredAnswer.__slots__}


def test_erase_is_part_of_the_transaction(store):
    with store.exclusive() as writer:
        writer.append(links(1)[0])
    with pytest.raises(ZeroDivisionError), store.exclusive() as writer:  # noqa: PT012 - the block is the transaction
        writer.erase()
        raise ZeroDivisionError
    assert len(list(store.links(start=0))) == 1


def test_only_one_is_inside_at_a_time(url, tmp_path):
    first, second = (open_store(url, base=tmp_path) for _ in range(2))
    vars(second)["_busy_seconds"] = 0.05
    if hasattr(second, "_file"):
        second._file.busy_seconds = 0.05
    second.close()  # the next use connects with the short patience
    with first.exclusive() as writer:
        writer.append(links(1)[0])
        with pytest.raises(LedgerBusy, match="nothing was entered"), second.exclusive():
            pytest.fail("two writers at once")
    with second.exclusive() as writer:
        assert len(list(writer.links(start=0))) == 1
    first.close()
    second.close()


def test_a_store_survives_a_fork(url, tmp_path):
    ledger = open_ledger(tmp_path, "10", url=url)
    pay(ledger, "1", "parent")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if pay(ledger, "1", "child").position == 3 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert pay(ledger, "1", "parent again").position == 4
    assert ledger.verify() == 5
    ledger.close()


def test_a_reading_connection_sees_what_others_commit(url, tmp_path):
    first, second = (open_ledger(tmp_path, "1", url=url) for _ in range(2))
    pay(first, "3/4", "a")
    assert second.spent("census").epsilon == 3 / 4
    with pytest.raises(BudgetExceeded):
        pay(second, "1/2", "b")
    pay(second, "1/4", "c")
    assert first.spent("census").charges == 2
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("processes", "spends"),
    [(8, 20), pytest.param(16, 10_000, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])],
)
def test_many_processes_are_granted_exactly_what_is_allowed(
    url, tmp_path, processes, spends, record_property
):
    """Security test 1. Half of what is asked fits; every process must find out by itself."""
    allowed = processes * spends // 2
    limit = f"{allowed}/10"
    open_ledger(tmp_path, limit, url=url).close()

    def spend(name: int, say) -> None:
        ledger, granted = open_ledger(tmp_path, limit, url=url), 0
        for turn in range(spends):
            try:
                pay(ledger, "1/10", f"{name}-{turn}")
                granted += 1
            except BudgetExceeded:
                pass
        say(granted)

    children = [forked(partial(spend, number)) for number in range(processes)]
    granted = [int(child.lines()[0]) for child in children]
    ledger = open_ledger(tmp_path, limit, url=url)
    assert sum(granted) == allowed
    spent = ledger.spent("census")
    assert spent.epsilon == spent.limit_epsilon
    assert spent.charges == allowed
    assert ledger.verify() == allowed + 2
    ledger.close()
    record_property(
        "charges asked of stores by several processes at once, exactly half allowed and granted",
        processes * spends,
    )


def test_the_same_request_many_times_at_once_is_one_charge_and_one_answer(
    url, tmp_path, record_property
):
    """Security test 17: 4 processes x 25 threads ask under one id."""
    open_ledger(tmp_path, url=url).close()

    def ask_from_threads(name: int, say) -> None:
        ledger, start = open_ledger(tmp_path, url=url), threading.Barrier(25)

        def ask(number: int) -> None:
            start.wait()
            receipt = ledger.charge(OWNER, quote("1/10"), request_id="once", body="the same")
            answer = ledger.store_answer(receipt, f"{name}-{number}".encode())
            say(f"{receipt.position} {answer.decode()}")

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(25)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    children = [forked(partial(ask_from_threads, number)) for number in range(4)]
    told = [line for child in children for line in child.lines()]
    assert len(told) == 100
    assert len(set(told)) == 1
    ledger = open_ledger(tmp_path, url=url)
    assert ledger.spent("census").charges == 1
    with pytest.raises(RequestConflict, match="another question"):
        ledger.charge(OWNER, quote("1/10"), request_id="once", body="another")
    assert ledger.spent("census").charges == 1
    ledger.close()
    record_property("requests under one id, 1 charge and 1 answer for each store", len(told))


def test_a_killed_holder_lets_others_in(url, tmp_path):
    ledger = open_ledger(tmp_path, "1000000", url=url)

    def hold(say) -> None:
        with open_ledger(tmp_path, "1000000", url=url).session() as session:
            session.append("look", {"dataset": "census", "reason": "never committed"})
            say("inside")
            signal.pause()

    child = forked(hold)
    assert child.pipe.readline() == "inside\n"
    child.kill()
    child.lines()
    assert [entry.kind for entry in ledger.history()] == ["genesis", "limit"]
    assert pay(ledger, "1", "after").after.epsilon == 1
    ledger.close()


def test_threads_share_one_ledger(url, tmp_path):
    ledger = open_ledger(tmp_path, "2", url=url)
    granted = []

    def spend(number: int) -> None:
        for turn in range(5):
            with suppress(BudgetExceeded):
                granted.append(pay(ledger, "1/10", f"{number}-{turn}"))

    threads = [threading.Thread(target=spend, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 20
    ledger.close()


def test_a_backup_of_any_store_can_be_restored_into_it(url, tmp_path):
    ledger = open_ledger(tmp_path, "1", url=url)
    receipt = pay(ledger, "1/4", "kept")
    ledger.store_answer(receipt, b"told")
    ledger.backup(tmp_path / "copy.db")
    pay(ledger, "1/4", "lost")
    ledger.close()
    with pytest.raises(LedgerTampered):
        _rolled_back(url, tmp_path)
    restored = Ledger.restore(
        url, policy("1"), tmp_path / "copy.db", base=tmp_path, reason="a test"
    )
    assert restored.spent("census").epsilon == 1 / 2
    assert restored.stored_answer("kept") == b"told"
    with pytest.raises(BudgetExceeded):
        pay(restored, "3/4", "too much")
    assert pay(restored, "1/2", "the rest").after.epsilon == 1
    restored.verify()
    restored.close()


def test_a_restore_waits_for_nobody_and_refuses_while_somebody_is_connected(url, tmp_path):
    ledger = open_ledger(tmp_path, "1", url=url)
    pay(ledger, "1/4", "kept")
    ledger.backup(tmp_path / "copy.db")
    facts = {"base": tmp_path, "reason": "a test"}
    with pytest.raises(LedgerBusy, match="in use"):
        Ledger.restore(url, policy("1"), tmp_path / "copy.db", **facts)
    pay(ledger, "1/4", "charged after the attempt")
    ledger.close()
    restored = Ledger.restore(url, policy("1"), tmp_path / "copy.db", **facts)
    assert restored.spent("census").epsilon == 1 / 2
    restored.close()


def test_without_a_head_what_cannot_be_known_is_spent(url, tmp_path):
    ledger = open_ledger(tmp_path, "1", url=url)
    pay(ledger, "1", "first")
    ledger.backup(tmp_path / "copy.db")
    ledger.close()
    ledger = open_ledger(tmp_path, "5", url=url)
    pay(ledger, "4", "second")
    head = ledger._store.head_path
    ledger.close()
    head.unlink()
    restored = Ledger.restore(
        url, policy("5"), tmp_path / "copy.db", base=tmp_path, reason="no head"
    )
    assert restored.spent("census").epsilon == 5
    restored.close()


def test_an_edited_answer_is_refused_whatever_its_digest_says(url, tmp_path):
    ledger = open_ledger(tmp_path, "1", url=url)
    ledger.store_answer(pay(ledger, "1/4", "a"), b"true")
    (stored,) = ledger._store.every_answer()
    false = replace(stored, payload=b"false")
    with ledger._store.exclusive() as writer:
        kept = list(writer.links(start=0))
        writer.erase()
        for item in kept:
            writer.append(item)
        assert writer.add_answer(replace(false, digest=seal(false)))
    for look in (ledger.verify, lambda: ledger.stored_answer("a")):
        with pytest.raises(LedgerTampered, match="damaged"):
            look()
    ledger.close()


def _rolled_back(url, base):
    """Cut the last entry off behind the ledger's back, as a restored old copy would."""
    store = open_store(url, base=base)
    kept = list(store.links(start=0))[:-1]
    with store.exclusive() as writer:
        writer.erase()
        for item in kept:
            writer.append(item)
    store.close()
    open_ledger(base, "1", url=url)


def test_costs_are_kept_exactly(url, tmp_path):
    ledger = open_ledger(tmp_path, "1", url=url)
    pay(ledger, "1/3", "third")
    (entry,) = [entry for entry in ledger.history() if entry.kind == "charge"]
    assert Cost.from_json(entry.data["cost"]) == quote("1/3").cost
    ledger.close()


def test_a_history_that_is_put_back_with_its_head_is_refused(url, tmp_path):
    """By the process that has seen what came later; a new one cannot know."""
    ledger = open_ledger(tmp_path, url=url)
    pay(ledger, "0.5", "first")
    head, before = ledger._store.head_path, ledger.links()
    content = head.read_bytes()
    pay(ledger, "0.5", "second")
    with ledger._store.exclusive() as writer:
        writer.erase()
        for item in before:
            writer.append(item)
    head.write_bytes(content)
    for turn in range(2):
        with pytest.raises(LedgerTampered, match="earlier state"):
            pay(ledger, "0.5", f"third {turn}")
        with pytest.raises(LedgerTampered, match="earlier state"):
            ledger.spent("census")
        with pytest.raises(LedgerTampered, match="earlier state"):
            open_ledger(tmp_path, url=url)
    as_a_new_process()
    again = open_ledger(tmp_path, url=url)
    pay(again, "0.5", "fourth")
    again.close()
    ledger.close()
