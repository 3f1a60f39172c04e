"""Statements about choices that hold for every input."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.coins import BITS, exp_table
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.privacy.noise.select import exponential, permute_and_flip, threshold_for
from discreet.testing.rng import FakeBits, SeededRng
from noise_kit import appearance_bounds
from sittings import examples

SELECTORS = (exponential, permute_and_flip)
utilities_lists = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12)
seeds = st.integers(0, 2**32)
epsilons = st.fractions(Fraction(1, 100), 10, max_denominator=1000)


@given(utilities_lists, epsilons, seeds, st.integers(-(10**9), 10**9), st.integers(1, 50))
@settings(max_examples=examples(60), deadline=None)
def test_choices_do_not_see_the_origin_or_the_unit(utilities, epsilon, seed, shift, unit):
    array = np.array(utilities)
    for choose in SELECTORS:
        plain = choose(array, 1, epsilon, rng=SeededRng(seed))
        assert choose(array + shift, 1, epsilon, rng=SeededRng(seed)) == plain
        assert choose(array * unit, unit, epsilon, rng=SeededRng(seed)) == plain


@given(utilities_lists, epsilons, seeds)
@settings(max_examples=examples(60), deadline=None)
def test_the_work_does_not_depend_on_the_utilities(utilities, epsilon, seed):
    flat = np.zeros(len(utilities), dtype=np.int64)
    for choose in SELECTORS:
        used = []
        for array in (np.array(utilities), flat):
            bits = FakeBits([], then=SeededRng(seed))
            choose(array, 1, epsilon, rng=bits)
            used.append(bits.used)
        assert used[0] == used[1]


@given(st.data(), utilities_lists, epsilons, seeds)
@settings(max_examples=examples(60), deadline=None)
def test_a_candidate_without_weight_is_never_chosen(data, utilities, epsilon, seed):
    size = len(utilities)
    weights = data.draw(
        st.lists(st.integers(0, 1000), min_size=size, max_size=size).filter(any), label="weights"
    )
    chosen = exponential(utilities, 1, epsilon, weights=weights, rng=SeededRng(seed))
    assert weights[chosen] > 0


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20),
    st.fractions(Fraction(1, 10**12), 1000, max_denominator=10**12).filter(bool),
)
@settings(max_examples=examples(60), deadline=None)
def test_words_of_the_exponential_are_certified(gaps, rate):
    tables = exp_table(rate)
    words = tables.words(np.array(gaps, dtype=np.uint64))
    for gap, word in zip(gaps, words.tolist(), strict=True):
        low, high = exp_bounds(-gap * rate, BITS + 64)
        assert word << 64 <= high
        assert low <= (word + tables.slack) << 64


noises = st.one_of(
    st.builds(LaplaceLaw.of, st.fractions(Fraction(1, 10), 50, max_denominator=100)),
    st.builds(GaussianLaw.of, st.fractions(Fraction(1, 10), 500, max_denominator=100)),
)
deltas = st.integers(1, 40).map(lambda power: Fraction(1, 2**power))


@given(noises, deltas, st.integers(1, 30))
@settings(max_examples=examples(60), deadline=None)
def test_thresholds_are_sound_least_and_monotone(noise, delta, groups):
    threshold = threshold_for(noise, delta, max_groups=groups)
    assert appearance_bounds(noise, threshold, max_groups=groups)[1] <= delta
    assert appearance_bounds(noise, threshold - 1, max_groups=groups)[0] > delta
    assert threshold_for(noise, delta / 2, max_groups=groups) >= threshold
    assert threshold_for(noise, delta, max_groups=groups + 1) >= threshold
