from __future__ import annotations

import numpy as np

from discreet.work.synth.models.conditional_chain import eliminate


def chain(width, size, rng):
    first = ((0,), rng.dirichlet(np.ones(size)))
    return [first] + [
        ((column - 1, column), rng.dirichlet(np.ones(size), size)) for column in range(1, width)
    ]


def test_a_chain_is_a_product_of_matrices():
    families = chain(6, 4, np.random.default_rng(1))
    start = families[0][1]
    end = np.linalg.multi_dot([table for _, table in families[1:]])
    assert np.allclose(eliminate(families, (0, 5)), start[:, None] * end)


def test_columns_nobody_asked_for_are_never_touched():
    families = chain(3, 3, np.random.default_rng(2))
    broken = [*families, ((2, 3), np.full((3, 3), np.nan))]
    assert np.isfinite(eliminate(broken, (0, 2))).all()


def test_a_long_chain_with_large_columns_stays_small():
    """Three far columns of 60 values: no step may hold more than a family and the wanted ones."""
    families = chain(40, 60, np.random.default_rng(3))
    found = eliminate(families, (3, 20, 39))
    assert found.shape == (60, 60, 60)
    assert np.isclose(found.sum(), 1)


def test_nothing_wanted_is_one():
    assert eliminate(chain(2, 2, np.random.default_rng(1)), ()) == 1.0
