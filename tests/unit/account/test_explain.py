import math

import pytest

from discreet.account.explain import belief, explain, factor, one_sentence, truth_probability
from discreet.core.numbers import Epsilon


def test_the_factor_is_e_to_the_epsilon_and_not_epsilon():
    """One document says 'epsilon 1 is a factor of 3', another 'ln 3, where 3 is epsilon'."""
    assert round(explain(Epsilon.of(1)).factor, 3) == 2.718
    assert factor(math.log(3)) == pytest.approx(3)


def test_the_fair_coin_survey_tells_the_truth_half_of_the_time():
    """P(yes|yes) = 3/4, P(yes|no) = 1/4, epsilon = ln 3, q = tanh(epsilon/2) = 1/2."""
    q = truth_probability(math.log(3))
    assert q == pytest.approx(0.5)
    assert (1 + q) / 2 == pytest.approx(3 / 4)
    assert (1 - q) / 2 == pytest.approx(1 / 4)
    for epsilon in (0.01, 1.0, 5.0):
        told = truth_probability(epsilon)
        assert math.log((1 + told) / (1 - told)) == pytest.approx(epsilon)


def test_beliefs_move_by_the_factor_in_odds():
    row = belief(1.0, 0.01)
    odds = row.highest / (1 - row.highest) / (0.01 / 0.99)
    assert odds == pytest.approx(math.e)
    assert row.lowest < row.before < row.highest


def test_always_said_against_not_taking_part():
    for written in ("0.01", "1", "5", "20"):
        assert "ompared with you not taking part" in explain(Epsilon.of(written)).text
        assert "ompared with you not taking part" in one_sentence(Epsilon.of(written))
    assert "1.29 times" in one_sentence(Epsilon.of("0.25"))


def test_small_epsilons_do_not_sound_like_warnings():
    for written in ("0.001", "0.1", "0.5", "1"):
        text = explain(Epsilon.of(written)).text.lower()
        assert "strong" in text
        for word in ("weak", "warning", "only", "careful", "next to nothing"):
            assert word not in text


@pytest.mark.parametrize(("written", "said"), [("3.1", "weak"), ("8", "weak"), ("8.1", "nothing")])
def test_large_epsilons_are_not_flattered(written, said):
    found = explain(Epsilon.of(written))
    assert said in found.strength
    assert "worst case" in found.text


def test_total_speaks_of_all_questions():
    found = explain(Epsilon.of("0.5"), total=Epsilon.of(10))
    assert "All questions together may use 10" in found.text
    assert "next to nothing" in found.text
    assert found.strength == "strong"


def test_numbers_are_never_rounded_into_comfort():
    huge = explain(Epsilon.of(1000))
    assert "100%" not in huge.text
    assert "more than a million times" in huge.text
    assert "more than 99.99%" in huge.text
    tiny = explain(Epsilon.of("0.0001"))
    assert "0%" not in tiny.text.replace("50%", "").replace("less than 0.01%", "")
    assert "1.01 times" in tiny.text
    assert math.isfinite(huge.factor)
