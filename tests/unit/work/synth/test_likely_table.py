from __future__ import annotations

import numpy as np
import pytest

from discreet.work.synth.models.conditional_chain import (
    fit_table,
    onto_margins,
    shrink,
    with_margins,
)


def margins(rng, high, wide, total=1000.0):
    rows, columns = rng.uniform(0.5, 2, high), rng.uniform(0.5, 2, wide)
    return rows * total / rows.sum(), columns * total / columns.sum()


@pytest.mark.parametrize("seed", range(8))
def test_least_squares_under_margins_leaves_a_residual_that_margins_cannot_see(seed):
    rng = np.random.default_rng(seed)
    rows, columns = margins(rng, 4, 6)
    table = rng.normal(0, 50, (4, 6))
    found = with_margins(table, rows, columns)
    assert np.allclose(found.sum(axis=1), rows)
    assert np.allclose(found.sum(axis=0), columns)
    # Optimal if and only if the step is orthogonal to every table with margins of zero.
    free = with_margins(rng.normal(0, 1, (4, 6)), np.zeros(4), np.zeros(6))
    assert abs(((found - table) * free).sum()) < 1e-8


@pytest.mark.parametrize("seed", range(8))
def test_the_projection_is_the_nearest_possible_table(seed):
    rng = np.random.default_rng(seed)
    rows, columns = margins(rng, 5, 4)
    table = rng.normal(40, 60, (5, 4))
    found = onto_margins(table, rows, columns)
    assert (found >= 0).all()
    assert np.abs(found.sum(axis=1) - rows).max() < 1e-2
    assert np.abs(found.sum(axis=0) - columns).max() < 1e-2
    # Towards any other possible table it is uphill: here towards mixtures and the independent one.
    for other in (np.outer(rows, columns) / 1000, onto_margins(table[::-1], rows, columns)):
        assert ((found - table) * (other - found)).sum() > -1.0
    clipped = np.maximum(with_margins(table, rows, columns), 0)
    assert np.abs(clipped.sum(axis=1) - rows).max() > 1, "clipping alone keeps no margins"


def test_pure_noise_is_shrunk_to_nothing_and_signal_stays():
    rng = np.random.default_rng(1)
    zero = with_margins(rng.normal(0, 10, (30, 20)), np.zeros(30), np.zeros(20))
    # The greatest singular value of noise exceeds its limit by a little now and then, no more.
    assert np.linalg.norm(shrink(zero, 10)) < 0.3 * np.linalg.norm(zero)
    left, right = rng.normal(0, 1, 30), rng.normal(0, 1, 20)
    signal = 60 * np.outer(left - left.mean(), right - right.mean())
    found = shrink(signal + zero, 10)
    assert np.linalg.norm(found - signal) < 0.5 * np.linalg.norm(zero)
    # Told of half the noise, it would keep most of it.
    assert np.linalg.norm(shrink(zero, 3)) > 0.5 * np.linalg.norm(zero)


def test_no_noise_means_no_shrinking():
    matrix = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert (shrink(matrix, 0.0) == matrix).all()


def spiky(rng):
    """A few cells hold most rows, at no particular places: nothing smooth about it."""
    chances = rng.dirichlet(np.full(300, 0.3))
    return rng.multinomial(20_000, chances).reshape(20, 15).astype(float)


def smooth(rng):
    """Two directions of dependence, counts everywhere."""
    left, right = rng.uniform(-1, 1, (20, 2)), rng.uniform(-1, 1, (2, 15))
    return 60 + 20 * (left @ right)


@pytest.mark.parametrize("truth_of", [spiky, smooth])
def test_the_better_of_two_estimates_is_taken(truth_of):
    """The wrong one of the two is worse by at least a fifth; the right one is what comes out."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        truth = truth_of(rng)
        noisy = truth + rng.normal(0, 40, truth.shape)
        margins = truth.sum(axis=1), truth.sum(axis=0)
        found = np.linalg.norm(fit_table(noisy, 1600.0, *margins) - truth)
        apart = np.outer(*margins) / truth.sum()
        dependence = with_margins(noisy, *margins) - apart
        both = [
            np.linalg.norm(onto_margins(noisy, *margins) - truth),
            np.linalg.norm(onto_margins(apart + shrink(dependence, 40), *margins) - truth),
        ]
        assert max(both) > 1.2 * min(both)
        assert found == pytest.approx(min(both))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2)])
def test_small_tables_keep_their_margins(shape):
    rng = np.random.default_rng(3)
    rows, columns = margins(rng, *shape)
    found = fit_table(rng.normal(0, 100, shape), 1e4, rows, columns)
    assert np.abs(found.sum(axis=1) - rows).max() < 1e-2


def test_an_empty_table_is_empty():
    assert not fit_table(np.ones((2, 2)), 1.0, np.zeros(2), np.zeros(2)).any()
