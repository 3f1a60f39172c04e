"""What a row adds to a sum is whole, bounded, and its own: wherever it stands among the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.work.learn.private_rows import FARTHEST, FINE, WHOLE, Grouping, PaidRows
from learning import codes, encoding


def grouping(shape, column):
    return Grouping((column,), (np.arange(shape.sizes[column]),))


def scored(found, classes, steps):
    shape = encoding(classes).shape
    rows = PaidRows(found, shape, 2)
    rows.add(grouping(shape, 0), steps[: shape.sizes[0] * rows.outputs])
    return rows, shape


steps = st.lists(st.integers(-40 * FINE, 40 * FINE), min_size=44, max_size=44).map(np.array)


@pytest.mark.parametrize("classes", [2, 3, 4])
@given(steps=steps, seed=st.integers(0, 10**6), place=st.integers(0, 29))
def test_one_row_moves_sums_by_at_most_what_the_noise_is_for(classes, steps, seed, place):
    found = codes(30, classes, seed=seed)
    whole, shape = scored(found, classes, steps)
    without, _ = scored(np.delete(found, place, axis=0), classes, steps)
    for column in (0, 1):
        moved = whole.residual_sums(grouping(shape, column)) - without.residual_sums(
            grouping(shape, column)
        )
        worst = 1 if classes == 2 else 2
        assert np.abs(moved).sum() <= worst * WHOLE
        assert (moved**2).sum() <= worst * WHOLE**2
        assert (moved != 0).any(axis=1).sum() <= 1  # one cell


def test_residuals_are_those_of_the_softmax():
    found = codes(500, 3)
    steps = np.random.default_rng(1).integers(-4 * FINE, 4 * FINE, 33)
    rows, shape = scored(found, 3, steps)
    scores = steps.reshape(11, 3)[found[:, 0]] / FINE
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    exact = np.zeros((4, 3))
    np.add.at(exact, found[:, 1], np.eye(3)[found[:, 2]] - chances)
    assert np.abs(rows.residual_sums(grouping(shape, 1)) / WHOLE - exact).max() < 500 / WHOLE


def test_scores_beyond_all_bounds_are_certain():
    found = codes(50)
    rows, shape = scored(found, 2, np.full(44, 3 * FARTHEST))
    total = rows.residual_sums(grouping(shape, 0)).sum()
    assert total == -WHOLE * (found[:, 2] == 0).sum()


def test_rows_hide_themselves():
    assert "hidden" in repr(PaidRows(codes(3), encoding().shape, 2))
