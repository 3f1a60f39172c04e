"""The membership game: adversaries on made-up scores, and intervals over models from both sides."""

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.membership.game import (
    ADVERSARIES,
    Played,
    auc_ceiling,
    coins,
    threshold_for,
)
from discreet.lab.attacks.membership.scores import auc_score, clustered_auc, low_rates
from discreet.privacy.noise.error_bars import clopper_pearson


def made_up(models, people, *, gain, seed, luck=0.0):
    """Return scores with a level for each person, a gain for members, and luck that a model shares."""
    dice = np.random.default_rng(seed)
    inside = coins(models, people, dice)
    scores = dice.normal(0, 2, people)[None, :] + gain * inside + dice.normal(0, 1, inside.shape)
    scores = scores + luck * dice.normal(0, 1, (models, 1))
    return Played(scores, inside, np.arange(people) % 2)


def auc_of(name, played, shadows):
    known, guessed = played.only(slice(None, shadows)), played.only(slice(shadows, None))
    return clustered_auc(ADVERSARIES[name](known, guessed), guessed.inside)


def test_the_likelihood_ratio_knows_each_person_and_the_loss_does_not():
    played = made_up(40, 300, gain=2.0, seed=1)
    ratio, loss = (auc_of(name, played, 28) for name in ("likelihood-ratio", "loss"))
    assert loss.low > 0.65  # P(N(2, 5 + 5) > 0) = .736
    assert ratio.low > 0.9  # P(N(2, 1 + 1) > 0) = .921
    assert auc_of("shadow", played, 28).low > 0.65


@pytest.mark.parametrize("name", ADVERSARIES)
def test_nothing_is_found_where_nothing_is(name):
    """Three tests at a level of 1e-4: t of 11 degrees of freedom is below 5.9 then."""
    played = made_up(40, 300, gain=0.0, seed=2)
    score = auc_of(name, played, 28)
    assert abs(score.success - 0.5) < 5.9 * (score.high - score.low) / (2 * 2.2)


def test_the_threshold_keeps_its_rate():
    played = made_up(60, 400, gain=2.0, seed=3)
    known, guessed = played.only(slice(None, 40)), played.only(slice(40, None))
    adversary = ADVERSARIES["likelihood-ratio"]
    bar = threshold_for(adversary, known, 0.01)
    rates = low_rates(adversary(known, guessed), guessed.inside, bar, (1.0, 0.0))
    assert 0.005 < rates.false[0] < 0.02
    assert rates.true[1] > 0.2
    assert rates.excess is not None
    assert rates.excess[1] > 0, "a gain of two spreads is more than epsilon 1 allows"
    assert set(rates.to_json()) == {"true_positives", "false_positives", "beyond_epsilon"}


def test_intervals_are_over_models_and_a_twin_over_people_is_caught():
    """200 games of 12 models that share luck: at 1 - 2e-9 the coverage is not below 95% by much."""
    held = twin = 0
    games = 200
    for seed in range(games):
        played = made_up(12, 40, gain=0.0, seed=seed, luck=2.0)
        score = clustered_auc(played.scores, played.inside)
        held += score.low <= 0.5 <= score.high
        plain = auc_score(played.scores[played.inside], played.scores[~played.inside])
        # A single model's own share of members moves the plain area: its interval ignores that.
        twin += plain.low <= 0.5 <= plain.high
    assert clopper_pearson(held, games, 1 - 2e-9)[1] > 0.95
    assert held > twin


def test_the_ceiling_is_that_of_the_issue():
    assert auc_ceiling(1.0, 0.0) == pytest.approx(0.731, abs=5e-4)
    assert auc_ceiling(0.0, 0.0) == 0.5
    assert auc_ceiling(1e9, 0.0) == 1.0


def test_few_models_have_no_interval():
    played = made_up(3, 40, gain=0.0, seed=0)
    with pytest.raises(InvalidInput, match="at least 4"):
        clustered_auc(played.scores, played.inside)
