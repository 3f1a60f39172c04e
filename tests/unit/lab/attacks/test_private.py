import numpy as np
import pytest

from discreet.lab.attacks.netflix import noisy_counts, presence
from discreet.lab.attacks.ratings import Index, KnownRatings, Ratings


@pytest.fixture(scope="module")
def scene():
    dice = np.random.default_rng(0)
    people = np.repeat(np.arange(120), 20)
    films = np.concatenate([1 + dice.permutation(100)[:20] for _ in range(120)])
    ratings = Ratings(
        people, films, dice.integers(1, 6, len(people)), dice.integers(0, 900, len(people))
    )
    index = Index.of(ratings.only(people < 60), films=101)

    def glimpses(group):
        rows = [np.flatnonzero(people == person)[:6] for person in group]
        return [KnownRatings(films[row], ratings.grade[row], ratings.day[row]) for row in rows]

    return index, glimpses(range(60)), glimpses(range(60, 120))


def test_exact_counts_tell_who_is_there(scene):
    index, inside, outside = scene
    score = presence(index.support.astype(float), index, inside=inside, outside=outside)
    assert score.success == 1.0
    assert score.baseline == 0.5


def test_noise_that_hides_two_hundred_ratings_tells_nothing(scene):
    """80 noisy tables: the mean strays from 1/2 by .04 once in a billion runs."""
    index, inside, outside = scene
    dice = np.random.default_rng(1)
    shares = [
        presence(
            index.support + dice.laplace(0, 200, len(index.support)),
            index,
            inside=inside,
            outside=outside,
        ).success
        for _ in range(80)
    ]
    assert abs(np.mean(shares) - 0.5) < 0.04


def test_a_curator_counts_the_films(scene):
    index, _, _ = scene
    counts = noisy_counts(index, epsilon=1_000.0)
    # Scale 200 / 1,000: all 100 films within 6 but for one run in 10^10.
    assert np.abs(counts[1:] - index.support[1:]).max() <= 6
    assert counts[0] == 0
