from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.measure.sealing import MemoryCounter
from discreet.testing import ALPHA
from discreet.work.synth.models.maximum_entropy import layered, read_layered
from synth_kit import shape_of

SHAPE = shape_of(4, 3, 2)
GROUPS = (np.array([0, 1, 1, 0]), np.array([0, 1, 2]), np.array([0, 1]))
WITHIN = (
    np.array([0.25, 0.9, 0.1, 0.75]),
    np.ones(3),
    np.ones(2),
)


def model_of(seed=1):
    rng = np.random.default_rng(seed)
    parts = {
        (0,): rng.normal(size=2),
        (1,): rng.normal(size=3),
        (2,): rng.normal(size=2),
        (0, 1): rng.normal(size=(2, 3)),
        (1, 2): rng.normal(size=(3, 2)),
    }
    return layered(SHAPE, 500.0, GROUPS, WITHIN, parts)


def test_codes_share_out_their_group():
    model = model_of()
    coarse = model.beliefs.marginal((0,))
    expected = 500 * np.array(
        [0.25 * coarse[0], 0.9 * coarse[1], 0.1 * coarse[1], 0.75 * coarse[0]]
    )
    assert np.allclose(model.marginal((0,)), expected)


def test_axes_come_in_the_order_asked_for():
    model = model_of()
    whole = model.marginal((0, 1, 2))
    for order in permutations(range(3)):
        assert np.allclose(model.marginal(order), whole.transpose(order))
    assert np.allclose(model.marginal((2, 0)), whole.sum(axis=1).T)


def test_a_condition_inside_a_group_is_exact():
    """Systematic draws stay closer to the law than Hoeffding's bound; it fails with ALPHA."""
    model, rows = model_of(), 50_000
    given = {0: np.array([True, False, True, False]), 2: np.array([False, True])}
    drawn = model.sample(rows, dice=np.random.default_rng(3), given=given)
    assert set(np.unique(drawn[:, 0])) <= {0, 2}
    assert set(np.unique(drawn[:, 2])) == {1}
    joint = model.marginal((0, 1, 2))[[0, 2]][:, :, 1]
    found = MemoryCounter(drawn, SHAPE).marginals([(0, 1)])[0][[0, 2]] / rows
    assert np.abs(found - joint / joint.sum()).max() < np.sqrt(np.log(12 / ALPHA) / (2 * rows))


def test_a_condition_that_cannot_hold_is_refused():
    groups, within = GROUPS, (np.array([0.0, 1.0, 0.0, 1.0]), *WITHIN[1:])
    model = layered(SHAPE, 500.0, groups, within, model_of().parts)
    never = {0: np.array([True, False, False, False])}
    with pytest.raises(InvalidInput, match="no chance"):
        model.sample(10, dice=np.random.default_rng(1), given=never)


def test_json_is_small_and_comes_back_the_same():
    model = model_of()
    text = json.dumps(model.to_json(), allow_nan=False)
    again = read_layered(json.loads(text))
    assert again.to_json() == model.to_json()
    assert np.allclose(again.marginal((0, 1, 2)), model.marginal((0, 1, 2)))


def spoiled(**changes):
    data = json.loads(json.dumps(model_of().to_json()))
    return data | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": [[0, 1, 1, 0], [0, 1, 2]]},
        {"groups": [[0, 2, 2, 0], [0, 1, 2], [0, 1]]},
        {"groups": [[0, 1, 1, -1], [0, 1, 2], [0, 1]]},
        {"groups": [[], [0, 1, 2], [0, 1]]},
        {"within": [[0.25, 0.9, 0.1, 0.7], [1, 1, 1], [1, 1]]},
        {"within": [[-0.25, 0.9, 0.1, 1.25], [1, 1, 1], [1, 1]]},
        {"within": [["x", 0.9, 0.1, 1.25], [1, 1, 1], [1, 1]]},
        {"total": float("nan")},
        {"total": -1},
        {"total": None},
        {"sizes": [4, 3]},
        {"names": ["a"]},
        {"parts": [{"columns": [0, 9], "values": [0.0]}]},
        {"parts": [{"columns": [1, 0], "values": [0.0] * 6}]},
        {"parts": [{"columns": [0, 1], "values": [0.0] * 5}]},
        {"parts": [{"columns": [0, 1], "values": [float("inf")] * 6}]},
        {"parts": [{"columns": [], "values": []}]},
        {"parts": 7},
    ],
)
def test_a_hostile_file_is_refused_with_a_sentence(changes):
    with pytest.raises(InvalidInput, match="fit together"):
        read_layered(spoiled(**changes))


def test_a_model_whose_tables_would_fill_the_memory_is_refused():
    width, size = 9, 30
    data = {
        "names": [f"c{i}" for i in range(width)],
        "sizes": [size] * width,
        "total": 1.0,
        "groups": [list(range(size))] * width,
        "within": [[1.0] * size] * width,
        "parts": [
            {"columns": [i, j], "values": [0.0] * size**2}
            for i in range(width)
            for j in range(i + 1, width)
        ],
    }
    with pytest.raises(InvalidInput, match="too large"):
        read_layered(data)
