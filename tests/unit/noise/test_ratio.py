import math

import numpy as np
import pytest

from discreet import noise
from discreet.noise.ratio import noisy_number, ratio_box, ratio_interval
from discreet.noise.spread import GaussianLaw, LaplaceLaw
from discreet.testing.laws import ALPHA, assert_frequency
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
    trials, scale = 300, 4
    rng = SeededRng(12)
    law = LaplaceLaw.of(scale)
    tops = 300 + noise.discrete_laplace(scale, trials, rng=rng)
    bottoms = 60 + noise.discrete_laplace(scale, trials, rng=rng)
    held = np.zeros(2, dtype=int)
    for top, bottom in zip(tops.tolist(), bottoms.tolist(), strict=True):
        pair = noisy_number(top, law), noisy_number(bottom, law)
        interval, box = ratio_interval(*pair, 0.8), ratio_box(*pair, 0.8)
        held += [interval.low <= 5 <= interval.high, box.low <= 5 <= box.high]
    # Fieller's set is nearly exact; the box holds more.
    assert_frequency(int(held[0]), trials, 0.8, 0.84)
    assert_frequency(int(held[1]), trials, 0.8, 1.0)
    with pytest.raises(AssertionError):
        assert_frequency(int(held[0]), trials, 0.95, 1.0)
    assert ALPHA < 1e-6
