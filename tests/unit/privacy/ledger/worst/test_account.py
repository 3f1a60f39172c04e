"""The bill of one account: what is tried, forgotten and flattened, and its counting unit."""

from fractions import Fraction

import pytest

from discreet.base.event import EVERYONE, FREE, Cost, Positions, Region
from discreet.base.numbers import Delta, Epsilon
from discreet.base.proof import canonical
from discreet.base.unit import Neighbours
from discreet.privacy.ledger.budget import Account, Limit, is_below_zero
from ledger_kit import MEN, WOMEN, quote

ZERO = Fraction(0)
NOBODY = Region.of({"sex": Positions(())})


def limit(epsilon="10", delta=0, neighbours=Neighbours.ADD_REMOVE) -> Limit:
    return Limit("b", None, Epsilon.of(epsilon), Delta.of(delta), neighbours)


def account(**more) -> Account:
    made = Account()
    made.set_limit(limit(**more))
    return made


def enter(made: Account, epsilon, region: Region = EVERYONE) -> None:
    asked = quote(epsilon, region)
    bound = made.peak_with(region, asked.cost)
    texts = canonical(region.to_json()), canonical(asked.cost.to_json())
    made.add(*texts, bound=bound.to_json())


def paid(made: Account) -> Fraction:
    return made.peak().epsilon


def test_charges_add_up_where_they_overlap_also_when_counted_anew():
    made = account()
    for _ in range(3):
        enter(made, 2, WOMEN)
    enter(made, 1, MEN)
    enter(made, 1)
    assert paid(made) == 7
    made.set_limit(limit("20"))  # counts all bills anew
    assert paid(made) == 7
    assert made.peak_with(MEN, quote(6).cost).epsilon == 8
    assert made.where(0) == WOMEN
    assert made.top == made.peak()
    assert made.charges == 5


def test_what_was_tried_counts_until_it_is_forgotten():
    made = account()
    enter(made, 1)
    made.try_charge(WOMEN, quote(2).cost)
    made.try_charge(NOBODY, quote(2).cost)
    assert paid(made) == 3
    made.forget_tried()
    assert paid(made) == 1
    made.forget_tried()
    assert paid(made) == 1


def test_what_was_tried_and_entered_counts_once():
    made = account()
    assert made.peak() == FREE
    made.try_charge(WOMEN, quote(2).cost)
    made.try_charge(MEN, quote(3).cost)
    enter(made, 2, WOMEN)
    enter(made, 3, MEN)
    enter(made, 2, WOMEN)
    assert paid(made) == 4
    made.forget_tried()
    assert paid(made) == 4


def test_a_charge_on_nobody_is_counted_and_costs_nothing():
    made = account()
    enter(made, 1)
    enter(made, 9, NOBODY)
    assert (paid(made), made.charges) == (1, 2)
    assert made.peak_with(NOBODY, quote(9).cost).epsilon == 1
    assert made.top.epsilon == 1, "nothing changed, so neither did what is recorded"


def test_a_flat_account_has_everyone_pay_the_total():
    made = account()
    enter(made, 3, WOMEN)
    enter(made, 1, MEN)
    made.flatten(made.peak())
    assert paid(made) == made.top.epsilon == 3
    assert made.peak_with(MEN, quote(2).cost).epsilon == 5
    assert made.charges == 3


def test_the_highest_limits_of_all_times_are_remembered_each_for_itself():
    made = Account()
    assert made.highest is None
    for epsilon, delta in (("3", "1e-9"), ("5", "1e-12"), ("4", "1e-6"), ("1", 0)):
        made.set_limit(limit(epsilon, delta))
    made.set_limit(None)
    assert made.highest == (Epsilon.of("5"), Delta.of("1e-6"))
    assert made.last_limit == limit("1", 0)
    assert made.limit is None


def test_pairs_pay_together_where_a_person_is_replaced():
    made = account(neighbours=Neighbours.REPLACE_ONE)
    enter(made, 3, WOMEN)
    enter(made, 2, MEN)
    assert paid(made) == 5


@pytest.mark.parametrize("part", ["epsilon", "delta", "rho", "rho_delta"])
def test_an_amount_below_nothing_is_seen_in_every_part(part):
    parts = {"epsilon": ZERO, "delta": ZERO, "rho": ZERO, "rho_delta": ZERO}
    assert not is_below_zero(canonical(Cost(**parts).to_json()))
    assert not is_below_zero(canonical(Cost(**parts | {"epsilon": None, "rho": None}).to_json()))
    below = Cost(**parts | {part: Fraction(-1, 10**30)})
    assert is_below_zero(canonical(below.to_json()))
