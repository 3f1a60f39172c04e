import math

import numpy as np
import pytest

from discreet.lab.attacks.curator import temporary_town
from discreet.lab.attacks.netflix import play, scene_of
from discreet.lab.attacks.ratings import (
    CLASSIC,
    LIKELIHOOD,
    RatingKnowledge,
    Ratings,
    RatingsScene,
    calibrated,
    claims,
)
from discreet.privacy.noise.error_bars import lower_limit
from patience import slowness


@pytest.fixture(scope="module")
def scene() -> RatingsScene:
    with temporary_town(1, tables=("ratings",), ratings=300_000) as made:
        return scene_of(Ratings.of(made.load("ratings")), targets=150, seed=1)


KNOWN = RatingKnowledge(8, 2, 14)


def both(scene, method, threshold, known=KNOWN):
    return claims(method, threshold, scene, known)


def test_nearly_everybody_is_found_and_hardly_anybody_invented(scene):
    """False claims above 5% at a rate of 1% would be seen once in 10^6 runs of 150."""
    made = play(scene, KNOWN, rate=0.01)
    assert made.right >= 0.97 * made.present
    assert made.mistaken <= 2
    assert lower_limit(made.false, made.absent, 1e-6) < 0.01
    assert made.milliseconds < 50 * slowness()


def test_without_a_threshold_everybody_is_claimed(scene):
    """The twin that must fail: the rate of false claims is measured, not assumed."""
    made = both(scene, LIKELIHOOD, -math.inf)
    assert made.false == made.absent
    assert made.right + made.mistaken == made.present


def test_the_published_eccentricity_claims_many_who_are_absent(scene):
    made = both(scene, CLASSIC, 1.5)
    assert made.right > 0.9 * made.present
    assert lower_limit(made.false, made.absent, 1e-3) > 0.02


def test_too_few_trials_for_the_rate_mean_no_claim(scene):
    assert calibrated(scene, KNOWN, trials=50, rate=0.001) == math.inf


def test_nobody_is_both_there_and_not(scene):
    assert not np.intersect1d(scene.absent, scene.index.people).size
    assert np.isin(scene.present, scene.index.people).all()
