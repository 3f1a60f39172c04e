"""Security test 8: the samplers have their laws, and a law that is 10% off would be caught.

False alarms: ALPHA = 1e-9 for each assertion.
"""

import os
from fractions import Fraction

import numpy as np
import pytest

from discreet.privacy.noise.additive import discrete_gaussian_squared, discrete_laplace
from discreet.privacy.noise.error_bars import combined_half_width
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.privacy.noise.rng import SystemRng
from discreet.testing.rng import SeededRng
from discreet.testing.statistics import assert_frequency, assert_law
from noise_kit import coverage

SEED = 20261115  # replayable on every push; real entropy in the full run
SHORT = ["0.3", "1", "7.5", "100", "1000000", "1000000000000"]
FULL = [*SHORT, "0.35", "0.5", "0.7", "2", "3.3", "12", "13", "30", "54.9", "55.1", "400", "12345"]
FULL += ["98765432.1", "10000000000"]


def source():
    return SystemRng() if os.environ.get("DISCREET_FULL") else SeededRng(SEED)


def check_laplace(scale, draws):
    sample = discrete_laplace(scale, draws, rng=source())
    wrong = [LaplaceLaw(Fraction(scale) * Fraction(f)) for f in ("0.9", "1.1")]
    assert_law(sample, LaplaceLaw.of(scale), wrong_laws=wrong)


def check_gaussian(sigma, draws):
    square = Fraction(sigma) ** 2
    sample = discrete_gaussian_squared(square, draws, rng=source())
    wrong = [GaussianLaw(square * Fraction(f)) for f in ("0.81", "1.21")]
    assert_law(sample, GaussianLaw(square), wrong_laws=wrong)


@pytest.mark.parametrize("scale", SHORT)
def test_discrete_laplace_has_its_law(scale):
    check_laplace(scale, 100_000)


@pytest.mark.parametrize("sigma", SHORT)
def test_discrete_gaussian_has_its_law(sigma):
    check_gaussian(sigma, 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("scale", FULL)
def test_discrete_laplace_has_its_law_in_full(scale):
    check_laplace(scale, 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", FULL)
def test_discrete_gaussian_has_its_law_in_full(sigma):
    check_gaussian(sigma, 1_000_000)


@pytest.mark.parametrize("scale", [1000, 10**6])
def test_low_digits_and_sign_are_right_too(scale):
    """Merged bins cannot see a wrong lowest digit: look at remainders by themselves."""
    for sample in (
        discrete_laplace(scale, 100_000, rng=source()),
        discrete_gaussian_squared(scale**2, 100_000, rng=source()),
    ):
        for bit in range(8):
            assert_frequency(int((sample >> bit & 1).sum()), sample.size, 0.495, 0.505)
        assert_frequency(int((sample < 0).sum()), sample.size, 0.4985, 0.5)


LAWS = [LaplaceLaw.of(s) for s in ("0.5", 1, 10, 5000)]
LAWS += [GaussianLaw.of(s) for s in (1, 100, 10**8)]


def draw(law, count):
    if isinstance(law, LaplaceLaw):
        return discrete_laplace(law.scale, count, rng=source())
    return discrete_gaussian_squared(law.sigma_squared, count, rng=source())


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_error_bars_hold_exactly_what_they_say(law, confidence):
    draws = 100_000
    m = law.half_width(confidence)
    held = int((np.abs(draw(law, draws)) <= m).sum())
    said = float(coverage(law, m))
    assert_frequency(held, draws, said, said)
    with pytest.raises(AssertionError):
        assert_frequency(held, draws, said - 0.03, said - 0.03)


@pytest.mark.parametrize("weights", [(1, -1), (1, 3), ("0.5", 2)])
def test_error_bars_of_sums_hold_what_they_say(weights):
    draws, first, second = 100_000, LaplaceLaw.of(3000), GaussianLaw.of(4_000_000)
    width = combined_half_width([(weights[0], first), (weights[1], second)], 0.95)
    rng = source()
    total = float(Fraction(weights[0])) * discrete_laplace(3000, draws, rng=rng)
    total = total + weights[1] * discrete_gaussian_squared(4_000_000, draws, rng=rng)
    held = int((np.abs(total) <= width).sum())
    assert_frequency(held, draws, 0.95, 0.952)
    with pytest.raises(AssertionError):
        assert_frequency(held, draws, 0.96, 0.97)
