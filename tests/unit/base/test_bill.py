"""A bill reads back as it was written, exactly where it is kept, and says the same in every sentence."""

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.base.bill import Bill, Spent
from discreet.base.event import FREE, Cost

NONE = Spent(Fraction(0), Fraction(0))
BILL = Bill(
    cost=Spent(Fraction(1, 10), Fraction(1, 10**9)),
    before=Spent(Fraction(2, 10), Fraction(0)),
    after=Spent(Fraction(3, 10), Fraction(1, 10**9)),
    limit=Spent(Fraction(1), Fraction(1, 10**6)),
    free=False,
)


def test_json_is_the_contract():
    assert BILL.to_json() == {
        "cost": {"epsilon": 0.1, "delta": 1e-9},
        "budget": {
            "before": {"epsilon": 0.2, "delta": 0.0},
            "after": {"epsilon": 0.3, "delta": 1e-9},
            "limit": {"epsilon": 1.0, "delta": 1e-6},
        },
        "free": False,
    }


@pytest.mark.parametrize("bill", [BILL, replace(BILL, cost=NONE, free=True)])
def test_what_is_written_reads_back(bill):
    assert Bill.from_json(bill.to_json()) == bill
    assert Bill.from_exact(bill.exact(), free=bill.free) == bill


def test_plain_numbers_round_and_exact_text_does_not():
    third = replace(BILL, after=Spent(Fraction(1, 3), Fraction(0)))
    assert Bill.from_exact(third.exact(), free=False) == third
    assert Bill.from_json(third.to_json()) != third


def test_the_words_of_a_bill():
    assert BILL.price == "epsilon 0.1, delta 1e-09"
    assert BILL.paid_words() == "uses 0.1, leaves 0.7 of 1"
    assert BILL.spent_words() == "Used epsilon 0.1; 0.3 of 1 is spent."
    assert BILL.left_words() == "Left of the budget: 0.7 of 1."
    assert BILL.foreseen_words() == "Would use epsilon 0.1, delta 1e-09, leaving 0.7 of 1."


def test_the_words_of_what_is_free_and_of_what_does_not_fit():
    free = replace(BILL, cost=NONE, free=True)
    assert (free.price, free.paid_words()) == ("free", "free, leaves 0.7 of 1")
    assert free.spent_words().startswith("Free of charge; ")
    assert free.foreseen_words() == "Would use nothing, leaving 0.7 of 1."
    much = replace(BILL, after=Spent(Fraction(2), Fraction(0)))
    assert much.left == 0
    assert "more than is left of 1 for the people it asks about" in much.foreseen_words()


def test_a_cost_without_epsilon_is_told_by_its_rho():
    rho = Cost(None, Fraction(0), Fraction(1, 8), Fraction(1, 10**9))
    assert Spent.of(rho) == Spent(Fraction(1, 8), Fraction(1, 10**9))
    assert Spent.of(FREE) == NONE
