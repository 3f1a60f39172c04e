import numpy as np
import pytest

from discreet.lab.attacks.ratings import (
    Index,
    KnownRatings,
    RatingKnowledge,
    Ratings,
    likelihoods,
    most_eccentric,
    most_likely,
    weighted,
)


@pytest.fixture(scope="module")
def index():
    dice = np.random.default_rng(1)
    many = 20_000
    pairs = np.unique(
        dice.integers(0, 200, many) * 400 + (dice.random(many) ** 2 * 400).astype(int)
    )
    return Index.of(
        Ratings(
            pairs // 400,
            pairs % 400,
            dice.integers(1, 6, len(pairs)),
            dice.integers(0, 1_000, len(pairs)),
        ),
        films=400,
    )


def test_the_ratio_of_foreign_records_has_mean_one(index):
    """Glimpses of nobody: films by popularity, grades by film, any day. Mean 1 bounds false claims."""
    dice = np.random.default_rng(2)
    known = RatingKnowledge(1, 0, 30)
    means = []
    for _ in range(1_500):
        row = dice.integers(0, len(index.record))
        film = np.searchsorted(index.starts, row, side="right") - 1
        grade = dice.choice(6, p=index.grade_shares[film])
        seen = KnownRatings(
            np.array([film]), np.array([grade]), np.array([dice.choice(index.days)])
        )
        means.append(np.exp(likelihoods(index, seen, known)).mean())
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - 1) < 6 * error + 0.02
    assert error < 0.1


def test_rare_films_speak_louder(index):
    popular, rare = (
        int(np.argmax(index.support)),
        int(np.argmin(index.support + 1e9 * (index.support == 0))),
    )
    scores = {}
    for film in (popular, rare):
        rows, _ = index.rows_of(np.array([film]))
        seen = KnownRatings(np.array([film]), index.grade[rows[:1]], index.day[rows[:1]])
        for score in (likelihoods, weighted):
            scores[score.__name__, film] = score(index, seen, RatingKnowledge(1, 0, 14)).max()
    assert scores["likelihoods", rare] > scores["likelihoods", popular] + 1
    assert scores["weighted", rare] > scores["weighted", popular]


def test_dates_and_grades_count(index):
    rows, _ = index.rows_of(np.array([5]))
    row = rows[0]
    known = RatingKnowledge(1, 0, 3)
    mine = index.record[row]

    def at(grade, day):
        seen = KnownRatings(np.array([5]), np.array([grade]), np.array([day]))
        return likelihoods(index, seen, known)[mine]

    grade, day = int(index.grade[row]), int(index.day[row])
    assert abs(at(grade, day) - at(grade, day + 3)) < 0.5  # the days are not equally busy
    assert at(grade, day + 3) > at(grade, day + 4) + 1
    assert at(grade, day) > at(grade % 5 + 1, day)


def test_the_best_record_and_how_sure():
    scores = np.array([0.0, 9.0, 2.0])
    assert most_likely(scores).record == 1
    others = np.exp(0) + np.exp(2) + 3
    assert most_likely(scores).surety == pytest.approx(9 - np.log(others))
    found = most_eccentric(scores)
    assert (found.record, found.surety) == (1, pytest.approx(7 / scores.std()))
    assert most_eccentric(np.zeros(4)).surety == 0.0
