import numpy as np
import pytest

from discreet.lab.attacks.ratings import PUBLISHED, KnowledgeSampler, RatingKnowledge, Ratings


@pytest.fixture(scope="module")
def witness():
    dice = np.random.default_rng(0)
    people = np.repeat(np.arange(1, 21), 30)
    films = np.concatenate([dice.permutation(1_000)[:30] for _ in range(20)])
    ratings = Ratings(
        people, films, dice.integers(1, 6, len(people)), dice.integers(100, 2_000, len(people))
    )
    return KnowledgeSampler.of(ratings, rank=np.arange(1_000), dice=dice)


def test_right_ratings_come_from_the_record_and_dates_are_off_by_so_much(witness):
    ratings = witness.ratings
    for person in range(1, 21):
        seen = witness.glimpse(person, RatingKnowledge(6, 2, 14))
        mine = ratings.only(ratings.person == person)
        for film, grade, day in zip(seen.film[:4], seen.grade[:4], seen.day[:4], strict=True):
            (row,) = np.flatnonzero(mine.film == film)
            assert mine.grade[row] == grade
            assert abs(mine.day[row] - day) <= 14
        assert len(seen.film) == 6


def test_obscure_films_are_outside_the_top(witness):
    seen = witness.glimpse(3, RatingKnowledge(8, 0, None, obscure=6, top=500))
    assert (witness.rank[seen.film] >= 500).sum() >= 6


def test_too_little_to_know(witness):
    assert witness.glimpse(3, RatingKnowledge(31, 0, 3)) is None
    assert (
        witness.glimpse(99_999 % 20 + 1, RatingKnowledge(8, 0, None, obscure=8, top=1_000)) is None
    )


def test_words():
    words = [known.words for known in PUBLISHED.values()]
    assert "8 ratings, 2 of them wrong, dates to 14 days" in words
    assert any("no dates" in text and "outside the top 500" in text for text in words)
