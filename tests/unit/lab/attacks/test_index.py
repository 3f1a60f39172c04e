import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from discreet.lab.attacks.ratings import Index, Ratings


@pytest.fixture
def ratings():
    return Ratings(
        person=np.array([7, 7, 9, 9, 4]),
        film=np.array([3, 1, 3, 2, 3]),
        grade=np.array([5, 1, 4, 4, 5]),
        day=np.array([10, 11, 20, 30, 40]),
    )


def test_rows_of_a_film_are_found_together(ratings):
    index = Index.of(ratings, films=5)
    assert index.people.tolist() == [4, 7, 9]
    assert index.support.tolist() == [0, 1, 1, 3, 0]
    assert index.length.tolist() == [1, 2, 2]
    rows, which = index.rows_of(np.array([3, 0, 1]))
    assert which.tolist() == [0, 0, 0, 2]
    assert index.people[index.record[rows]].tolist() == [7, 9, 4, 7]
    assert index.day[rows].tolist() == [10, 20, 40, 11]


def test_grade_shares_add_up(ratings):
    index = Index.of(ratings, films=5)
    assert index.grade_shares.sum(axis=1) == pytest.approx(np.ones(5))
    assert index.grade_shares[3, 5] > index.grade_shares[3, 4] > index.grade_shares[3, 2]


def test_share_within_some_days(ratings):
    index = Index.of(ratings, films=5)
    assert index.share_within(np.array([10, 100]), 1) == pytest.approx([3 / 6, 1 / 6])


def test_from_a_table():
    table = pa.table(
        {
            "user_id": [1],
            "film_id": pa.array([2], pa.int32()),
            "rating": [3],
            "date": [dt.date(1970, 1, 5)],
        }
    )
    made = Ratings.of(table)
    assert (len(made), made.day[0], made.film[0]) == (1, 4, 2)
    assert len(made.only(np.array([False]))) == 0
