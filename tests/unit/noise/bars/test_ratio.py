import math

import numpy as np
import pytest

from discreet import noise
from discreet.noise.bars.ratio import GRID, noisy_number, ratio_box, ratio_interval
from discreet.noise.bars.spread import combined_half_width
from discreet.noise.laws import GaussianLaw, LaplaceLaw
from discreet.testing.laws import assert_frequency
from discreet.testing.rng import SeededRng

ONE = LaplaceLaw.of(1)


def test_fieller_is_inside_the_box():
    top, bottom = noisy_number(500, ONE), noisy_number(100, ONE)
    exact, safe = ratio_interval(top, bottom, 0.95), ratio_box(top, bottom, 0.95)
    assert safe.low < exact.low < 5 < exact.high < safe.high


def test_agrees_with_the_textbook_for_gaussian_noise():
    top = noisy_number(50_000, GaussianLaw.of(10**6))
    bottom = noisy_number(20_000, GaussianLaw.of(4 * 10**6))
    got = ratio_interval(top, bottom, 0.95)
    z, a, b, va, vb = 1.959964, 5e4, 2e4, 1e6, 4e6
    f = b * b - z * z * vb
    root = math.sqrt((a * b) ** 2 - (a * a - z * z * va) * f)
    assert got.low == pytest.approx((a * b - root) / f, rel=0.01)
    assert got.high == pytest.approx((a * b + root) / f, rel=0.01)


def test_is_unbounded_where_the_denominator_may_be_zero():
    for build in (ratio_interval, ratio_box):
        assert not build(noisy_number(5, ONE), noisy_number(2, ONE), 0.95).bounded


def test_units_scale_the_interval():
    whole = ratio_interval(noisy_number(500, ONE), noisy_number(100, ONE), 0.95)
    cents = ratio_interval(noisy_number(5, ONE, "0.01"), noisy_number(100, ONE), 0.95)
    assert cents.low == pytest.approx(whole.low / 100, rel=1e-3)
    assert cents.high == pytest.approx(whole.high / 100, rel=1e-3)


def test_covers_as_promised():
    """The interval holds 5 if and only if |top - 5 bottom| is within its half width."""
    trials, scale, level = 100_000, 4, 0.8
    rng = SeededRng(12)
    law = LaplaceLaw.of(scale)
    tops = 300 + noise.discrete_laplace(scale, trials, rng=rng)
    bottoms = 60 + noise.discrete_laplace(scale, trials, rng=rng)
    width = combined_half_width([(1, law), (-5, law)], level, cells=GRID)
    holds = np.abs(tops - 5 * bottoms) <= width
    for lane in range(12):
        pair = noisy_number(int(tops[lane]), law), noisy_number(int(bottoms[lane]), law)
        interval, box = ratio_interval(*pair, level), ratio_box(*pair, level)
        assert (interval.low <= 5 <= interval.high) == holds[lane]
        assert box.low <= interval.low <= interval.high <= box.high
    assert_frequency(int(holds.sum()), trials, level, level + 0.02)
    with pytest.raises(AssertionError):
        assert_frequency(int(holds.sum()), trials, level + 0.04, 1.0)
