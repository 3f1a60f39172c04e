from fractions import Fraction

import pytest

from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.rng import is_below
from discreet.testing.rng import FakeBits

ONES = 2**64 - 1


def third(bits):
    return (1 << bits) // 3, (1 << bits) // 3 + 1


def test_decides_without_a_word_when_the_prefix_is_enough():
    assert is_below(0, 8, third, FakeBits([]))
    assert not is_below(255, 8, third, FakeBits([]))


@pytest.mark.parametrize(
    ("last", "below"), [(0x5555555555555554, True), (0x5555555555555556, False)]
)
@pytest.mark.parametrize("depth", [0, 1, 5, 20])
def test_follows_a_tie_to_any_depth(depth, last, below):
    # 1/3 is 0.0101...: words that repeat it tie for as long as they are repeated.
    rng = FakeBits([0x5555555555555555] * depth + [last])
    assert is_below(0x55, 8, third, rng) is below
    assert rng.used == depth + 1


def test_a_tiny_threshold_is_still_reached():
    tiny = Fraction(-1000)  # e^-1000 is about 2^-1443
    rng = FakeBits([0] * 30)
    assert is_below(0, 0, lambda bits: exp_bounds(tiny, bits), rng)
    assert rng.used == 23
    assert not is_below(0, 0, lambda bits: exp_bounds(tiny, bits), FakeBits([0] * 10 + [1]))


def test_all_ones_are_above_any_threshold_below_one():
    near_one = Fraction(-1, 10**30)
    rng = FakeBits([ONES] * 5)
    assert not is_below(0, 0, lambda bits: exp_bounds(near_one, bits), rng)
    assert rng.used == 2
