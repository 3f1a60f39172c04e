import pytest
from scipy.special import betainc
from scipy.stats import beta

from discreet.errors import InvalidInput
from discreet.noise.bars.binomial import beta_share, clopper_pearson, lower_limit, upper_limit

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


def test_confidence_must_be_a_share():
    with pytest.raises(InvalidInput):
        clopper_pearson(1, 2, 95)
