from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.data.catalog.guess import (
    as_decimal,
    round_bounds,
    round_up_to,
    round_whole_bounds,
    step_for,
)


@pytest.mark.parametrize(
    ("low", "high", "bounds"),
    [
        (17, 90, (0, 100)),
        (0, 99_999, (0, 100_000)),
        (12_285, 1_490_400, (0, 1_500_000)),
        (0, 109, (0, 120)),
        (1934, 2005, (1930, 2010)),
        (1, 16, (1, 16)),
        (-40, 45, (-40, 50)),
        (-45, -3, (-50, 0)),
        (5, 5, (5, 5)),
        (500, 500, (500, 500)),
        (0, 0, (0, 0)),
    ],
)
def test_round_whole_bounds(low, high, bounds):
    assert round_whole_bounds(low, high) == bounds


def test_round_bounds_of_numbers():
    assert round_bounds(Fraction(0), Fraction(0)) == (0, 1)
    assert round_bounds(Fraction(1, 3), Fraction(9, 10)) == (0, 1)
    assert round_up_to(Fraction(31, 10000)) == Fraction(4, 1000)


def test_steps_and_decimals():
    assert step_for(2, Fraction(0), Fraction(10)) == Decimal("0.01")
    assert step_for(9, Fraction(0), Fraction(0)) == Decimal("0.000001")
    assert step_for(9, Fraction(0), Fraction(10**9)) == Decimal(1)
    assert as_decimal(Fraction(-5, 4)) == Decimal("-1.25")
