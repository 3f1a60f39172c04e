from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Shape
from synth_kit import random_codes, shape_of

SHAPE = shape_of(3, 4, 2)


@pytest.mark.parametrize("rows", [0, 1, 200])
def test_counts_equal_counting_by_hand(rows):
    codes = random_codes(np.random.default_rng(1), SHAPE, rows)
    wanted = [c for ways in (1, 2, 3) for c in combinations(range(3), ways)]
    for columns, found in zip(wanted, MemoryCounter(codes, SHAPE).marginals(wanted), strict=True):
        slow = np.zeros(SHAPE.of(columns), dtype=np.int64)
        np.add.at(slow, tuple(codes[:, column] for column in columns), 1)
        assert found.dtype == np.int64
        assert (found == slow).all()


def test_a_shape_knows_its_sizes():
    shape = Shape(("sex", "age"), (2, 120))
    assert shape.width == 2
    assert shape.of((1,)) == (120,)
    assert shape.cells((0, 1)) == 240
    assert shape.cells(()) == 1
