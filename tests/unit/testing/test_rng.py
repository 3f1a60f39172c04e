import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.testing.rng import FakeBits, SeededRng


def test_a_seed_repeats_and_says_that_it_is_not_private():
    assert np.array_equal(SeededRng(5).words(100), SeededRng(5).words(100))
    assert not np.array_equal(SeededRng(5).words(100), SeededRng(6).words(100))
    assert SeededRng.private is False
    assert FakeBits.private is False


def test_a_seeded_stream_goes_on():
    rng = SeededRng(5)
    both = np.concatenate([rng.words(3), rng.words(4)])
    assert np.array_equal(both, SeededRng(5).words(7))
    assert both.dtype == np.uint64


def test_a_script_is_followed_and_then_ends():
    rng = FakeBits([1, 2, 3])
    assert rng.words(2).tolist() == [1, 2]
    assert rng.used == 2
    with pytest.raises(InternalError, match="used up"):
        rng.words(2)


def test_a_script_may_go_on_with_another_source():
    rng = FakeBits([1], then=SeededRng(5))
    assert rng.words(3).tolist() == [1, *SeededRng(5).words(2).tolist()]
