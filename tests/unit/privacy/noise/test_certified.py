from decimal import Decimal, getcontext
from fractions import Fraction

import pytest

from discreet.privacy.noise.certified import _exp_small, exp_bounds, exp_powers, exp_squares

getcontext().prec = 400


def scaled_exp(exponent: Fraction, bits: int) -> Decimal:
    """2^bits * exp(exponent) from the standard library's decimal arithmetic: a second opinion."""
    ratio = Decimal(exponent.numerator) / Decimal(exponent.denominator)
    return ratio.exp() * Decimal(2) ** bits


EXPONENTS = [Fraction(0), Fraction(-1, 10**12), Fraction(-1, 3), Fraction(-1), Fraction(-355, 113)]
EXPONENTS += [Fraction(-40), Fraction(-1000), Fraction(-(10**6), 7)]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("bits", [0, 1, 16, 64, 200, 900])
def test_exp_bounds_hold_the_truth_and_are_narrow(exponent, bits):
    low, high = exp_bounds(exponent, bits)
    assert low <= scaled_exp(exponent, bits) <= high
    assert high - low <= 2


def test_exp_bounds_refuses_positive_exponents():
    with pytest.raises(ValueError, match="at most 0"):
        exp_bounds(Fraction(1), 8)


@pytest.mark.parametrize(
    "rate", [Fraction(1, 10**12), Fraction(1, 10), Fraction(3), Fraction(1000)]
)
@pytest.mark.parametrize("bits", [16, 160])
def test_powers_and_squares_hold_the_truth_and_are_narrow(rate, bits):
    for brackets, exponent in (
        (exp_powers(rate, 300, bits), lambda k: -rate * k),
        (exp_squares(rate, 300, bits), lambda k: -rate * k * k),
    ):
        assert len(brackets) == 300
        for k in (0, 1, 2, 7, 100, 299):
            low, high = brackets[k]
            assert low <= scaled_exp(exponent(k), bits) <= high
            assert high - low <= 2


def test_the_series_holds_the_truth_without_guard_bits():
    for exponent in (Fraction(-n, d) for d in (2, 7, 64) for n in range(d // 2 + 1)):
        one = scaled_exp(exponent, 0)
        for bits in range(1, 24):
            low, high = _exp_small(exponent, bits)
            assert low <= one * 2**bits <= high
            assert high - low <= 10


def test_bounds_hold_the_truth_at_every_small_depth():
    for exponent in (Fraction(-n, 16) for n in range(0, 200, 3)):
        one = scaled_exp(exponent, 0)
        for bits in range(12):
            low, high = exp_bounds(exponent, bits)
            assert low <= one * 2**bits <= high
            assert high - low <= 2


@pytest.mark.parametrize("rate", [Fraction(1, 16), Fraction(1, 3)])
def test_powers_and_squares_hold_the_truth_at_every_small_depth(rate):
    for bits in range(12):
        for brackets, power in ((exp_powers(rate, 9, bits), 1), (exp_squares(rate, 9, bits), 2)):
            for k, (low, high) in enumerate(brackets):
                assert low <= scaled_exp(-rate * k**power, bits) <= high
                assert high - low <= 2
