from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.noise.additive import discrete_gaussian_squared, discrete_laplace
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.testing.rng import SeededRng
from sittings import examples

scales = st.one_of(
    st.fractions(Fraction(1, 1000), 100),
    st.fractions(Fraction(1, 1000), 10**12),
    st.integers(1, 10**12).map(Fraction),
)
seeds = st.integers(0, 2**32)


@settings(max_examples=examples(40), deadline=None)
@given(scales, seeds)
def test_any_scale_can_be_drawn_and_stays_in_proportion(scale, seed):
    for draw, size in ((discrete_laplace, scale), (discrete_gaussian_squared, scale**2)):
        drawn = draw(size, 50, rng=SeededRng(seed))
        # 45 scales: a chance below 50 e^-45 = 1e-18 for each example.
        assert np.abs(drawn).max() <= 45 * scale + 1


@settings(max_examples=examples(40), deadline=None)
@given(scales, st.fractions(Fraction(1, 2), Fraction(9999, 10000)).filter(lambda c: c < 1))
def test_half_widths_are_least_and_grow(scale, confidence):
    for law in (LaplaceLaw(scale), GaussianLaw(min(scale, Fraction(200)) ** 2)):
        m = law.half_width(confidence)
        assert law.tail_bounds(m + 1)[0] <= 1 - confidence
        assert m == 0 or law.tail_bounds(m)[1] > 1 - confidence
        assert law.joint_half_width(3, confidence) >= m
        assert law.half_width((1 + confidence) / 2) >= m
