import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.release_risk import cells as controls_cells
from discreet.lab.attacks.release_risk.cells import CellLabels, NumberColumn, column_of


def _column(values):
    return pa.chunked_array([pa.array(values)])


def test_numbers_are_near_by_degree_and_missing_is_far():
    column = column_of(_column([0.0, 10.0, None]), _column(["5", "10", None]))
    assert isinstance(column, NumberColumn)
    assert column.gaps(np.array([0, 1, 2])).tolist() == [[0.5, 0.5, 1], [1, 0, 1], [1, 1, 0]]
    rows, people = column.like(1)
    assert rows.tolist() == [False, True, False]
    assert people.tolist() == [False, True, False]
    assert column.like(2)[1].tolist() == [False, False, True]


def test_a_number_with_many_values_is_matched_in_a_window():
    column = column_of(_column(np.arange(1_000)), _column(np.arange(1_000)))
    assert column.like(500)[1].sum() == 9, "half a percent of the range either way"


def test_codes_with_leading_zeros_and_booleans_are_words():
    assert isinstance(column_of(_column(["02139"]), _column(["02139"])), CellLabels)
    column = column_of(_column([True, False]), _column(["True", "False"]))
    assert column.gaps(np.array([0, 1])).tolist() == [[0, 1], [1, 0]]


def test_dates_are_compared_as_they_are_written():
    day = dt.date(1994, 5, 1)
    assert column_of(_column(["1994-05-01", "1990s", "1995"]), _column([day])).gaps(
        np.array([0])
    ).tolist() == [[0, 0, 1]]


def test_whole_numbers_from_floats_read_like_whole_numbers():
    column = column_of(_column(["35-39", "40-44"]), _column([37.0, 40.0]))
    assert column.gaps(np.array([0, 1])).tolist() == [[0, 1], [1, 0]]


def test_coarse_labels_fit_all_that_they_cover_and_a_star_is_no_guess():
    column = column_of(_column(["30-39", "*", "40"]), _column([34, 40]))
    assert isinstance(column, CellLabels)
    assert column.like(0)[1].tolist() == [True, False]
    assert column.like(1)[1].tolist() == [True, True]
    first, star, forty = np.eye(3, dtype=bool)
    assert column.told(first, 0)
    assert not column.told(first, 1)
    assert not column.told(star, 0)
    assert column.told(forty, 1)


def test_a_column_with_too_many_coarse_cells_is_refused(monkeypatch):
    monkeypatch.setattr(controls_cells, "_MOST_COVERINGS", 3)
    with pytest.raises(InvalidInput, match="too many different coarse cells"):
        column_of(_column(["1-2", "3-4"]), _column(["1", "3"]))


def test_a_hierarchy_says_what_its_words_stand_for():
    jobs = {"Nurse": ("Nurse", "Health", "*"), "Cook": ("Cook", "Food", "*")}
    column = column_of(_column(["Health", "Food", "Health or Food"]), _column(["Nurse"]), jobs)
    assert column.gaps(np.array([0])).tolist() == [[0, 1, 0]]
    plain = column_of(_column(["Health", "Food"]), _column(["Nurse"]))
    assert plain.gaps(np.array([0])).tolist() == [[1, 1]]
