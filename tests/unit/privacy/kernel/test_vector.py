"""Joint-norm vector sums: whatever floats do, no unit's integers are longer than the bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.base.event import Gaussian, Laplace
from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.privacy.kernel import mechanism
from discreet.privacy.kernel.mechanism import Norm, VectorSum
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
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


@pytest.mark.parametrize(
    ("bound", "size", "fits"),
    [
        (1, 1, True),
        (0, 1, False),
        (1, 0, False),
        (-5, 3, False),
        (2**31 - 1, 1, True),  # its square is below 2^62
        (2**31, 1, False),
        (2**30, 3, True),
        (2**30, 4, False),
        (1, 2**61, True),
    ],
)
def test_a_sum_of_squares_stays_within_64_bits(bound: int, size: int, fits: bool) -> None:
    if fits:
        assert VectorSum(Norm.L2, bound, size, Neighbours.ADD_REMOVE).bound == bound
    else:
        with pytest.raises(InvalidInput):
            VectorSum(Norm.L2, bound, size, Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("units", [10, 11, 12])
def test_a_batch_is_no_longer_than_64_bits_can_hold(units: int, monkeypatch) -> None:
    monkeypatch.setattr(mechanism, "_ROOM", 99)
    sums = VectorSum(Norm.L1, 9, 1, Neighbours.ADD_REMOVE)
    if units == 10:
        assert sums.add([[9.0]] * units).tolist() == [90]
    else:
        with pytest.raises(InvalidInput, match="Too many units"):
            sums.add([[9.0]] * units)


@pytest.mark.parametrize("shape", [(2,), (3, 1), (3, 3), (1, 2, 2)])
def test_vectors_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="a vector of 2 numbers"):
        VectorSum(Norm.L2, 5, 2, Neighbours.ADD_REMOVE).add(np.ones(shape))


@pytest.mark.parametrize(
    ("norm", "given", "expected"),
    [
        (Norm.L1, [4.0, -6.0], [4, -6]),  # just the bound
        (Norm.L1, [10.0, 0.0], [10, 0]),
        (Norm.L1, [30.0, -10.0], [7, -2]),  # a quarter of it: 7.5 and -2.5, towards zero
        (Norm.L1, [1000.0, 0.0], [10, 0]),
        (Norm.L2, [6.0, -8.0], [6, -8]),
        (Norm.L2, [0.0, -10.0], [0, -10]),
        (Norm.L2, [60.0, -80.0], [6, -8]),
        (Norm.L2, [0.0, -1e300], [0, -10]),
        (Norm.L2, [6.9, -1.9], [6, -1]),
        (Norm.L2, [0.0, 0.0], [0, 0]),
        (Norm.L2, [1.0, 1.0], [1, 1]),
        (Norm.L2, [0.9, -0.9], [0, 0]),
        (Norm.L2, [float("nan"), 3.0], [0, 3]),
        (Norm.L2, [float("inf"), 3.0], [0, 3]),
    ],
)
def test_a_vector_is_scaled_down_to_the_bound_and_cut_towards_zero(norm, given, expected) -> None:
    sums = VectorSum(norm, 10, 2, Neighbours.ADD_REMOVE)
    with np.errstate(invalid="raise", divide="raise"):
        assert sums.add([given]).tolist() == expected
        assert sums.add([given, [1.0, 2.0]]).tolist() == [expected[0] + 1, expected[1] + 2]


@pytest.mark.parametrize(
    ("norm", "whole", "short"),
    [
        (Norm.L1, [3, -2], True),
        (Norm.L1, [3, -3], False),
        (Norm.L1, [-5, 0], True),
        (Norm.L2, [3, -4], True),
        (Norm.L2, [4, -4], False),
        (Norm.L2, [5, 1], False),
        (Norm.L2, [0, 5], True),
    ],
)
def test_what_enters_a_sum_is_short_in_whole_numbers(norm, whole, short) -> None:
    sums = VectorSum(norm, 5, 2, Neighbours.ADD_REMOVE)
    assert sums._short(np.array([whole, [0, 0]])).tolist() == [short, True]


def test_whatever_floats_did_a_coordinate_beyond_the_bound_is_left_out(monkeypatch) -> None:
    monkeypatch.setattr(VectorSum, "_shrinking", lambda _self, v: np.ones(len(v)))
    sums = VectorSum(Norm.L1, 10, 2, Neighbours.ADD_REMOVE)
    assert sums.add([[11.0, 3.0], [-1e300, 2.0]]).tolist() == [0, 5]


@pytest.mark.parametrize(
    ("norm", "bound", "size", "neighbours", "l1", "l2_squared"),
    [
        (Norm.L1, 7, 4, Neighbours.ADD_REMOVE, 7, 49),
        (Norm.L1, 7, 4, Neighbours.REPLACE_ONE, 14, 196),
        (Norm.L2, 7, 4, Neighbours.REPLACE_ONE, 28, 196),
        (Norm.L2, 3, 2, Neighbours.ADD_REMOVE, 5, 9),  # sqrt(18) = 4.2, upwards
        (Norm.L2, 3, 1, Neighbours.ADD_REMOVE, 3, 9),
    ],
)
def test_an_event_is_for_the_length_that_a_unit_moves(
    norm, bound, size, neighbours, l1, l2_squared
) -> None:
    sums = VectorSum(norm, bound, size, neighbours)
    assert sums.event(LaplaceLaw(3)) == Laplace(3, l1)
    assert sums.event(GaussianLaw(3)) == Gaussian(3, l2_squared, size)


def test_a_noisy_sum_is_the_sum_and_the_noise() -> None:
    class Steps:
        def draw(self, size, _rng):
            return np.arange(1, size + 1)

    sums = VectorSum(Norm.L2, 7, 3, Neighbours.ADD_REMOVE)
    assert sums.noisy(np.array([10, 20, 30]), Steps(), SeededRng(1)).tolist() == [11, 22, 33]
