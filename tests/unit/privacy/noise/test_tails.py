"""Tails against plain sums in decimal arithmetic with 80 digits."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from discreet.privacy.noise.tails import GaussianTail, LaplaceTail, _rounded


def summed(weight, m, reach):
    with localcontext() as context:
        context.prec = 80
        terms = {k: weight(Decimal(k)) for k in range(-reach, reach + 1)}
        total = sum(terms.values())
        return sum(value for k, value in terms.items() if k >= m) / total


def laplace_weight(scale):
    return lambda k: (-abs(k) / Decimal(scale)).exp()


def gaussian_weight(sigma_squared):
    return lambda k: (-k * k / (2 * Decimal(sigma_squared))).exp()


@pytest.mark.parametrize("m", [-3, -1, 0, 1, 2, 7, 25])
@pytest.mark.parametrize(
    ("tail", "weight", "reach"),
    [
        (LaplaceTail(Fraction(1)), laplace_weight("1"), 250),
        (LaplaceTail(Fraction(5, 2)), laplace_weight("2.5"), 600),
        (GaussianTail(Fraction(1, 4)), gaussian_weight("0.25"), 60),
        (GaussianTail(Fraction(30)), gaussian_weight("30"), 200),
    ],
)
def test_tails_equal_the_sum(tail, weight, reach, m):
    low, high = tail.bounds(m, 128)
    with localcontext() as context:
        context.prec = 80
        exact = summed(weight, m, reach)
        assert Decimal(low.numerator) / low.denominator <= exact * (1 + Decimal(10) ** -60)
        assert exact * (1 - Decimal(10) ** -60) <= Decimal(high.numerator) / high.denominator
    assert high - low <= high / 2**100


def test_blocks_bracket_the_exact_sum(monkeypatch):
    exact = GaussianTail(Fraction(3000**2))
    assert exact.sharp
    sums = [exact.bounds(m, 64) for m in (1, 2000, 9000, 15_000)]
    monkeypatch.setattr("discreet.privacy.noise.tails._WIDEST", 1000)
    monkeypatch.setattr("discreet.privacy.noise.tails._COARSE", 300)
    assert exact.block == 10
    for m, (low, high) in zip((1, 2000, 9000, 15_000), sums, strict=True):
        coarse_low, coarse_high = exact.bounds(m, 64)
        assert coarse_low <= low <= high <= coarse_high
        assert coarse_high <= exact.bounds(m - 60, 64)[1]
        assert coarse_high < coarse_low * Fraction(106, 100)


def test_depth_is_limited_where_nothing_is_left():
    low, high = GaussianTail(Fraction(1, 10**6)).bounds(1, 64)
    assert 0 <= low <= high < Fraction(1, 2**1000)


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_about_as_many_bits_are_right_as_were_asked_for(bits):
    for scale in ("1/20", "1/3", "1", "50"):
        for m in (1, 2, 3, 10, 40):
            low, high = LaplaceTail(Fraction(scale)).bounds(m, bits)
            assert high - low <= high / 2**bits
    for square in ("1/20", "1/3", "1", "50"):
        for m in (1, 2, 3, 10):
            low, high = GaussianTail(Fraction(square)).bounds(m, bits)
            assert high - low <= high / 2**bits


def test_where_sums_begin_to_run_over_blocks():
    assert LaplaceTail(Fraction(10**9)).sharp
    assert GaussianTail(Fraction(4096**2)).sharp
    assert not GaussianTail(Fraction(4097**2)).sharp
    for sigma in (4097, 10_000, 10**6):
        assert GaussianTail(Fraction(sigma**2)).block == sigma // 1024


def test_depths_are_the_next_multiple_of_256():
    for bits in range(1, 2000):
        assert _rounded(bits) % 256 == 0
        assert bits <= _rounded(bits) < bits + 256
