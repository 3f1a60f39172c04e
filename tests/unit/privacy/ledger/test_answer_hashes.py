"""Stored answers are inside the seal: whoever edits their table is found, whatever they recompute."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.errors import LedgerTampered
from discreet.privacy.ledger import Cap
from discreet.privacy.ledger.store import old_seal, seal
from ledger_kit import ALICE, open_ledger, pay

CAPS = {"alice": {"census": Cap.of("0.9")}, "bob": {"census": Cap.of("0.9")}}


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path, "10", analysts=CAPS)
    for turn in range(3):
        receipt = pay(ledger, "0.1", f"r{turn}", payer=ALICE)
        ledger.store_answer(receipt, b'{"answer": %d}' % turn)
    yield ledger
    ledger.close()


def rewrite(ledger, **changes) -> None:
    """Change the record of r1 as somebody would who can write the file and compute a hash."""
    old = ledger._store.answer("alice\nr1")
    new = replace(old, **changes)
    for digest in (seal(new), old_seal(new)):
        new = replace(new, digest=digest)
        with ledger._store.exclusive() as writer:
            writer._change("DELETE FROM answers WHERE request_id = ?", old.request_id)
            writer.add_answer(new)
        yield
        with ledger._store.exclusive() as writer:
            writer._change("DELETE FROM answers WHERE request_id = ?", new.request_id)


@pytest.mark.parametrize(
    "changes",
    [
        {"payload": b'{"answer": 99}'},
        {"analyst": "bob"},
        {"analyst": "bob", "request_id": "bob\nr1"},
        {"dataset": "other"},
        {"question": "another"},
        {"snapshot": "7"},
        {"position": 4},
        {"position": 0},
    ],
)
def test_an_edited_answer_is_found_whatever_its_digest_says(ledger, changes):
    assert ledger.examine()[1] == 0
    for _ in rewrite(ledger, **changes):
        with pytest.raises(LedgerTampered):
            ledger.verify()
        for analyst in ("alice", "bob"):
            assert _told(ledger, analyst, changes) is None


def _told(ledger, analyst, changes):
    """Return what the edited record makes the ledger say; None if it says nothing or refuses."""
    place = {"dataset": "census", "snapshot": "", "question": ""} | changes
    asked = place["dataset"], place["question"], place["snapshot"]
    try:
        past = ledger.answers(analyst, place["dataset"], place["snapshot"])
        if any(name == "r1" for name, _, _ in past):
            return past
        found = ledger.find_answer(analyst, *asked)
        if found and found[0] == "r1":
            return found
        return ledger.stored_answer("r1", analyst)
    except LedgerTampered:
        return None


def test_a_removed_answer_is_found(ledger):
    with ledger._store.exclusive() as writer:
        writer._change("DELETE FROM answers WHERE position = (SELECT MAX(position) FROM answers)")
    with pytest.raises(LedgerTampered, match="is missing"):
        ledger.verify()


def test_an_answer_to_a_charge_that_got_none_is_found(ledger):
    receipt = pay(ledger, "0.1", "unanswered", payer=ALICE)
    old = ledger._store.answer("alice\nr1")
    for name in ("alice\nunanswered", "unanswered"):
        new = replace(old, request_id=name, position=receipt.position)
        with ledger._store.exclusive() as writer:
            writer.add_answer(replace(new, digest=old_seal(new)))
        with pytest.raises(LedgerTampered):
            ledger.verify()
        with pytest.raises(LedgerTampered):
            ledger.stored_answer("unanswered", "alice")
        with ledger._store.exclusive() as writer:
            writer._change("DELETE FROM answers WHERE request_id = ?", name)


@pytest.fixture
def aged(ledger):
    """A ledger with a charge and an answer as 0.1.0 wrote them."""
    pay(ledger, "0.1", "new")
    new = next(entry.data for entry in reversed(ledger.history()) if entry.kind == "charge")
    data = {name: value for name, value in new.items() if name not in ("looks", "time")}
    data |= {"request_id": "old", "question": "q", "snapshot": "1"}
    with ledger.session() as session:
        position = session.append("charge", data).position
        template = ledger._store.answer("alice\nr1")
        facts = {"request_id": "old", "position": position, "analyst": "", "question": "q"}
        answer = replace(template, snapshot="1", payload=b"kept", **facts)
        session.writer.add_answer(replace(answer, digest=old_seal(answer)))
    return ledger


def test_an_answer_of_0_1_0_is_given_out_and_counted_as_outside_the_seal(aged):
    assert aged.stored_answer("old", None) == b"kept"
    assert aged.find_answer(None, "census", "q", "1") == ("old", b"kept")
    assert aged.examine() == (aged.verify(), 1)


@pytest.mark.parametrize(
    "change", ["analyst = 'alice'", "question = 'r'", "snapshot = '2'", "payload = X'00'"]
)
def test_an_answer_of_0_1_0_is_held_to_its_charge(aged, change):
    with aged._store.exclusive() as writer:
        writer._change(f"UPDATE answers SET {change} WHERE request_id = 'old'")
    with pytest.raises(LedgerTampered):
        aged.verify()


def test_answers_survive_backup_and_restore_inside_the_seal(aged, tmp_path):
    from discreet.privacy.ledger import Ledger
    from ledger_kit import policy

    aged.backup(tmp_path / "copy.db")
    aged.close()
    rules = policy("10", analysts=CAPS)
    restored = Ledger.restore(
        "sqlite:ledger.db", rules, tmp_path / "copy.db", base=tmp_path, reason="a test"
    )
    assert restored.stored_answer("r2", "alice") == b'{"answer": 2}'
    assert restored.examine()[1] == 1
    restored.close()
