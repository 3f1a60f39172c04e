"""A request id used again: its first receipt, unless the history at hand does not bear it out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.errors import AnswerLost, BudgetExceeded, LedgerTampered, RequestConflict
from discreet.privacy.ledger import Cap, Payer
from discreet.privacy.ledger.charge import repeated, require_held
from discreet.privacy.ledger.entry import fingerprint
from discreet.privacy.ledger.history import load
from ledger_kit import ALICE, OWNER, open_ledger, pay

CAPS = {"alice": {"census": Cap.of("5")}}


@pytest.fixture
def ledger(tmp_path):
    made = open_ledger(tmp_path, "10", analysts=CAPS)
    yield made
    made.close()


def test_a_receipt_is_given_again_to_who_paid_under_the_same_question(ledger):
    first = pay(ledger, "1", "a", payer=ALICE)
    asked = {"request_id": "a", "body": "body of a"}
    assert ledger.receipt(ALICE, **asked) == replace(first, repeated=True)
    assert ledger.receipt(OWNER, **asked) is None
    assert ledger.receipt(ALICE, request_id="b", body="body of a") is None
    with pytest.raises(RequestConflict):
        ledger.receipt(ALICE, request_id="a", body="another")


def test_an_entry_that_names_another_payer_than_its_id_is_tampered_with(ledger):
    """Whoever forges the body's fingerprint still cannot give one dataset's charge to another."""
    pay(ledger, "1", "a")
    other = Payer(None, "other", "census")
    data = dict(ledger.charge_of(None, "a").data)
    del data["time"]
    data |= {"request_id": "b", "body": fingerprint(other, "charge b")}
    with ledger.session() as session:
        session.append("charge", data)
    accounts = load(ledger._store)
    with pytest.raises(LedgerTampered, match="is not what was asked"):
        repeated(ledger._store, accounts, other, "b", fingerprint(other, "charge b"))


@pytest.mark.parametrize("place", [0, 1, 4, 99])
def test_a_receipt_of_another_place_is_not_held(ledger, place):
    receipt = pay(ledger, "1", "a")
    pay(ledger, "1", "b")
    accounts = load(ledger._store)
    assert require_held(accounts, ledger._store, receipt)["request_id"] == "a"
    with pytest.raises(AnswerLost, match="does not hold the charge of request 'a'"):
        require_held(accounts, ledger._store, replace(receipt, position=place))


def test_a_charge_whose_words_were_edited_is_not_held(ledger):
    receipt = pay(ledger, "1", "a")
    accounts, held = load(ledger._store), ledger._store.find(receipt.position)

    class Edited:
        """A store in which somebody wrote over a line, and left its hash."""

        def __init__(self, **other):
            self.line = replace(held, **other)

        def find(self, _position):
            return self.line

    assert require_held(accounts, Edited(), receipt)
    for other in ({"body": held.body.replace('"1"', '"2"')}, {"kind": "free"}, {"hash": "0" * 64}):
        with pytest.raises(AnswerLost):
            require_held(accounts, Edited(**other), receipt)


def test_a_receipt_of_what_was_free_is_none_of_a_charge(ledger):
    ledger.stored.keep_free(ALICE, b"told", request_id="f", body="b")
    store, accounts = ledger._store, load(ledger._store)
    free = repeated(store, accounts, ALICE, "f", fingerprint(ALICE, "charge b"))
    for receipt in (free, replace(free, position=0, link=store.find(0).hash)):
        with pytest.raises(AnswerLost):
            require_held(accounts, store, receipt)


def test_what_was_paid_is_not_begun_under_a_limit_that_was_lowered(ledger, tmp_path):
    pay(ledger, "4", "paid", payer=ALICE)
    told = pay(ledger, "1/2", "told", payer=ALICE)
    ledger.store_answer(told, b"told")
    ledger.close()
    for limits in ({"epsilon": "1"}, {"analysts": {"alice": {"census": Cap.of("1")}}}):
        lower = open_ledger(tmp_path, **{"epsilon": "10", "analysts": CAPS} | limits)
        with pytest.raises(BudgetExceeded, match="no longer allow"):
            pay(lower, "4", "paid", payer=ALICE)
        assert pay(lower, "1/2", "told", payer=ALICE).repeated, "that was answered already"
        lower.close()
    again = open_ledger(tmp_path, "10", analysts=CAPS)
    assert pay(again, "4", "paid", payer=ALICE).repeated
    again.close()
