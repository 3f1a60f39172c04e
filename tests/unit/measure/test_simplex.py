from __future__ import annotations

import numpy as np
import pytest

from discreet.measure.one_way_marginals import onto_simplex


def objective(found, values, variances):
    return ((found - values) ** 2 / variances).sum()


@pytest.mark.parametrize("seed", range(20))
def test_nothing_possible_is_nearer(seed):
    """Any step towards another possible point is uphill (first-order condition, convex problem)."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    values, variances = rng.normal(2, 5, size), rng.uniform(0.1, 9, size)
    found = onto_simplex(values, 6.0, variances)
    assert found.sum() == pytest.approx(6.0)
    assert (found >= 0).all()
    gradient = 2 * (found - values) / variances
    for corner in 6.0 * np.eye(size):
        assert gradient @ (corner - found) >= -1e-9


def test_clipping_and_scaling_would_be_farther():
    values = np.array([50.0, *([3.0, -3.0] * 20)])
    ours = onto_simplex(values, 50.0)
    clipped = np.maximum(values, 0)
    clipped *= 50 / clipped.sum()
    assert objective(ours, values, 1) < objective(clipped, values, 1)
    assert ours[0] > clipped[0]


def test_what_is_possible_already_stays():
    values = np.array([1.0, 0.0, 4.0])
    assert onto_simplex(values, 5.0).tolist() == values.tolist()


def test_hopeless_values_still_add_up():
    assert onto_simplex(np.array([-5.0, -9.0]), 2.0).tolist() == [2.0, 0.0]
    assert onto_simplex(np.array([-5.0]), 2.0).tolist() == [2.0]
