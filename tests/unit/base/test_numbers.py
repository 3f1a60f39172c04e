"""Amounts are exactly what was written."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.base.numbers import Delta, Epsilon, Rho, plain, round_down, round_up, to_fraction
from discreet.errors import InvalidInput


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (0.1, "1/10"),
        ("0.1", "1/10"),
        (Decimal("0.1"), "1/10"),
        (np.float64(0.1), "1/10"),
        (np.int64(3), "3"),
        ("1/3", "1/3"),
        ("1e-9", "1/1000000000"),
        (" 2 ", "2"),
        (Fraction(2, 7), "2/7"),
    ],
)
def test_what_was_written(written, expected):
    assert to_fraction(written) == Fraction(expected)


@pytest.mark.parametrize(
    "written", [True, "x", "", "nan", "inf", float("nan"), "1/0", "1e999999999", None, "1/2/3"]
)
def test_nonsense(written):
    with pytest.raises(InvalidInput):
        to_fraction(written)


def test_ten_tenths_are_one():
    total = Epsilon.of(0.1)
    for _ in range(9):
        total += Epsilon.of("0.1")
    assert total == Epsilon.of(1)


@pytest.mark.parametrize(
    ("make", "bad"), [(Epsilon, "0"), (Epsilon, -1), (Delta, 1), (Delta, "-1e-9"), (Rho, "-1")]
)
def test_amounts_out_of_range(make, bad):
    with pytest.raises(InvalidInput):
        make.of(bad)


def test_rounding_has_a_direction():
    third = Fraction(1, 3)
    assert round_down(third, digits=2) == Fraction(33, 100) < third
    assert round_up(third, digits=2) == Fraction(34, 100) > third
    assert round_up(-third, digits=0) == 0
    assert round_up(Fraction(1, 2), digits=1) == Fraction(1, 2)


def test_plain():
    assert plain(Fraction(0)) == "0"
    assert plain(Fraction(1, 3), significant=3) == "0.333"
    assert plain(Fraction(10**15)) == "1e15"
    assert str(Epsilon.of("0.50")) == "0.5"
    assert repr(Delta.of("1e-6")) == "Delta(0.000001)" or repr(Delta.of("1e-6")) == "Delta(1e-6)"
