from __future__ import annotations

import numpy as np
import pytest

from discreet.work.synth.models.maximum_entropy import descend


def quadratic(seed, size=30):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    matrix = root @ root.T + np.diag(np.logspace(-1, 3, size))
    aim = rng.normal(size=size)
    return matrix, aim, lambda x: (0.5 * x @ matrix @ x - aim @ x, matrix @ x - aim)


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_the_least_of_an_uneven_quadratic(seed):
    matrix, aim, slope = quadratic(seed)
    found = descend(slope, np.zeros(30), steps=300, scale=1 / np.diag(matrix))
    assert np.allclose(found, np.linalg.solve(matrix, aim), atol=1e-5)


def test_a_few_steps_go_down_and_more_go_further():
    matrix, _, slope = quadratic(4)
    scale = 1 / np.diag(matrix)
    values = [slope(descend(slope, np.ones(30), steps=k, scale=scale))[0] for k in (0, 2, 8, 60)]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1]


def test_it_stays_where_nothing_helps_and_comes_back_from_a_wild_first_step():
    slope = quadratic(5)[2]
    least = descend(slope, np.zeros(30), steps=400, scale=np.ones(30))
    again = descend(slope, least, steps=50, scale=np.ones(30))
    assert slope(again)[0] <= slope(least)[0]
    wild = descend(slope, np.zeros(30), steps=400, scale=np.full(30, 1e6))
    assert np.allclose(wild, least, atol=1e-3)


def test_once_at_the_least_it_does_not_look_around_for_long():
    matrix, _, slope = quadratic(6)
    looked = []

    def counted(x):
        looked.append(x)
        return slope(x)

    least = descend(slope, np.zeros(30), steps=400, scale=1 / np.diag(matrix))
    descend(counted, least, steps=400, scale=1 / np.diag(matrix))
    assert len(looked) < 1_000


def test_a_smooth_function_that_is_no_quadratic():
    def slope(x):
        powers = np.exp(x - x.max())
        chances = powers / powers.sum()
        aim = np.array([0.7, 0.2, 0.1])
        return float(np.log(powers.sum()) + x.max() - aim @ x), chances - aim

    found = descend(slope, np.zeros(3), steps=100, scale=np.ones(3))
    assert np.allclose(np.exp(found) / np.exp(found).sum(), [0.7, 0.2, 0.1], atol=1e-6)
