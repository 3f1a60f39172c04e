"""The small club: tails as published, one evening for nearly everything, and a harder game."""

import numpy as np
import pytest

from discreet.lab.attacks.netflix import ATTACK, DAYS, FILMS, play, scene_of, small_club
from discreet.lab.attacks.ratings import RatingKnowledge

FEW = RatingKnowledge(2, 0, 3)


@pytest.fixture(scope="module")
def made():
    return small_club(943, 0)


def test_its_tails_are_those_of_a_recommender_site(made):
    people = np.bincount(made.person)[1:]
    films = np.bincount(made.film, minlength=FILMS + 1)[1:]
    assert people.min() >= 20
    assert 50 < np.median(people) < 80
    assert 90_000 < len(made) < 120_000
    assert films.max() > 0.4 * 943
    assert np.median(films) < 35
    assert made.day.max() - made.day.min() < DAYS
    assert len(np.unique(made.person * FILMS + made.film)) == len(made)
    assert set(np.unique(made.grade)) == {1, 2, 3, 4, 5}


def test_two_ratings_and_three_days_find_far_fewer_than_in_the_large_club(made):
    """38% on MovieLens 100k itself, 100% in the town's club."""
    found = play(scene_of(made, targets=300, seed=0), FEW, rate=0.005)
    assert 0.2 < found.right / found.present < 0.6


def test_the_command_says_which_club_it_was():
    settings = {"people": 100, "targets": 20, "false_claims": 0.05, "club": "small"}
    assert "MovieLens" in ATTACK.run(settings).details["generator"]
