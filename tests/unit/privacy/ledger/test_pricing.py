"""Who pays, and what a charge would lead to: names that are not in force, and bills beyond counting."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.base.event import NOTHING, Cost, Quote
from discreet.errors import BudgetExceeded, UnknownName
from discreet.privacy.ledger import BudgetPolicy, Cap, Charge, Ledger, Payer, Policy
from ledger_kit import ALICE, OWNER, open_ledger, pay, quote

ZERO = Fraction(0)
BOB = Payer("bob", "census", "census")
SHARES = {"alice": {"census": Cap.of("1")}, "bob": {"census": Cap.of("1")}}


@pytest.fixture
def ledger(tmp_path):
    made = open_ledger(tmp_path, "1", analysts=SHARES)
    yield made
    made.close()


def test_a_budget_that_is_not_there_is_refused_with_those_that_are(ledger):
    with pytest.raises(UnknownName) as caught:
        ledger.spent("cencus")
    assert caught.value.hint == "Budgets: census."


def test_a_budget_that_was_taken_away_is_not_named(tmp_path, ledger):
    ledger.close()
    visits = Policy({"visits": BudgetPolicy.of("1")})
    again = Ledger.open("sqlite:ledger.db", visits, base=tmp_path)
    with pytest.raises(UnknownName) as caught:
        again.spent("census")
    assert caught.value.hint == "Budgets: visits."
    again.close()


def without_epsilon(rho) -> Quote:
    return Quote(NOTHING, Cost(None, ZERO, rho, ZERO))


@pytest.mark.parametrize("rho", [None, Fraction(1, 100)])
@pytest.mark.parametrize("limit", ["1/2", "3"])
def test_a_bill_without_a_bound_is_foreseen_as_one_that_does_not_fit(tmp_path, limit, rho):
    """Without delta nothing is counted in rho: the sum is shown as more than there is."""
    made = open_ledger(tmp_path, limit)
    before, after = made.foreseen(OWNER, without_epsilon(rho))
    assert before.epsilon == 0
    assert after.epsilon >= after.limit_epsilon
    assert after.epsilon == max(1, Fraction(limit))
    assert after.left == 0
    made.close()


def test_with_delta_a_bill_in_rho_alone_is_foreseen_as_it_would_be_charged(tmp_path):
    made = open_ledger(tmp_path, "1", "1e-6")
    asked = without_epsilon(Fraction(1, 1000))
    foreseen = made.foreseen(OWNER, asked)
    receipt = made.charge(OWNER, asked, request_id="a", body="")
    assert foreseen == (receipt.before, receipt.after)
    assert 0 < receipt.after.epsilon < 1
    _, after = made.foreseen(OWNER, without_epsilon(None))
    assert after.epsilon >= 1, "neither way expresses it any more"
    made.close()


def test_a_refusal_of_several_tells_whether_others_are_in_the_way(ledger):
    bills = [Charge(quote("0.3"), name, "body") for name in ("a", "b")]
    pay(ledger, "0.6", "bob's", payer=BOB)
    with pytest.raises(BudgetExceeded, match="beside what others have used"):
        ledger.charge_all(ALICE, bills)
    own = [Charge(quote("0.6"), name, "body") for name in ("a", "b")]
    with pytest.raises(BudgetExceeded) as caught:
        ledger.charge_all(ALICE, own)
    assert "others" not in caught.value.message
    assert "analyst 'alice'" in caught.value.message
    assert ledger.count(["alice"]) == 0
