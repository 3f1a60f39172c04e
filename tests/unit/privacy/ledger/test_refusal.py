"""What a refusal says is left: it fits when it is asked for, and where nothing fits it says so."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.base.event import EVERYONE, FREE, NOTHING, Cost, Positions, Quote, Region
from discreet.base.numbers import Delta, Epsilon, plain, plain_below
from discreet.base.proof import canonical
from discreet.base.unit import Neighbours
from discreet.errors import BudgetExceeded
from discreet.privacy.ledger import Cap, Charge
from discreet.privacy.ledger.budget import Account, Limit
from discreet.privacy.ledger.refusal import _two_digits, in_region, what_fits
from ledger_kit import ALICE, MEN, OWNER, WOMEN, open_ledger, pay, quote

ZERO = Fraction(0)


def account(*charges, epsilon="1", delta=0) -> Account:
    """Return an account that has paid these costs, each for a region."""
    made = Account()
    limit = Limit("b", None, Epsilon.of(epsilon), Delta.of(delta), Neighbours.ADD_REMOVE)
    made.set_limit(limit)
    for region, cost in charges:
        made.add(canonical(region.to_json()), canonical(cost.to_json()), bound=FREE.to_json())
    return made


def asked(epsilon, delta=ZERO, rho=None, rho_delta=ZERO, region=EVERYONE) -> Quote:
    return Quote(NOTHING, Cost(epsilon, Fraction(delta), rho, Fraction(rho_delta)), region)


def cost(epsilon, delta=0, rho=None, rho_delta=0) -> Cost:
    return Cost(epsilon, Fraction(delta), rho, Fraction(rho_delta))


HAIR = Fraction(1, 10**14)  # a limit of rho is no round number: it is counted in whole quanta


def test_what_people_of_a_region_have_paid_is_told_and_never_below():
    tiny = Fraction(1, 10**9)
    women = Cost(Fraction(1, 5), tiny, Fraction(1, 1000), 2 * tiny)
    men = Cost(Fraction(2, 5), 3 * tiny, Fraction(1, 500), tiny)
    made = account((WOMEN, women), (MEN, men), delta="1e-6")
    for region, paid in ((WOMEN, women), (MEN, men)):
        # Delta is what everybody together has paid: it may be above, and never below.
        found = in_region(made, asked(Fraction(1, 2), region=region))
        assert found.epsilon == paid.epsilon
        assert paid.rho <= found.rho <= paid.rho + HAIR
        assert found.delta >= paid.delta
        assert found.rho_delta >= paid.rho_delta
    untouched = in_region(account(delta="1e-6"), quote("1/2"))
    assert 0 <= untouched.rho <= HAIR
    assert replace(untouched, rho=ZERO) == FREE


def test_what_a_region_paid_without_a_bound_stays_without_one():
    made = account((WOMEN, cost(None, rho=Fraction(1, 100))), delta="1e-6")
    found = in_region(made, quote("1/2", WOMEN))
    assert found.epsilon is None
    assert Fraction(1, 100) <= found.rho <= Fraction(1, 100) + HAIR
    made = account((WOMEN, cost(Fraction(1, 2))), delta="1e-6")
    found = in_region(made, quote("1/4", WOMEN))
    assert (found.epsilon, found.rho) == (Fraction(1, 2), None)


def test_the_greatest_epsilon_that_fits_by_sums():
    made = account((EVERYONE, cost(Fraction(3, 5))))
    assert what_fits(made, asked(Fraction(1, 2)), cost(Fraction(3, 5))) == Fraction(2, 5)
    assert what_fits(made, asked(Fraction(1, 4)), cost(Fraction(3, 5))) == Fraction(1, 4)
    assert what_fits(made, asked(Fraction(1, 4)), cost(Fraction(1))) == 0
    assert what_fits(made, asked(Fraction(1, 4)), cost(Fraction(3, 2))) == 0, "never below nothing"
    assert what_fits(made, asked(None, rho=Fraction(1)), cost(ZERO)) == 0
    assert what_fits(made, asked(Fraction(1, 4)), cost(None)) == 0


def test_where_delta_does_not_fit_no_epsilon_does():
    made = account(delta="1e-6")
    for before, more in (("1e-6", 0), (0, "1e-6"), ("4e-7", "2e-7")):
        assert what_fits(made, asked(Fraction(1, 4), more), cost(ZERO, before)) == 0
    assert what_fits(made, asked(Fraction(1, 4), "2e-7"), cost(ZERO, "3e-7")) == Fraction(1, 4)


@pytest.mark.parametrize("used", ["0.2", "0.5", "0.9", "0.99"])
def test_what_fits_by_rho_does_fit_and_is_not_far_below_what_could(used):
    """Sums of epsilon are used up: rho, about half the square of epsilon, has some room."""
    made = account(delta="1e-6")
    limit = made.limits.rho
    before = cost(Fraction(5), rho=limit * Fraction(used))
    epsilon = Fraction(2)
    found = what_fits(made, asked(epsilon, rho=epsilon**2 / 2), before)
    assert 0 < found < epsilon
    assert made.limits.allows(cost(None, rho=before.rho + found**2 / 2))
    more = found * Fraction(115, 100)
    assert not made.limits.allows(cost(None, rho=before.rho + more**2 / 2))


def test_where_one_of_both_has_no_rho_sums_of_epsilon_decide():
    made = account(delta="1e-6")
    for mine, before in (
        (asked(Fraction(3), rho=None), cost(Fraction(1, 4), rho=ZERO)),
        (asked(Fraction(3), rho=Fraction(1, 100)), cost(Fraction(1, 4), rho=None)),
    ):
        assert what_fits(made, mine, before) == Fraction(3, 4)


@pytest.mark.parametrize(
    ("value", "shown"),
    [("0.105", "0.1"), ("0.0119", "0.011"), ("0.999", "0.99"), ("1.07", "1"), ("0", "0")],
)
def test_two_digits_are_shown_and_rounded_down(value, shown):
    assert _two_digits(Fraction(value)) == Fraction(shown)
    assert _two_digits(-Fraction(1)) == 0


@pytest.mark.parametrize(("payer", "whose"), [(OWNER, "of 'census'"), (ALICE, "analyst 'alice'")])
def test_several_questions_are_refused_with_their_sum(tmp_path, payer, whose):
    ledger = open_ledger(tmp_path, "1", analysts={"alice": {"census": Cap.of(1)}})
    bills = [Charge(quote(each), each, "body") for each in ("0.5", "0.25", "0.375")]
    with pytest.raises(BudgetExceeded) as caught:
        ledger.charge_all(payer, bills)
    error = caught.value
    assert (error.asked, error.limit) == ("1.125", "1")
    assert "epsilon 1.125 in all" in error.message
    assert whose in error.message
    assert "3 private questions" in error.message
    unbounded = [*bills, Charge(asked(None, rho=Fraction(1, 2)), "no epsilon", "body")]
    with pytest.raises(BudgetExceeded) as caught:
        ledger.charge_all(payer, unbounded)
    assert caught.value.asked == ""
    assert "in all" not in caught.value.message
    ledger.close()


@pytest.mark.parametrize("payer", [ALICE, OWNER], ids=["an analyst", "the owner"])
@pytest.mark.parametrize("together", [False, True])
def test_what_costs_nothing_fits_where_a_limit_was_lowered(tmp_path, payer, together):
    """Nobody is asked about: before, it was refused for want of "epsilon 0"."""
    shares = {name: {"census": Cap.of("1")} for name in ("alice", "bob")}
    ledger = open_ledger(tmp_path, "1", analysts=shares)
    pay(ledger, "1", "all", payer=replace(ALICE, analyst="bob"))
    ledger.close()
    ledger = open_ledger(tmp_path, "0.5", analysts=shares)
    free = Charge(Quote(NOTHING, FREE, Region.of({"age": Positions.points([])})), "free", "free")
    charges = [free, replace(free, request_id="free too")] if together else [free]
    assert len(ledger.charge_all(payer, charges)) == len(charges)
    with pytest.raises(BudgetExceeded, match=r"0\.0001"):
        ledger.charge_all(payer, [Charge(quote("0.0001"), "paid", "paid")])
    assert ledger.spent("census").epsilon == 1
    ledger.close()


AMOUNTS = st.fractions(min_value=Fraction(1, 10**25), max_value=10**6)


@given(value=AMOUNTS)
def test_what_is_said_to_be_left_is_left_and_never_0(value):
    said = Fraction(plain_below(value))
    assert 0 < said <= value
    assert value - said <= value / 10**11
    assert Fraction(plain(value)) > 0


@given(digits=st.integers(1, 10**12 - 1), places=st.integers(0, 25))
def test_what_was_asked_reads_back_equal(digits, places):
    value = Fraction(digits, 10**places)
    assert Fraction(plain(value)) == Fraction(plain_below(value)) == value


def test_the_twin_that_rounds_to_the_nearest_says_more_than_is_left():
    assert Fraction(plain(Fraction(2, 3))) > Fraction(2, 3)
