from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.measure.sealing import MemoryCounter
from discreet.testing import ALPHA
from discreet.work.synth.models.model import mixture, read_mixture, shares_of
from synth_kit import shape_of

SHAPE = shape_of(4, 2, 3)


def model_of(rows=7, seed=1):
    rng = np.random.default_rng(seed)
    return mixture(SHAPE, 600.0, [rng.dirichlet(np.ones(size), rows) for size in SHAPE.sizes])


def test_marginals_are_means_of_products_in_any_order():
    model = model_of()
    whole = np.einsum("ra,rb,rc->abc", *model.blocks) / 7
    for order in permutations(range(3)):
        assert np.allclose(model.marginal(order), 600 * whole.transpose(order))
    assert np.allclose(model.marginal((2,)), 600 * whole.sum(axis=(0, 1)))
    assert np.allclose(model.marginal((2, 0)), 600 * whole.sum(axis=1).T)
    assert model.marginal(()) == pytest.approx(600)
    assert shares_of(model.blocks, ()).shape == ()


def test_a_condition_weighs_relaxed_rows_and_codes():
    model, rows = model_of(), 50_000
    given = {0: np.array([True, False, False, True])}
    drawn = model.sample(rows, dice=np.random.default_rng(2), given=given)
    assert set(np.unique(drawn[:, 0])) == {0, 3}
    joint = model.marginal((0, 2))[[0, 3]]
    found = MemoryCounter(drawn, SHAPE).marginals([(0, 2)])[0][[0, 3]] / rows
    assert np.abs(found - joint / joint.sum()).max() < np.sqrt(np.log(12 / ALPHA) / (2 * rows))


def test_a_condition_without_a_chance_is_refused():
    blocks = [np.array([[1.0, 0, 0, 0]]), np.array([[0.5, 0.5]]), np.full((1, 3), 1 / 3)]
    model = mixture(SHAPE, 1.0, blocks)
    with pytest.raises(InvalidInput, match="no chance"):
        model.sample(
            3, dice=np.random.default_rng(1), given={0: np.array([False, True, True, True])}
        )


def test_json_comes_back_the_same():
    model = model_of()
    again = read_mixture(json.loads(json.dumps(model.to_json(), allow_nan=False)))
    assert again.to_json() == model.to_json()
    for one, other in zip(model.blocks, again.blocks, strict=True):
        assert (one == other).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": []},
        {"weights": [[[1, 0, 0, 0]], [[1, 1]]]},
        {"weights": [[[1, 0, 0, 0]], [[1, 1], [1, 1]], [[1, 1, 1]]]},
        {"weights": [[[0, 0, 0, 0]], [[1, 1]], [[1, 1, 1]]]},
        {"weights": [[[-1, 2, 0, 0]], [[1, 1]], [[1, 1, 1]]]},
        {"weights": [[[10**12, 2, 0, 0]], [[1, 1]], [[1, 1, 1]]]},
        {"weights": [[["x", 2, 0, 0]], [[1, 1]], [[1, 1, 1]]]},
        {"weights": [[[1, 2, 0]], [[1, 1]], [[1, 1, 1]]]},
        {"total": float("inf")},
        {"total": "many"},
        {"names": ["a", "b"]},
    ],
)
def test_a_hostile_file_is_refused_with_a_sentence(changes):
    with pytest.raises(InvalidInput, match="fit together"):
        read_mixture(model_of().to_json() | changes)
