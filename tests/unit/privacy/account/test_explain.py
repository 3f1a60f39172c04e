import math

import pytest

from discreet.base.numbers import Epsilon
from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.privacy.account.explain import (
    answer_sentences,
    belief,
    beside_facts_sentence,
    explain,
    factor,
    one_sentence,
    truth_probability,
)


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


@pytest.mark.parametrize(
    ("neighbours", "comparisons", "worlds"),
    [
        ("add-remove", ["taking part", "a value of someone who takes part"], "you not taking part"),
        ("replace-one", ["a row replaced by any other"], "replaced by any other"),
    ],
)
def test_a_dataset_s_neighbours_decide_which_worlds_are_compared(neighbours, comparisons, worlds):
    found = explain(1, neighbours=neighbours)
    assert [each.comparison.value[0] for each in found.promises] == comparisons
    assert worlds in found.text
    assert ("people take part is public" in found.text) == (neighbours == "replace-one")
    assert found.text.count("74%") == 1
    assert found.text.count("89%") == len(comparisons) - 1
    assert "neighbours" not in found.text
    assert found.factor == found.promises[0].factor == pytest.approx(math.e)
    assert found.beliefs == found.promises[0].beliefs


def test_an_epsilon_alone_is_explained_for_both():
    found = explain(1)
    assert len(found.promises) == 3
    assert "Under add-remove neighbours, compared with you not taking part" in found.text
    assert "Under replace-one neighbours, compared with your row" in found.text
    with pytest.raises(InvalidInput, match="add-remove or replace-one"):
        explain(1, neighbours="both")


def test_delta_is_said_with_each_and_grows_with_two_steps():
    found = explain(1, delta="1e-9", neighbours=Neighbours.ADD_REMOVE)
    first, second = (each.delta for each in found.promises)
    assert first == pytest.approx(1e-9)
    assert second == pytest.approx((1 + math.e) * 1e-9)
    assert found.text.count("except with probability about 1e-9") == 3  # odds, belief, coins
    assert found.text.count("except with probability about 3.8e-9") == 2
    assert "probability" not in explain(1).text


def test_an_answer_of_one_s_own_device_is_one_step():
    odds, even, coins, strength = answer_sentences(1)
    assert "anything else you might have answered" in odds
    assert "74%" in even
    assert "47%" in coins
    assert strength.startswith("This is strong")
    assert "89%" not in f"{odds} {even} {coins}"


def test_beside_exact_facts_only_values_are_compared():
    said = [
        beside_facts_sentence(1, delta="1e-9", neighbours=each)
        for each in ("add-remove", "replace-one")
    ]
    assert "7.39 times, except with probability about 3.8e-9" in said[0]
    assert "2.72 times, except with probability about 1e-9" in said[1]
    assert not any("not taking part" in each for each in said)


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
