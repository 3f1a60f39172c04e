from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.work.synth.models.conditional_chain import condition

FAMILIES = [
    ((0,), np.array([0.5, 0.5])),
    ((0, 1), np.array([[0.9, 0.1], [0.2, 0.8]])),
]


def test_a_condition_on_the_child_reaches_the_parent():
    first, second = condition(FAMILIES, {1: np.array([True, False])})
    assert np.allclose(first, [9 / 11, 2 / 11])
    assert np.allclose(second, [[1, 0], [1, 0]])


def test_the_original_tables_stay_as_they_were():
    before = [table.copy() for _, table in FAMILIES]
    condition(FAMILIES, {0: np.array([False, True])})
    assert all((a == b).all() for a, (_, b) in zip(before, FAMILIES, strict=True))


def test_a_row_that_cannot_be_reached_stays_a_law():
    families = [FAMILIES[0], ((0, 1), np.array([[1.0, 0.0], [0.0, 1.0]]))]
    first, second = condition(families, {1: np.array([True, False])})
    assert first.tolist() == [1.0, 0.0]
    assert np.allclose(second.sum(axis=-1), 1)


def test_two_roots_are_conditioned_each_by_itself():
    families = [((0,), np.array([0.5, 0.5])), ((1,), np.array([0.5, 0.5]))]
    first, second = condition(families, {1: np.array([False, True])})
    assert first.tolist() == [0.5, 0.5]
    assert second.tolist() == [0.0, 1.0]
    with pytest.raises(InvalidInput, match="no chance"):
        condition(families, {1: np.array([False, False])})
