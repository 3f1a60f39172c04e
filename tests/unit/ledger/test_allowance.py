from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.core.cost import FREE, Cost, Quote
from discreet.core.event import Concentrated, Failing, Pure
from discreet.errors import BudgetExceeded, RequestConflict
from discreet.ledger import Cap
from ledger_kit import ALICE, MEN, OWNER, WOMEN, open_ledger, pay, quote

ZERO = Fraction(0)


def pure(epsilon) -> Cost:
    return quote(epsilon).cost


def concentrated(rho, epsilon="0.9") -> Quote:
    cost = Cost(Fraction(epsilon), Fraction(1, 10**8), Fraction(rho), ZERO)
    return Quote(Concentrated(Fraction(rho)), cost)


def step(rho) -> Cost:
    return Cost(Fraction(1, 2), Fraction(1, 10**8), Fraction(rho), ZERO)


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path, "1", "1e-6", analysts={"alice": {"census": Cap.of("0.8")}})
    yield ledger
    ledger.close()


def test_the_whole_is_charged_up_front_and_drawn_from(ledger):
    allowance = ledger.reserve(OWNER, quote("0.6"), request_id="synth")
    assert ledger.spent("census").epsilon == Fraction(3, 5)
    for _ in range(3):
        allowance.draw(pure("0.2"))
    assert allowance.left.epsilon == 0
    with pytest.raises(BudgetExceeded, match="too little left"):
        allowance.draw(pure("0.001"))
    assert ledger.spent("census").epsilon == Fraction(3, 5)
    assert ledger.spent("census").charges == 1


def test_a_step_too_large_draws_nothing(ledger):
    allowance = ledger.reserve(OWNER, quote("0.5"), request_id="a")
    allowance.draw(pure("0.4"))
    with pytest.raises(BudgetExceeded):
        allowance.draw(pure("0.2"))
    allowance.draw(pure("0.1"))


def test_every_component_counts(ledger):
    allowance = ledger.reserve(OWNER, quote("0.5"), request_id="a")
    with pytest.raises(BudgetExceeded):
        allowance.draw(Cost(Fraction(1, 10), Fraction(1, 10**12), ZERO, ZERO))
    with pytest.raises(BudgetExceeded):
        allowance.draw(Cost(Fraction(1, 10), ZERO, None, ZERO))


def test_a_concentrated_reservation_is_drawn_in_rho(ledger):
    """The epsilons of the steps add up to far more; their rho is what the charge speaks of."""
    allowance = ledger.reserve(OWNER, concentrated("0.01"), request_id="rap")
    for _ in range(10):
        allowance.draw(step("0.001"))
    with pytest.raises(BudgetExceeded):
        allowance.draw(step("0.0001"))


def test_a_failing_concentrated_reservation_counts_its_failures(ledger):
    cost = Cost(Fraction(9, 10), Fraction(1, 10**8), Fraction(1, 100), Fraction(1, 10**9))
    event = Failing(Concentrated(Fraction(1, 100)), Fraction(1, 10**9))
    allowance = ledger.reserve(OWNER, Quote(event, cost), request_id="a")
    allowance.draw(Cost(None, ZERO, Fraction(1, 200), Fraction(1, 10**9)))
    with pytest.raises(BudgetExceeded):
        allowance.draw(Cost(None, ZERO, Fraction(1, 200), Fraction(1, 10**12)))


def test_draws_survive_a_crash(ledger, tmp_path):
    ledger.reserve(OWNER, quote("0.5"), request_id="a", body="b").draw(pure("0.3"))
    ledger.close()
    again = ledger.reserve(OWNER, quote("0.5"), request_id="a", body="b")
    assert again.receipt.repeated
    assert again.left.epsilon == Fraction(1, 5)
    with pytest.raises(BudgetExceeded):
        again.draw(pure("0.3"))
    assert ledger.spent("census").charges == 1


def test_two_processes_share_one_reservation(ledger, tmp_path):
    caps = {"alice": {"census": Cap.of("0.8")}}
    other_ledger = open_ledger(tmp_path, "1", "1e-6", analysts=caps)
    mine = ledger.reserve(OWNER, quote("0.5"), request_id="a")
    theirs = other_ledger.reserve(OWNER, quote("0.5"), request_id="a")
    mine.draw(pure("0.3"))
    with pytest.raises(BudgetExceeded):
        theirs.draw(pure("0.3"))
    theirs.draw(pure("0.2"))
    with pytest.raises(BudgetExceeded):
        mine.draw(pure("0.1"))
    other_ledger.close()


def test_settling_keeps_everything_unless_told(ledger):
    allowance = ledger.reserve(OWNER, quote("0.5"), request_id="a")
    allowance.draw(pure("0.1"))
    allowance.settle()
    allowance.settle(refund=True)
    assert ledger.spent("census").epsilon == Fraction(1, 2)
    with pytest.raises(RequestConflict, match="settled"):
        allowance.draw(pure("0.1"))


def test_a_refund_gives_back_what_was_not_drawn(ledger, tmp_path):
    pay(ledger, "0.2", "women", WOMEN)
    allowance = ledger.reserve(ALICE, quote("0.5", MEN), request_id="a")
    allowance.draw(pure("0.1"))
    assert ledger.spent("census").epsilon == Fraction(1, 2)
    allowance.settle(refund=True)
    assert ledger.spent("census").epsilon == Fraction(1, 5)
    assert ledger.spent("census", "alice").epsilon == Fraction(1, 10)
    pay(ledger, "0.7", "b", payer=ALICE)
    ledger.close()
    caps = {"alice": {"census": Cap.of("0.8")}}
    again = open_ledger(tmp_path, "1", "1e-6", analysts=caps)
    assert again.spent("census").epsilon == Fraction(9, 10)
    assert again.spent("census", "alice").epsilon == Fraction(4, 5)
    again.close()


def test_a_refund_of_rho_keeps_the_converted_epsilon(ledger):
    allowance = ledger.reserve(OWNER, concentrated("0.01"), request_id="a")
    allowance.draw(step("0.004"))
    allowance.settle(refund=True)
    entry = ledger.history(last=1)[0]
    assert Cost.from_json(entry.data["kept"]) == Cost(
        Fraction(9, 10), Fraction(1, 10**8), Fraction(1, 250), ZERO
    )


def test_a_reservation_that_does_not_fit_is_refused(ledger):
    with pytest.raises(BudgetExceeded):
        ledger.reserve(OWNER, quote("1.5"), request_id="a")
    assert ledger.spent("census").charges == 0


def test_what_is_left_is_told_in_every_part_and_never_below_nothing(ledger):
    tiny = Fraction(1, 10**9)
    cost = Cost(Fraction(1, 2), 5 * tiny, Fraction(1, 100), 4 * tiny)
    allowance = ledger.reserve(OWNER, Quote(Concentrated(Fraction(1, 100)), cost), request_id="a")
    assert allowance.left == cost
    allowance.draw(Cost(Fraction(1, 8), tiny, Fraction(1, 400), tiny))
    assert allowance.left == Cost(Fraction(3, 8), 4 * tiny, Fraction(3, 400), 3 * tiny)
    allowance.draw(Cost(Fraction(1), 9 * tiny, Fraction(1, 400), tiny))
    assert allowance.left == Cost(ZERO, ZERO, Fraction(1, 200), 2 * tiny)
    allowance.draw(Cost(None, ZERO, Fraction(1, 400), ZERO))
    assert allowance.left == Cost(ZERO, ZERO, Fraction(1, 400), 2 * tiny)
    with pytest.raises(BudgetExceeded) as caught:
        allowance.draw(Cost(None, ZERO, Fraction(1, 300), ZERO))
    assert caught.value.left == "0.0025"


def test_each_part_may_be_drawn_up_to_just_what_was_reserved(ledger):
    tiny = Fraction(1, 10**9)
    whole = Cost(Fraction(1, 2), 2 * tiny, Fraction(1, 8), 2 * tiny)
    over = [
        replace(whole, epsilon=whole.epsilon + tiny),
        replace(whole, delta=3 * tiny),
        replace(whole, rho=whole.rho + tiny),
        replace(whole, rho_delta=3 * tiny),
        replace(whole, epsilon=None),
        replace(whole, rho=None),
    ]
    allowance = ledger.reserve(OWNER, Quote(Pure(Fraction(1, 2)), whole), request_id="a")
    for each in over:
        with pytest.raises(BudgetExceeded):
            allowance.draw(each)
    allowance.draw(whole)
    assert allowance.left == FREE


def test_a_way_of_counting_that_was_given_up_is_given_up_for_draws_too(ledger):
    reserved = Cost(Fraction(1, 2), ZERO, None, ZERO)
    allowance = ledger.reserve(OWNER, Quote(Pure(Fraction(1, 2)), reserved), request_id="a")
    allowance.draw(pure("0.25"))
    assert allowance.left == Cost(Fraction(1, 4), ZERO, None, ZERO)
    allowance.settle(refund=True)
    kept = Cost.from_json(ledger.history(last=1)[0].data["kept"])
    assert kept == Cost(Fraction(1, 4), ZERO, None, ZERO)
