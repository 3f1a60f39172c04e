import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from discreet.errors import InvalidInput
from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.coins import exp_table, flip_exp, uniform
from discreet.privacy.noise.rng import SYSTEM
from discreet.testing.rng import FakeBits, SeededRng

ALPHA = 1e-9
N = 100_000


def scripted(*words):
    return FakeBits(words)


def coins(gaps, rate, *, rng=SYSTEM):
    return flip_exp(np.asarray(gaps, dtype=np.uint64), Fraction(rate), rng)


def assert_chance(heads, trials, right, wrongs):
    assert binomtest(heads, trials, right).pvalue > ALPHA
    for wrong in wrongs:
        assert binomtest(heads, trials, wrong).pvalue < ALPHA


def test_law_of_flip_exp():
    gaps = np.arange(6).repeat(N)
    heads = coins(gaps, "0.3", rng=SeededRng(1)).reshape(6, N).sum(axis=1)
    assert heads[0] == N
    for gap in range(1, 6):
        right = math.exp(-0.3 * gap)
        assert_chance(int(heads[gap]), N, right, (0.92 * right, 1.08 * right))


def test_law_of_flip_exp_over_several_bytes():
    gap, rate = 70_001, Fraction(1, 50_000)
    heads = int(coins(np.full(N, gap), rate, rng=SeededRng(1)).sum())
    right = math.exp(-gap * rate)
    assert_chance(heads, N, right, (0.9 * right, 1.1 * right))


@pytest.mark.parametrize(("gap", "rate"), [(3, Fraction(1, 2)), (70_001, Fraction(1, 50_000))])
def test_draws_between_the_bounds_are_settled_exactly(gap, rate):
    slack = exp_table(rate).slack
    low, _ = exp_bounds(-gap * rate, 64 * 8)
    first = low >> 64 * 7
    # Every word near the boundary, the boundary itself with the next word on either side.
    for offset in range(-3 * slack, 3 * slack + 1):
        if offset:
            coin = coins([gap], rate, rng=scripted(first + offset))
            assert coin.tolist() == [offset < 0]
    second = (low >> 64 * 6) & (2**64 - 1)
    assert coins([gap], rate, rng=scripted(first, second - 1)).tolist() == [True]
    assert coins([gap], rate, rng=scripted(first, second + 1)).tolist() == [False]


def test_far_gaps_are_still_possible_and_impossible_ones_refused():
    # exp(-100): the first word must be 0 and the next ones decide; bits 0 .. 144 are zero.
    low, _ = exp_bounds(Fraction(-100), 64 * 4)
    words = [(low >> 64 * (3 - i)) & (2**64 - 1) for i in range(4)]
    assert words[0] == words[1] == 0
    assert coins([100], 1, rng=scripted(0, 0, words[2] - 1)).tolist() == [True]
    assert coins([100], 1, rng=scripted(0, 0, words[2] + 1)).tolist() == [False]
    assert coins([2**63 - 1], 1, rng=scripted(1000)).tolist() == [False]


def test_one_word_for_each_coin_whatever_the_gap():
    class Counting:
        drawn = 0

        def words(self, count):
            self.drawn += count
            return SeededRng(9).words(count)

    for gaps in (np.zeros(50, int), np.full(50, 2**62), np.arange(50)):
        rng = Counting()
        coins(gaps, "0.001", rng=rng)
        assert rng.drawn == 50


def test_rate_zero_is_certain():
    assert coins([5, 10**12], 0).all()


def test_uniform_covers_its_range():
    assert set(uniform(5, 1000, rng=SeededRng(1)).tolist()) == set(range(5))
    assert int(uniform(2**63, 100, rng=SeededRng(1)).min()) >= 0
    assert uniform(3, (2, 2)).shape == (2, 2)


def test_a_range_without_meaning_is_refused():
    for count in (0, 2**63 + 1):
        with pytest.raises(InvalidInput):
            uniform(count, 1)


@pytest.mark.parametrize(("count", "words"), [(2**32, 1), (2**32 + 1, 2), (2**63, 2)])
def test_uniform_takes_the_words_that_it_needs(count, words):
    rng = scripted(*[2**63] * words)
    assert uniform(count, 1, rng=rng).tolist() == [count // 2]
    assert rng.used == words
