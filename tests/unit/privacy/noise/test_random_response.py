import itertools
import math
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from discreet.errors import InvalidInput
from discreet.privacy.noise import random_response
from discreet.privacy.noise.coins import RationalOdds
from discreet.privacy.noise.random_response import coin_epsilon, coin_response
from discreet.testing.rng import SeededRng

ALPHA = 1e-9
N = 100_000


def assert_chance(hits, right):
    assert binomtest(hits, N, right).pvalue > ALPHA
    step = 10 * math.sqrt(right * (1 - right) / N)  # ten standard deviations: always caught
    for wrong in (right - step, right + step):
        assert binomtest(hits, N, wrong).pvalue < ALPHA


def test_fair_coins():
    # P(yes | yes) = 3/4, P(yes | no) = 1/4, epsilon = ln 3.
    for answer, right in ((True, 0.75), (False, 0.25)):
        reports = coin_response(np.full(N, answer), "1/2", rng=SeededRng(1))
        assert_chance(int(reports.sum()), right)
    assert math.isclose(coin_epsilon("1/2"), math.log(3), abs_tol=1e-12)


@pytest.mark.parametrize("truth", ["0.1", "0.9"])
def test_coins_of_any_honesty(truth):
    share = float(truth)
    for answer, right in ((True, (1 + share) / 2), (False, (1 - share) / 2)):
        reports = coin_response(np.full(N, answer), truth, rng=SeededRng(1))
        assert_chance(int(reports.sum()), right)


@pytest.mark.parametrize("truth", ["0.5", "0.001", "0.999999", "1/3"])
def test_coin_epsilon_is_rounded_up_and_only_just(truth):
    share = Fraction(truth)
    exact = math.log((1 + share) / (1 - share))
    assert -1e-13 < float(coin_epsilon(truth)) - exact < 1.1e-12


def test_coin_epsilon_of_no_truth_is_nothing():
    assert coin_epsilon(0) == 0


def test_shape_and_type():
    said = coin_response([[0, 1]], "0.5")
    assert (said.shape, said.dtype) == ((1, 2), np.int64)
    assert coin_response(np.zeros(0, bool), "0.5").shape == (0,)


def test_nonsense_is_refused():
    for answers in ([2], [0.5], ["yes"]):
        with pytest.raises(InvalidInput):
            coin_response(answers, "0.5")
    with pytest.raises(InvalidInput, match="no privacy"):
        coin_response([1], 1)
    for truth in (-1, "-0.001", 1, 2):
        with pytest.raises(InvalidInput):
            coin_response([1], truth)
        with pytest.raises(InvalidInput):
            coin_epsilon(truth)


def test_what_the_coins_are_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(
        random_response, "flip", lambda odds, shape, rng: asked.append(odds) or np.ones(shape, bool)
    )
    coin_response([0], "0.25")
    assert asked == [RationalOdds(Fraction(1, 4)), RationalOdds(Fraction(1, 2))]


def test_every_pair_of_coins(monkeypatch):
    for answer, tells, coin in itertools.product((False, True), repeat=3):
        sides = [tells, coin]
        monkeypatch.setattr(
            random_response, "flip", lambda odds, shape, rng, s=sides: np.full(shape, s.pop(0))
        )
        assert coin_response([answer], "0.5").tolist() == [int(answer if tells else coin)]


@pytest.mark.parametrize(
    "truth", ["0.0000000000001", "1/3", "0.5", "0.99", "0.9999999999999999999"]
)
def test_coin_epsilon_is_the_least_of_12_digits(truth):
    share = Fraction(truth)
    with localcontext() as context:
        context.prec = 60
        ratio = Decimal((1 + share).numerator) / (1 + share).denominator
        ratio /= Decimal((1 - share).numerator) / (1 - share).denominator
        least = (ratio.ln() * 10**12).to_integral_value(ROUND_CEILING)
    assert coin_epsilon(truth) == Fraction(int(least), 10**12)
