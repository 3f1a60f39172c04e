import math

import pytest

from discreet.audit.bounds import (
    GuessCount,
    LossMeasure,
    epsilon_from_guesses,
    epsilon_from_one_run,
    epsilon_from_shares,
    mu_from_shares,
)


def test_no_guess_shows_nothing():
    assert epsilon_from_guesses(0, 0, alpha=0.05) == 0
    assert epsilon_from_guesses(4, 10, alpha=0.05) == 0


def test_only_right_guesses_grow_with_the_logarithm():
    # 0 wrong of n: the limit solves p^n = alpha.
    share = 0.05 ** (1 / 1000)
    assert epsilon_from_guesses(1000, 1000, alpha=0.05) == pytest.approx(
        math.log(share / (1 - share)), rel=1e-6
    )


def test_one_run_without_delta_is_the_binomial_game():
    one = epsilon_from_one_run(900, 1000, 1000, delta=0.0, alpha=0.05)
    assert one == pytest.approx(epsilon_from_guesses(900, 1000, alpha=0.05), abs=1e-6)
    assert epsilon_from_one_run(900, 1000, 1000, delta=1e-4, alpha=0.05) < one
    assert epsilon_from_one_run(500, 1000, 1000, delta=0.0, alpha=0.05) == 0


def test_shares_and_mu():
    assert epsilon_from_shares(5000, 100, (10_000, 10_000), delta=0.0, alpha=0.05) < math.log(50)
    assert epsilon_from_shares(100, 0, (10_000, 10_000), delta=0.02, alpha=0.05) == 0
    assert mu_from_shares(8413, 5000, (10_000, 10_000), alpha=0.05) == pytest.approx(1, abs=0.06)
    assert mu_from_shares(10_000, 0, (10_000, 10_000), alpha=0.05) > 6


def test_an_unfair_coin_falls_back_on_shares():
    tally = GuessCount(900, 100, 900, 100, 1000, 1000)
    assert LossMeasure(fair=False).bound(tally, alpha=0.05) < LossMeasure().bound(tally, alpha=0.05)


def test_a_lucky_rule_of_few_guesses_is_not_chosen_where_the_measurement_is_strict():
    lucky = GuessCount(560, 440, 560, 440, 150_000, 150_000)
    honest = GuessCount(78_750, 71_250, 78_750, 71_250, 150_000, 150_000)  # 52.5%: epsilon 0.1
    strict, loose = LossMeasure(alpha=1e-9), LossMeasure()
    assert strict.promise(honest) > strict.promise(lucky)
    assert loose.promise(honest) < loose.promise(lucky), "nothing to be strict about"
