import math
from fractions import Fraction
from itertools import pairwise

import pytest

from discreet.privacy.account.discrete_gaussian import delta_bounds


def brute_delta(variance, shift, epsilon):
    """The sum over integers of max(0, p(k) - e^epsilon p(k - shift)), in floats."""
    reach = int(40 * math.sqrt(variance)) + 3 * shift + 40
    weights = {k: math.exp(-k * k / (2 * variance)) for k in range(-reach - shift, reach + shift)}
    total = math.fsum(weights.values())
    factor = math.exp(epsilon)
    terms = (weights[k] - factor * weights[k + shift] for k in range(-reach, reach))
    return math.fsum(term for term in terms if term > 0) / total


def continuous_delta(variance, shift, epsilon):
    sigma = math.sqrt(variance) / shift

    def above(x):
        return math.erfc(x / math.sqrt(2)) / 2

    return above(epsilon * sigma - 1 / (2 * sigma)) - math.exp(epsilon) * above(
        epsilon * sigma + 1 / (2 * sigma)
    )


CASES = [
    (variance, shift, epsilon)
    for variance in ("0.1", "1", "7.3", "400", "2499", "2501", "40000")
    for shift in (1, 2, 9)
    for epsilon in ("0.01", "0.5", "3")
]


@pytest.mark.parametrize(("variance", "shift", "epsilon"), CASES)
def test_bounds_hold_the_plain_sum(variance, shift, epsilon):
    low, high = delta_bounds(
        sigma_squared=Fraction(variance), shift=shift, epsilon=Fraction(epsilon)
    )
    truth = brute_delta(float(variance), shift, float(epsilon))
    assert low <= high
    if truth > 1e-250:
        assert float(low) <= truth * (1 + 1e-8)
        assert float(high) >= truth * (1 - 1e-8)
        assert float(high - low) <= 1e-5 * float(high) + 1e-59


@pytest.mark.parametrize("epsilon", ["0.05", "0.2", "1"])
def test_both_ways_to_add_up_agree_at_the_limit(epsilon):
    low_a, high_a = delta_bounds(sigma_squared=Fraction(2500), shift=3, epsilon=Fraction(epsilon))
    nudged = Fraction(2500) + Fraction(1, 10**15)
    low_b, high_b = delta_bounds(sigma_squared=nudged, shift=3, epsilon=Fraction(epsilon))
    assert low_b <= high_a * (1 + Fraction(1, 10**9))
    assert low_a <= high_b * (1 + Fraction(1, 10**9))


def test_huge_shifts_are_as_fast_and_approach_the_continuous_law():
    low, high = delta_bounds(sigma_squared=Fraction(10**16), shift=5 * 10**7, epsilon=Fraction(1))
    assert float(low) == pytest.approx(continuous_delta(1e16, 5 * 10**7, 1.0), rel=1e-9)
    assert high - low < Fraction(1, 10**20)


def least_continuous_variance(epsilon, delta):
    low, high = 1e-4, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (
            (middle, high) if continuous_delta(middle, 1, epsilon) > delta else (low, middle)
        )
    return high


@pytest.mark.parametrize(("epsilon", "understated"), [(3, 1.35), (8, 2.5)])
def test_the_continuous_formula_understates_delta(epsilon, understated):
    """Worked number: calibrated continuously at 1e-6, the true delta is 1.4x and 3x as large."""
    variance = Fraction(least_continuous_variance(epsilon, 1e-6)).limit_denominator(10**9)
    low, _ = delta_bounds(sigma_squared=variance, shift=1, epsilon=Fraction(epsilon))
    assert float(low) > understated * 1e-6


@pytest.mark.parametrize(("constant", "fails_from"), [(1.25, 8.8), (2.0, 9.75)])
def test_the_classical_constants_are_insufficient_at_large_epsilon(constant, fails_from):
    """sigma = sqrt(2 ln(c/delta)) / epsilon, for the continuous law at delta 1e-6."""

    def truth(epsilon):
        variance = 2 * math.log(constant / 1e-6) / epsilon**2
        return continuous_delta(variance, 1, epsilon)

    assert truth(fails_from - 0.1) < 1e-6 < truth(fails_from + 0.1)


def test_delta_grows_with_the_shift():
    found = [
        delta_bounds(sigma_squared=Fraction(30), shift=shift, epsilon=Fraction(1))
        for shift in range(8)
    ]
    assert found[0] == (0, 0)
    assert all(first[1] < second[0] for first, second in pairwise(found))


def test_negligible_tails_are_still_upper_bounds():
    low, high = delta_bounds(sigma_squared=Fraction(1), shift=1, epsilon=Fraction(1000))
    assert low == 0
    assert 0 < high < Fraction(1, 10**50)
