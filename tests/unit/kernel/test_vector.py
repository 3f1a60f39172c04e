"""Joint-norm vector sums: whatever floats do, no unit's integers are longer than the bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.event import Gaussian, Laplace
from discreet.core.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.kernel.vector import Norm, VectorSum
from discreet.noise.laws import GaussianLaw, LaplaceLaw
from discreet.testing import SeededRng

FLOATS = st.floats(allow_nan=True, allow_infinity=True, width=64)


def _length(found: np.ndarray, norm: Norm) -> int:
    values = [abs(int(v)) for v in found]
    return sum(values) if norm is Norm.L1 else sum(v * v for v in values)


@given(st.lists(FLOATS, min_size=3, max_size=3), st.integers(1, 10**6), st.sampled_from(Norm))
def test_one_unit_never_moves_a_sum_by_more_than_the_bound(values, bound, norm) -> None:
    sums = VectorSum(norm, bound, 3, Neighbours.ADD_REMOVE)
    others = [[1.5, -2.0, 0.25]] * 3
    moved = sums.add([*others, values]) - sums.add(others)
    assert _length(moved, norm) <= (bound if norm is Norm.L1 else bound**2)


def test_a_twin_that_believes_its_floats_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(VectorSum, "_short", lambda _self, whole: np.ones(len(whole), dtype=bool))
    monkeypatch.setattr(VectorSum, "_shrinking", lambda _self, v: np.ones(len(v)))
    sums = VectorSum(Norm.L2, 10, 3, Neighbours.ADD_REMOVE)
    assert _length(sums.add([[9.0, 9.0, 9.0]]), Norm.L2) > 100


def test_short_vectors_pass_unchanged_and_long_ones_keep_their_direction() -> None:
    sums = VectorSum(Norm.L2, 1000, 2, Neighbours.ADD_REMOVE)
    assert sums.add([[30.0, -40.0]]).tolist() == [30, -40]
    assert sums.add([[3e9, 4e9]]).tolist() == [600, 800]


def test_events_say_what_the_noise_is_made_for() -> None:
    one = VectorSum(Norm.L2, 7, 4, Neighbours.ADD_REMOVE)
    two = VectorSum(Norm.L1, 7, 4, Neighbours.REPLACE_ONE)
    assert one.event(GaussianLaw(3)) == Gaussian(3, 49, 4)
    assert one.event(LaplaceLaw(3)) == Laplace(3, 14)
    assert two.event(LaplaceLaw(3)) == Laplace(3, 14)


def test_noise_is_drawn_for_every_coordinate() -> None:
    sums = VectorSum(Norm.L2, 7, 500, Neighbours.ADD_REMOVE)
    found = sums.noisy(np.zeros(500, dtype=np.int64), GaussianLaw(10**6), SeededRng(1))
    assert len(set(found.tolist())) > 400


def test_sizes_that_could_overflow_are_refused() -> None:
    with pytest.raises(InvalidInput):
        VectorSum(Norm.L2, 2**31, 10, Neighbours.ADD_REMOVE)
    with pytest.raises(InvalidInput):
        VectorSum(Norm.L2, 1, 2, Neighbours.ADD_REMOVE).add([[1.0]])
