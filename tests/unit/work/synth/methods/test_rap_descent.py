from __future__ import annotations

from functools import partial
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(find_spec("jax") is None, reason="needs the extra rap"),
]
# Loads JAX: when a test runs, not when it is collected.
descent = partial(import_module, "discreet.work.synth.methods.rap_descent")

SIZES = (3, 2, 4)
ROWS = 40
"""As many everywhere, and two queries: JAX compiles for each other shape."""


def shares(relaxed):
    return np.einsum("ra,rb,rc->abc", *relaxed.blocks()) / len(relaxed.blocks()[0])


def test_every_block_is_a_law_and_the_start_is_always_the_same():
    one, other = descent().Relaxed(SIZES, ROWS), descent().Relaxed(SIZES, ROWS)
    for mine, theirs, size in zip(one.blocks(), other.blocks(), SIZES, strict=True):
        assert mine.shape == (ROWS, size)
        assert np.allclose(mine.sum(axis=1), 1)
        assert (mine == theirs).all()


def test_moments_become_cells():
    """Against counting: three events, all eight combinations."""
    rng = np.random.default_rng(1)
    events = rng.random((200, 3)) < 0.4
    # The i-th set has column j where bit j of i is set.
    sets = [[j for j in range(3) if i >> j & 1] for i in range(8)]
    moments = [events[:, columns].all(axis=1).mean() for columns in sets]
    exactly = np.bincount(events @ [1, 2, 4], minlength=8) / 200
    assert np.allclose(descent().cells_of_moments(3) @ moments, exactly)


def table(model, cell):
    """Return the shares of "this code or not" the i-th of them where bit j of i says "this code" of column j, from a full table."""
    for axis, code in enumerate(cell):
        model = np.moveaxis(model, axis, 0)
        model = np.stack([model.sum(axis=0) - model[code], model[code]])
        model = np.moveaxis(model, 0, axis)
    return model.T.ravel()


def test_the_slope_written_by_hand_is_the_one_that_jax_derives():
    """One tiny step of plain descent must lower the loss by what its own gradient promises."""
    import jax

    relaxed = descent().Relaxed(SIZES, ROWS)
    cells = [(0, 1, 2), (2, 0, 3)]
    starts = np.cumsum([0, *SIZES])
    queries = np.array([[starts[i] + cell[i] for cell in cells] for i in range(3)], dtype=np.int32)
    aims = np.random.default_rng(3).dirichlet(np.ones(8), 2).T

    def loss(logits):
        chances = descent()._softmax(logits, relaxed._owns)
        cells = 1.0
        for column in queries[::-1]:  # the first column ends up on the lowest bit
            here = chances[column]
            cells = jax.numpy.stack([cells * (1 - here), cells * here], axis=-3)
            cells = cells.reshape(-1, *here.shape)
        return ((cells.mean(axis=-1) - aims) ** 2).sum()

    before = relaxed._logits
    slope = np.asarray(jax.jit(jax.grad(loss))(before))
    relaxed.fit_cells(queries, aims, np.ones(2, dtype=bool), steps=1, rate=0.01)
    moved = np.asarray(relaxed._logits - before)
    # Adam's first step goes against the sign of the gradient, by the rate.
    large = np.abs(slope) > 1e-5
    assert large.sum() > 20
    assert np.allclose(moved[large], -0.01 * np.sign(slope[large]), rtol=0.01)


def test_counted_cells_are_met_and_others_are_ignored():
    real = np.random.default_rng(2).dirichlet(np.ones(24)).reshape(SIZES)
    cells = [(0, 0, 0), (2, 1, 3)]
    starts = np.cumsum([0, *SIZES])
    queries = np.array([[starts[i] + cell[i] for cell in cells] for i in range(3)], dtype=np.int32)
    aims = np.stack([table(real, cells[0]), np.full(8, 9.0)], axis=1)
    relaxed = descent().Relaxed(SIZES, ROWS)
    relaxed.fit_cells(queries, aims, np.array([True, False]), steps=400, rate=0.1)
    assert np.allclose(table(shares(relaxed), cells[0]), aims[:, 0], atol=2e-3)


def test_an_open_column_leaves_the_other_columns_alone():
    relaxed = descent().Relaxed(SIZES, ROWS)
    beyond = sum(SIZES)
    queries = np.array([[1, 1], [beyond, beyond], [beyond, beyond]], dtype=np.int32)
    aims = np.zeros((8, 2))
    aims[[6, 7], 0] = 0.9, 0.1
    before = relaxed.blocks()[2].copy()
    relaxed.fit_cells(queries, aims, np.array([True, False]), steps=300, rate=0.1)
    assert relaxed.blocks()[0].mean(axis=0)[1] == pytest.approx(0.1, abs=1e-3)
    assert np.allclose(relaxed.blocks()[2], before, atol=1e-6)


def test_whole_marginals_are_met():
    real = np.random.default_rng(4).dirichlet(np.ones(24)).reshape(SIZES)
    relaxed = descent().Relaxed(SIZES, ROWS)
    wanted = [(0, 1), (2,)]
    aims = [real.sum(axis=2), real.sum(axis=(0, 1))]
    relaxed.fit_marginals(wanted, aims, steps=400, rate=0.1)
    assert np.allclose(shares(relaxed).sum(axis=2), aims[0], atol=5e-3)
    assert np.allclose(shares(relaxed).sum(axis=(0, 1)), aims[1], atol=5e-3)
