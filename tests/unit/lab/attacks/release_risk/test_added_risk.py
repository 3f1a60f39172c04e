import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.release_risk.releases import difference, split_of_hits
from discreet.privacy.noise.error_bars import wilson

Z95 = 1.959963984540054


def test_newcombes_interval_is_made_of_two_of_wilsons():
    risk = difference(56, 42, 70)
    low1, high1 = wilson(56, 70, Z95)
    low2, high2 = wilson(42, 70, Z95)
    assert risk.value == pytest.approx(0.2)
    assert risk.low == pytest.approx(0.2 - ((0.8 - low1) ** 2 + (high2 - 0.6) ** 2) ** 0.5)
    assert risk.high == pytest.approx(0.2 + ((high1 - 0.8) ** 2 + (0.6 - low2) ** 2) ** 0.5)
    assert risk.found


def test_the_split_of_hits_is_exact():
    assert not split_of_hits(5, 0, 10).found, "five of five: 1/2^5 on each side is above 2.5%"
    assert split_of_hits(6, 0, 10).found, "six of six is below"
    assert split_of_hits(0, 6, 10).high < 0


def test_no_hits_mean_no_risk():
    risk = split_of_hits(0, 0, 10)
    assert (risk.value, risk.low, risk.high, risk.found) == (0.0, 0.0, 0.0, False)


def test_a_score_says_what_strangers_give():
    score = difference(80, 30, 100).score()
    assert (score.success, score.baseline) == (0.8, 0.3)
    assert score.low < 0.8 < score.high


def test_nothing_to_guess_is_an_error_and_so_are_impossible_counts():
    with pytest.raises(InvalidInput, match="Nothing could be guessed"):
        difference(0, 0, 0)
    with pytest.raises(InvalidInput, match="more right guesses"):
        split_of_hits(11, 0, 10)
