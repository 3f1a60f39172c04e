"""Answers of paid and of free requests: the first stays, what failed stays failed, what is gone is missed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.base.proof import Permit
from discreet.errors import (
    AnswerLost,
    EngineFailed,
    LedgerTampered,
    RequestConflict,
    UnknownName,
)
from discreet.privacy.ledger import Cap, Payer
from discreet.privacy.ledger.entry import AccountState
from discreet.privacy.ledger.outcomes import WaitOrAnswer
from discreet.privacy.ledger.reports import question_report, standing, standing_of
from ledger_kit import ALICE, MEN, OWNER, open_ledger, pay, quote

CAPS = {"alice": {"census": Cap.of("5")}}


@pytest.fixture
def ledger(tmp_path):
    made = open_ledger(tmp_path, "10", analysts=CAPS)
    yield made
    made.close()


def begun(ledger, name="a", payer=OWNER):
    receipt = pay(ledger, "0.1", name, payer=payer)
    assert isinstance(ledger.outcomes.take(receipt), Permit)
    return receipt


def again(ledger, name="a", payer=OWNER):
    return pay(ledger, "0.1", name, payer=payer)


def finished(ledger, name="a", analyst=None):
    return ledger.stored.finished(analyst, request_id=name, body=f"body of {name}")


def state_of(ledger, receipt):
    found = ledger.outcomes.state(receipt.position)
    return found and found.state


def test_the_first_answer_is_the_only_one(ledger):
    receipt = begun(ledger)
    assert ledger.store_answer(receipt, b"first") == b"first"
    assert ledger.store_answer(receipt, b"second") == b"first"
    assert ledger.stored_answer("a") == finished(ledger) == b"first"
    assert ledger.outcomes.take(again(ledger)) is WaitOrAnswer.OVER
    assert state_of(ledger, receipt) is AccountState.ANSWERED
    assert sum(link.kind == "answered" for link in ledger.links()) == 1


def test_an_answer_may_come_without_a_mark_that_it_was_begun(ledger):
    receipt = again(ledger)
    assert state_of(ledger, receipt) is None
    assert ledger.store_answer(receipt, b"told") == b"told"
    assert finished(ledger) == b"told"


def test_what_failed_stays_failed_in_the_same_words(ledger):
    receipt = begun(ledger)
    ledger.outcomes.fail(receipt, EngineFailed("It ran out of memory."))
    ledger.outcomes.fail(receipt, EngineFailed("It ran out of time."))
    for use in (
        lambda: ledger.store_answer(receipt, b"told"),
        lambda: ledger.outcomes.take(replace(receipt, repeated=True)),
        lambda: finished(ledger),
    ):
        with pytest.raises(EngineFailed, match="ran out of memory"):
            use()
    assert ledger.stored_answer("a") is None
    assert standing_of(ledger, None, "a") == "failed"


def test_what_was_not_foreseen_is_lost_without_its_words(ledger):
    receipt = begun(ledger)
    ledger.outcomes.fail(receipt, ValueError("Ada is 36"))
    with pytest.raises(AnswerLost) as caught:
        ledger.outcomes.take(replace(receipt, repeated=True))
    assert "Ada" not in str(caught.value)


def test_one_who_comes_later_waits_while_it_runs_and_loses_it_once_let_go(ledger):
    receipt = begun(ledger)
    assert ledger.outcomes.alive(receipt.position)
    assert ledger.outcomes.take(again(ledger)) is WaitOrAnswer.RUNNING
    assert standing_of(ledger, None, "a") == "running"
    assert finished(ledger) is None
    ledger.outcomes.let_go(receipt)
    assert not ledger.outcomes.alive(receipt.position)
    assert standing_of(ledger, None, "a") == "lost"
    with pytest.raises(AnswerLost):
        ledger.outcomes.take(again(ledger))
    assert state_of(ledger, receipt) is AccountState.LOST
    with pytest.raises(AnswerLost):
        ledger.store_answer(receipt, b"too late")
    with pytest.raises(AnswerLost):
        finished(ledger)


def test_an_answer_that_was_entered_and_is_gone_is_missed(ledger):
    receipt = begun(ledger)
    ledger.store_answer(receipt, b"told")
    with ledger._store.exclusive() as writer:
        writer._change("DELETE FROM answers")
    with pytest.raises(LedgerTampered, match="'a' is missing"):
        ledger.store_answer(receipt, b"told otherwise")
    assert ledger.stored_answer("a") is None
    with pytest.raises(LedgerTampered, match="is missing"):
        ledger.verify()


def test_a_finished_request_is_told_to_who_paid_and_under_its_own_question(ledger, tmp_path):
    receipt = begun(ledger, payer=ALICE)
    assert finished(ledger, analyst="alice") is None
    ledger.store_answer(receipt, b"told")
    assert finished(ledger, analyst="alice") == b"told"
    assert finished(ledger) is None, "the owner asked nothing under this id"
    assert finished(ledger, "nothing", analyst="alice") is None
    with pytest.raises(RequestConflict):
        ledger.stored.finished("alice", request_id="a", body="another question")
    ledger.close()
    without = open_ledger(tmp_path, "10")
    assert finished(without, analyst="alice") is None, "she has no share any more"
    without.close()


def free(ledger, name="a", payload=b"free", payer=OWNER, body=None) -> bool:
    body = f"body of {name}" if body is None else body
    return ledger.stored.keep_free(payer, payload, request_id=name, body=body, note="a note")


def test_a_free_answer_is_kept_under_its_id_and_costs_nothing(ledger):
    assert free(ledger)
    assert not free(ledger, payload=b"another")
    assert ledger.stored_answer("a") == finished(ledger) == b"free"
    assert ledger.spent("census").epsilon == 0
    assert ledger.count([None]) == 0
    assert [entry.kind for entry in ledger.history()] == ["genesis", "limit", "limit"]
    with pytest.raises(RequestConflict):
        free(ledger, body="another question")
    with pytest.raises(UnknownName):
        free(ledger, "b", payer=Payer("eve", "census", "census"))
    assert ledger.examine() == (4, 0)


def test_an_id_that_was_charged_gets_no_free_answer(ledger):
    again(ledger)
    assert not free(ledger)
    assert ledger.stored_answer("a") is None


def test_what_was_asked_is_told_with_its_price(ledger):
    receipt = ledger.charge(
        ALICE, quote("1/8", MEN), request_id="q", body="b", note="SELECT 1", asker="a script"
    )
    found = question_report(ledger, "q", "alice")
    time = found.pop("time")
    assert time.startswith("20")
    assert found == {
        "sql": "SELECT 1",
        "epsilon": 0.125,
        "analyst": "alice",
        "asker": "a script",
        "dataset": "census",
    }
    assert question_report(ledger, "q", None) is None
    assert standing_of(ledger, "alice", "q") == "paid"
    assert standing_of(ledger, None, "q") is None
    ledger.store_answer(receipt, b"told")
    assert standing(ledger, ledger.charge_of("alice", "q")) == "answered"


def test_an_id_that_was_begun_stands_for_its_outcome_whatever_has_changed_since(ledger):
    """Nothing is computed again, so a new version of the data is no reason to refuse."""

    def ask(name: str, snapshot: str, epsilon="0.1"):
        bill = {"request_id": name, "body": name, "snapshot": snapshot}
        return ledger.charge(OWNER, quote(epsilon), **bill)

    ask("paid", "1")
    for changes in ({"snapshot": "2"}, {"snapshot": "1", "epsilon": "0.2"}):
        with pytest.raises(RequestConflict, match="was not answered then"):
            ask("paid", **changes)
    receipt = ask("answered", "1")
    ledger.store_answer(receipt, b"told")
    repeated = ask("answered", "2")
    assert (repeated.repeated, repeated.position) == (True, receipt.position)
    assert ledger.outcomes.take(repeated) is WaitOrAnswer.OVER
    assert ledger.count([None]) == 2
