from fractions import Fraction
from math import comb

import pytest
from scipy.special import betainc
from scipy.stats import beta

from discreet.errors import InvalidInput
from discreet.privacy.noise.error_bars import (
    beta_share,
    clopper_pearson,
    lower_limit,
    upper_limit,
    wilson,
)

CASES = [(0, 10), (10, 10), (1, 10), (70, 90), (3, 10**6), (500_000, 10**6), (999_990, 10**6)]


@pytest.mark.parametrize(("successes", "trials"), CASES)
@pytest.mark.parametrize("alpha", [0.025, 1e-9])
def test_limits_agree_with_scipy(successes, trials, alpha):
    low = 0 if successes == 0 else beta.ppf(alpha, successes, trials - successes + 1)
    high = 1 if successes == trials else beta.isf(alpha, successes + 1, trials - successes)
    assert lower_limit(successes, trials, alpha) == pytest.approx(low, rel=1e-6, abs=1e-15)
    assert upper_limit(successes, trials, alpha) == pytest.approx(high, rel=1e-6, abs=1e-15)


@pytest.mark.parametrize(("a", "b", "x"), [(1, 1, 0.3), (2, 5, 0.9), (1e5, 2e5, 0.33), (3, 4, 0)])
def test_beta_share_agrees_with_scipy(a, b, x):
    assert beta_share(a, b, x) == pytest.approx(betainc(a, b, x), rel=1e-8)


def at_least(successes, trials, chance):
    """The chance of so many successes or more, added up in fractions."""
    return sum(
        comb(trials, k) * chance**k * (1 - chance) ** (trials - k)
        for k in range(successes, trials + 1)
    )


@pytest.mark.parametrize("trials", range(1, 13))
def test_beta_share_is_the_binomial_sum(trials):
    for successes in range(1, trials + 1):
        for sixteenths in range(17):
            exact = at_least(successes, trials, Fraction(sixteenths, 16))
            share = beta_share(successes, trials - successes + 1, sixteenths / 16)
            assert share == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_both_limits_leave_half_of_the_rest_on_their_side(confidence):
    for trials in range(1, 9):
        for successes in range(trials + 1):
            low, high = clopper_pearson(successes, trials, confidence)
            if successes:
                assert at_least(successes, trials, low) == pytest.approx((1 - confidence) / 2)
            else:
                assert low == 0
            if successes < trials:
                fewer = 1 - at_least(successes + 1, trials, high)
                assert fewer == pytest.approx((1 - confidence) / 2)
            else:
                assert high == 1


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, 95])
def test_confidence_must_be_a_share(confidence):
    with pytest.raises(InvalidInput):
        clopper_pearson(1, 2, confidence)


def test_wilsons_limits_are_the_published_ones():
    # 15 of 148: .0624 to .1605 by hand from the closed form.
    low, high = wilson(15, 148, 1.96)
    assert low == pytest.approx(0.0624, abs=2e-4)
    assert high == pytest.approx(0.1605, abs=2e-4)
    assert wilson(0, 10, 1.96)[0] == 0.0
    assert wilson(10, 10, 1.96)[1] == pytest.approx(1.0)
