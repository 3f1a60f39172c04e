import numpy as np
import pytest
from scipy import stats

from discreet.errors import InvalidInput
from discreet.privacy.noise.laws import LaplaceLaw
from discreet.testing.statistics import assert_frequency, assert_law, chi_square_pvalue, upper_gamma


@pytest.mark.parametrize("degrees", [1, 2, 7, 50, 399])
@pytest.mark.parametrize("factor", [0.01, 0.5, 0.9, 1.0, 1.1, 2.0, 6.0])
def test_upper_gamma_is_the_chi_square_tail(degrees, factor):
    expected = stats.chi2.sf(degrees * factor, degrees)
    assert upper_gamma(degrees / 2, degrees * factor / 2) == pytest.approx(
        expected, rel=1e-9, abs=1e-14
    )


def test_pvalues_are_uniform_under_the_right_law():
    generator = np.random.default_rng(1)
    edges = np.arange(1, 6)

    def above(k):
        return 1 - k / 6

    values = [chi_square_pvalue(generator.integers(0, 6, 600), above, edges) for _ in range(400)]
    assert stats.kstest(values, "uniform").pvalue > 1e-9
    assert np.mean(np.array(values) < 0.05) > 0.01


def test_assert_law_has_two_sides():
    generator = np.random.default_rng(2)
    t = np.exp(-1 / 4)
    sample = generator.geometric(1 - t, 50_000) - generator.geometric(1 - t, 50_000)
    right, wrong = LaplaceLaw.of(4), LaplaceLaw.of(5)
    assert_law(sample, right, wrong_laws=[wrong])
    with pytest.raises(AssertionError, match="right law was rejected"):
        assert_law(sample, wrong, wrong_laws=[])
    with pytest.raises(AssertionError, match="could not have caught"):
        assert_law(sample, right, wrong_laws=[LaplaceLaw.of("4.0001")])


def test_a_sample_that_can_show_nothing_is_refused():
    with pytest.raises(InvalidInput, match="too small"):
        assert_law(np.zeros(1000, dtype=np.int64), LaplaceLaw.of("0.01"), wrong_laws=[])


def test_assert_frequency_has_two_sides():
    assert_frequency(500, 1000, 0.5, 0.5)
    with pytest.raises(AssertionError, match="too often"):
        assert_frequency(700, 1000, 0.4, 0.5)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(300, 1000, 0.5, 0.6)
