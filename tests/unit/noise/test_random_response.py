import itertools
import math
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from discreet.errors import InvalidInput
from discreet.noise import random_response
from discreet.noise.exact.real_coins import RationalOdds, TruthOdds
from discreet.noise.random_response import (
    coin_epsilon,
    coin_response,
    randomized_response,
    randomized_response_kary,
)
from discreet.testing.rng import SeededRng

ALPHA = 1e-9
N = 100_000


def assert_chance(hits, right):
    assert binomtest(hits, N, right).pvalue > ALPHA
    step = 10 * math.sqrt(right * (1 - right) / N)  # ten standard deviations: always caught
    for wrong in (right - step, right + step):
        assert binomtest(hits, N, wrong).pvalue < ALPHA


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_binary_law(answer, epsilon):
    reports = randomized_response(np.full(N, answer), epsilon, rng=SeededRng(1))
    keep = 1 / (1 + math.exp(-float(epsilon)))
    assert_chance(int(reports.sum()), keep if answer else 1 - keep)


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


@pytest.mark.parametrize("code", [0, 2, 4])
def test_kary_law(code):
    k, epsilon = 5, 1.0
    reports = randomized_response_kary(np.full(N, code), k, epsilon, rng=SeededRng(1))
    power = math.exp(epsilon)
    law = np.full(k, 1 / (power + k - 1))
    law[code] = power / (power + k - 1)
    counts = np.bincount(reports, minlength=k)
    assert chisquare(counts, law * N).pvalue > ALPHA
    wrong = np.full(k, 1 / (1 + power) / (k - 1))
    wrong[code] = power / (1 + power)
    assert chisquare(counts, wrong * N).pvalue < ALPHA


def test_two_codes_are_the_binary_law():
    reports = randomized_response_kary(np.ones(N, int), 2, 1, rng=SeededRng(1))
    assert_chance(int(reports.sum()), 1 / (1 + math.exp(-1)))


def test_shape_and_type():
    assert randomized_response([[0, 1]], 1).shape == (1, 2)
    assert randomized_response([0, 1], 1).dtype == np.int64
    assert randomized_response_kary([[0], [1]], 3, 1).shape == (2, 1)
    assert randomized_response_kary(np.array([], dtype=int), 3, 1).shape == (0,)


def test_nonsense_is_refused():
    with pytest.raises(InvalidInput):
        randomized_response([2], 1)
    with pytest.raises(InvalidInput):
        randomized_response([0.5], 1)
    with pytest.raises(InvalidInput):
        randomized_response([1], 0)
    with pytest.raises(InvalidInput, match="no privacy"):
        coin_response([1], 1)
    for codes, k in (([0], 1), ([3], 3), ([-1], 3), ([0.0], 3)):
        with pytest.raises(InvalidInput):
            randomized_response_kary(codes, k, 1)
    for truth in (-1, "-0.001", 1, 2):
        with pytest.raises(InvalidInput):
            coin_response([1], truth)
        with pytest.raises(InvalidInput):
            coin_epsilon(truth)
    with pytest.raises(InvalidInput):
        randomized_response(["yes"], 1)


def test_the_greatest_choice():
    assert randomized_response_kary([2**31 - 1], 2**31, 90).tolist() == [2**31 - 1]
    for k in (1, 2**31 + 1):
        with pytest.raises(InvalidInput):
            randomized_response_kary([0], k, 1)


def test_every_pair_of_own_and_other_code(monkeypatch):
    k = 5
    for own, other in itertools.product(range(k), range(k - 1)):
        monkeypatch.setattr(
            random_response, "uniform", lambda n, shape, rng, o=other: np.full(shape, o)
        )
        for keep in (True, False):
            monkeypatch.setattr(
                random_response, "flip", lambda odds, shape, rng, t=keep: np.full(shape, t)
            )
            said = randomized_response_kary([own], k, 1).tolist()
            others = [code for code in range(k) if code != own]
            assert said == [own if keep else others[other]]


def test_what_the_coins_of_a_choice_are_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(
        random_response, "uniform", lambda n, shape, rng: asked.append(n) or np.zeros(shape, int)
    )
    monkeypatch.setattr(
        random_response, "flip", lambda odds, shape, rng: asked.append(odds) or np.ones(shape, bool)
    )
    randomized_response_kary([0, 1], 7, "0.5")
    assert asked == [TruthOdds(Fraction(1, 2), 6), 6]
    randomized_response([0], 2)
    assert asked[2:] == [TruthOdds(Fraction(2), 1)]
    coin_response([0], "0.25")
    assert asked[3:] == [RationalOdds(Fraction(1, 4)), RationalOdds(Fraction(1, 2))]


def test_every_pair_of_coins(monkeypatch):
    for answer, tells, coin in itertools.product((False, True), repeat=3):
        sides = [tells, coin]
        monkeypatch.setattr(
            random_response, "flip", lambda odds, shape, rng, s=sides: np.full(shape, s.pop(0))
        )
        assert coin_response([answer], "0.5").tolist() == [int(answer if tells else coin)]
    for answer, keep in itertools.product((False, True), repeat=2):
        monkeypatch.setattr(
            random_response, "flip", lambda odds, shape, rng, t=keep: np.full(shape, t)
        )
        assert randomized_response([answer], 1).tolist() == [int(answer == keep)]


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
