import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.membership.scores import auc_score
from discreet.privacy.noise.error_bars import clopper_pearson


def test_area_counts_pairs_and_halves_ties():
    members, others = np.array([1.0, 2, 2, 5]), np.array([0.0, 2, 3])
    pairs = members[:, None] - others[None, :]
    assert auc_score(members, others).success == pytest.approx(
        ((pairs > 0) + 0.5 * (pairs == 0)).mean()
    )
    assert auc_score(others, members).success == pytest.approx(
        1 - auc_score(members, others).success
    )


def test_people_told_apart_without_error_are_not_told_apart_for_sure():
    score = auc_score(np.arange(10.0) + 100, np.arange(10.0))
    assert score.success == 1.0
    assert score.high == 1.0
    assert 0.6 < score.low < 0.75  # no error among ten says at most this much: 0.025 ** (1 / 10)


def test_nobody_to_compare():
    with pytest.raises(InvalidInput):
        auc_score(np.array([]), np.array([1.0]))


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """At 600 repetitions the exact limits of 95% miss with probability 1e-9 on each side."""
    dice = np.random.default_rng(3)
    true = 0.7602499389065233  # P(N(1, 1) > N(0, 1)) = Phi(1 / sqrt 2)
    held = narrow = 0
    repetitions = 600
    for _ in range(repetitions):
        score = auc_score(dice.standard_normal(60) + 1, dice.standard_normal(60))
        held += score.low <= true <= score.high
        half = (score.high - score.low) / 4
        narrow += abs(score.success - true) <= half
    low, high = clopper_pearson(held, repetitions, 1 - 2e-9)
    assert low <= 0.95 <= high
    # A twin with half the width must be caught.
    assert clopper_pearson(narrow, repetitions, 1 - 2e-9)[1] < 0.95
