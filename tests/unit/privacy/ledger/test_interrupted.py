"""An interrupt or a lack of memory at a bad moment: nothing is forgotten, nothing is counted twice."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import BudgetExceeded, TooManyRequests
from discreet.privacy.ledger import Cap, Payer
from discreet.privacy.ledger.budget import CEILING, COMPONENTS, Account, AmountResolution
from discreet.privacy.ledger.refusal import MOST_REFUSALS, others_of
from discreet.privacy.ledger.worst.worst_hit import Worst
from ledger_kit import ALICE, MEN, OWNER, WOMEN, open_ledger, pay

EVE = Payer("eve", "census", "census")
SHARES = {name: {"census": Cap.of(1)} for name in ("alice", "eve")}
PARTS = ("epsilon", "delta", "rho", "rho_delta")
EVENTS = [MemoryError, KeyboardInterrupt]


def once_broken(monkeypatch, name, error):
    """Let the next call of a method of the counted view end in the midst, and no later one."""
    real = getattr(Worst, name)

    def broken(self, *arguments):
        monkeypatch.setattr(Worst, name, real)
        raise error

    monkeypatch.setattr(Worst, name, broken)


def reopened(folder, paid="0.9"):
    ledger = open_ledger(folder, "1")
    pay(ledger, paid, "first")
    ledger.close()
    return open_ledger(folder, "1")


@pytest.mark.parametrize("error", EVENTS)
@pytest.mark.parametrize("look", ["charge", "read"])
def test_an_interrupted_count_is_not_taken_for_the_bill(tmp_path, monkeypatch, error, look):
    ledger = reopened(tmp_path)
    once_broken(monkeypatch, "extend", error)
    with pytest.raises(error):
        pay(ledger, "0.05", "second") if look == "charge" else ledger.spent("census")
    with pytest.raises(BudgetExceeded):
        pay(ledger, "0.9", "third")
    pay(ledger, "0.1", "fourth")
    with pytest.raises(BudgetExceeded):
        pay(ledger, "0.01", "fifth")


def test_a_view_that_is_kept_before_it_is_filled_is_noticed(tmp_path, monkeypatch):
    """The broken twin: kept first, and a book that nobody throws away."""
    ledger = reopened(tmp_path)
    monkeypatch.setattr(
        "discreet.privacy.ledger.session.Accounts", lambda genesis: ledger._kept.accounts
    )

    def early(self):
        if self._worst is None:
            self._resolution = AmountResolution.of(*(getattr(self.limits, part) for part in PARTS))
            neighbours = self.last_limit.neighbours
            self._worst = Worst(COMPONENTS, ceiling=(CEILING,) * COMPONENTS, neighbours=neighbours)
            self._worst.extend(self._billed(self._resolution))
        return self._worst, self._resolution

    monkeypatch.setattr(Account, "_view", early)
    once_broken(monkeypatch, "extend", MemoryError)
    with pytest.raises(MemoryError):
        pay(ledger, "0.9", "second")
    pay(ledger, "0.9", "third")
    ledger.close()
    assert open_ledger(tmp_path, "1").spent("census").epsilon > 1


@pytest.mark.parametrize("error", EVENTS)
def test_a_charge_that_is_durable_is_entered_once(tmp_path, monkeypatch, error):
    ledger = reopened(tmp_path, "0.2")
    pay(ledger, "0.1", "second")
    once_broken(monkeypatch, "add", error)
    with pytest.raises(error):
        pay(ledger, "0.01", "third")
    assert pay(ledger, "0.01", "third").repeated, "it was durable"
    pay(ledger, "0.02", "fourth")
    again = open_ledger(tmp_path, "1")
    assert ledger.spent("census") == again.spent("census")
    assert again.spent("census").charges == 4
    ledger.verify()


@pytest.mark.parametrize("error", EVENTS)
def test_what_others_have_paid_is_remembered_whole_or_not_at_all(tmp_path, monkeypatch, error):
    ledger = open_ledger(tmp_path, "1", analysts=SHARES)
    pay(ledger, "0.85", "a", WOMEN, payer=ALICE)
    with pytest.raises(BudgetExceeded):
        pay(ledger, "0.5", "e", WOMEN, payer=EVE)
    pay(ledger, "0.15", "a2", MEN, payer=ALICE)
    pay(ledger, "0.8", "a3", MEN, payer=ALICE)
    once_broken(monkeypatch, "add", error)
    with pytest.raises(error):
        pay(ledger, "0.5", "e", MEN, payer=EVE)
    with ledger._kept.current() as accounts:
        assert others_of(accounts, ("census", "eve")).peak().epsilon >= Fraction("0.95")
    for _ in range(MOST_REFUSALS - 1):
        with pytest.raises(BudgetExceeded):
            pay(ledger, "0.2", "e", MEN, payer=EVE)
    with pytest.raises(TooManyRequests):
        pay(ledger, "0.2", "e", MEN, payer=EVE)
    assert ledger.spent("census", "eve").charges == 0


def test_the_owner_is_told_as_before(tmp_path):
    ledger = reopened(tmp_path)
    for _ in range(MOST_REFUSALS + 5):
        with pytest.raises(BudgetExceeded):
            pay(ledger, "0.2", "o", payer=OWNER)
