from fractions import Fraction

import pytest
from scipy.stats import binomtest

from discreet.privacy.noise.coins import ExpOdds, RationalOdds, flip
from discreet.testing.rng import FakeBits, SeededRng

ALPHA = 1e-9


def scripted(*words):
    return FakeBits(words)


def test_rational_odds_are_exact():
    assert RationalOdds(Fraction(1, 3)).bounds(4) == (5, 6)
    assert RationalOdds(Fraction(1, 4)).bounds(4) == (4, 4)


@pytest.mark.parametrize(
    ("odds", "exact"),
    [
        (RationalOdds(Fraction(1, 3)), Fraction(1, 3)),
        (RationalOdds(Fraction(5, 7)), Fraction(5, 7)),
        (ExpOdds(Fraction(1, 2)), None),
    ],
)
def test_ties_are_settled_by_the_next_words(odds, exact):
    # The first three words agree with the expansion of the probability; the fourth decides.
    low, high = odds.bounds(64 * 8)
    expansion = low >> 64 * 4
    assert expansion == high >> 64 * 4
    words = [(expansion >> 64 * (3 - i)) & (2**64 - 1) for i in range(4)]
    below, above = [*words[:3], words[3] - 1], [*words[:3], words[3] + 1]
    assert flip(odds, 1, scripted(*below)).tolist() == [True]
    assert flip(odds, 1, scripted(*above)).tolist() == [False]
    assert words[3] not in (0, 2**64 - 1)


def test_certain_and_impossible_coins_at_every_word():
    for word in (0, 1, 2**63, 2**64 - 1):
        assert flip(RationalOdds(Fraction(1)), 1, scripted(word)).tolist() == [True]
        assert flip(RationalOdds(Fraction(0)), 1, scripted(word)).tolist() == [False]


def test_half_is_decided_by_the_first_bit():
    half = RationalOdds(Fraction(1, 2))
    assert flip(half, 2, scripted(2**63 - 1, 2**63)).tolist() == [True, False]


@pytest.mark.parametrize("value", ["1/3", "0.1", "0.77"])
def test_law_of_rational_odds(value):
    heads = int(flip(RationalOdds(Fraction(value)), 100_000, SeededRng(1)).sum())
    right = float(Fraction(value))
    assert binomtest(heads, 100_000, right).pvalue > ALPHA
    for wrong in (0.9 * right, 1.1 * right):
        assert binomtest(heads, 100_000, wrong).pvalue < ALPHA


def test_the_least_possible_coin_is_right_at_its_last_word():
    least = RationalOdds(Fraction(1, 2**64))
    assert flip(least, 2, scripted(0, 1)).tolist() == [True, False]


def test_shape_is_kept():
    assert flip(RationalOdds(Fraction(1, 2)), (3, 4), SeededRng(1)).shape == (3, 4)
    assert flip(RationalOdds(Fraction(1, 2)), 0, SeededRng(1)).shape == (0,)
