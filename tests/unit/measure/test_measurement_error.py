"""What laws imply: means of noise, and limits that hold as often as they say."""

from fractions import Fraction
from math import pi, sqrt

import numpy as np
import pytest
from scipy.stats import binomtest

from discreet.measure.private_marginals import Measured, implied, too_small, whole
from discreet.measure.sealing import MemoryCounter
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from quality_kit import SHAPE, marginals_of, people

ALPHA = 1e-9


@pytest.mark.parametrize("scale", ["1/3", "1", "7"])
def test_the_mean_size_of_laplace_noise_is_its_sum(scale):
    ratio = np.exp(-1 / float(Fraction(scale)))
    sizes = np.arange(1, 2000)
    direct = float((2 * sizes * ratio**sizes).sum() * (1 - ratio) / (1 + ratio))
    assert LaplaceLaw.of(scale).mean_size == pytest.approx(direct)


def test_the_mean_size_of_gaussian_noise_is_just_below_the_continuous_one():
    continuous = sqrt(2 / pi) * 30
    assert 0.999 * continuous < GaussianLaw.of(900).mean_size <= continuous
    assert GaussianLaw.of(10**12).mean_size == pytest.approx(sqrt(2 / pi) * 10**6)
    assert GaussianLaw.of(Fraction(1, 100)).mean_size < 1e-10


def test_the_limit_holds_at_least_as_often_as_it_says_and_half_of_it_does_not():
    codes = people(1500)
    real = MemoryCounter(codes, SHAPE)
    exact = real.marginals([(0, 1)])[0]
    dice = np.random.default_rng(0)
    held = half = 0
    for seed in range(200):
        opened = marginals_of(codes, rho=Fraction(1, 100), seed=seed)
        [measured] = opened.measure([(0, 1)], share=Fraction(1))
        drawn = np.maximum(measured.values, 0).ravel()
        cells = dice.choice(drawn.size, 1500, p=drawn / drawn.sum())
        made = np.bincount(cells, minlength=drawn.size).reshape(exact.shape)

        class Made:
            def marginals(self, _wanted, made=made):
                return [made]

        bound = implied(measured, Made(), 1500, 1500).bound
        apart = np.abs(exact - made).sum() / 3000
        held += apart <= bound
        half += apart <= bound / 4
    # Never refuted at ALPHA as at least 95%; a limit four times smaller is.
    assert binomtest(held, 200, 0.95, alternative="less").pvalue > ALPHA
    assert binomtest(half, 200, 0.95, alternative="less").pvalue < ALPHA


def test_few_rows_at_a_small_epsilon_are_warned_of_and_many_are_not():
    law = GaussianLaw.of(10**4)
    few = [Measured((0,), np.zeros(11, dtype=np.int64), law)]
    assert "too few for this epsilon" in too_small(few, 500)
    assert too_small(few, 500_000) is None
    assert too_small([], 5) is None


def test_merged_tables_are_set_aside():
    law = GaussianLaw.of(1)
    mine = Measured((0,), np.zeros(11, dtype=np.int64), law)
    merged = Measured((0,), np.zeros(4, dtype=np.int64), law)
    assert whole([mine, merged], SHAPE) == [mine]
