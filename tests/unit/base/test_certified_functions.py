from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.base.numbers import exp_lower, exp_upper, log_lower, log_upper, sqrt_lower, tanh_upper

PRECISE = Context(prec=80)
WIDTH = Fraction(1, 10**36)

values = st.fractions(min_value=Fraction(-50), max_value=Fraction(50), max_denominator=10**6)
positive = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9)


def exact(name, value):
    argument = PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(getattr(PRECISE, name)(argument))


@given(values)
def test_exp_lies_between_its_bounds_and_they_are_close(value):
    truth = exact("exp", value)
    assert exp_lower(value) <= truth <= exp_upper(value)
    assert exp_upper(value) - exp_lower(value) <= WIDTH * truth


@given(positive)
def test_log_and_sqrt_lie_between_their_bounds(value):
    assert log_lower(value) <= exact("ln", value) <= log_upper(value)
    truth = exact("sqrt", value)
    assert truth * (1 - WIDTH) <= sqrt_lower(value) <= truth
    assert sqrt_lower(value) ** 2 <= value


@given(st.fractions(min_value=0, max_value=60, max_denominator=10**6))
def test_tanh_is_not_understated(value):
    square = exact("exp", 2 * value)
    truth = (square - 1) / (square + 1)
    assert truth - Fraction(1, 10**60) <= tanh_upper(value) <= truth + WIDTH * (truth + 1)


def test_far_arguments_stay_bounded():
    assert exp_lower(Fraction(-(10**6))) == 0
    assert 0 < exp_upper(Fraction(-(10**6))) < Fraction(1, 10**390)
    assert exp_upper(Fraction(-921)) > exact("exp", Fraction(-921))
    with pytest.raises(OverflowError):
        exp_upper(Fraction(20_000))
    assert sqrt_lower(Fraction(0)) == 0


def test_exact_arguments_still_get_two_sides():
    assert exp_lower(Fraction(0)) < 1 < exp_upper(Fraction(0))
    assert log_lower(Fraction(1)) < 0 < log_upper(Fraction(1))
