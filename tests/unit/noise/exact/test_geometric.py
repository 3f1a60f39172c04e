from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.noise.exact.alias_tables import AliasTable
from discreet.noise.exact.geometric import DIGIT_BITS, _widths, geometric_sampler
from discreet.testing.forced import words_for
from discreet.testing.rng import FakeBits, SeededRng


@pytest.mark.parametrize("bits", range(40))
def test_digit_widths_add_up(bits):
    widths = _widths(bits)
    assert sum(widths) == bits
    assert all(0 < width <= DIGIT_BITS for width in widths)


@pytest.mark.parametrize("scale", ["1/1000", "1", "1000", "1000000", "1000000000000"])
def test_words_per_draw_are_fixed(scale):
    sampler = geometric_sampler(Fraction(scale))
    rng = FakeBits([], then=SeededRng(1))
    words = rng.words(sampler.words_per_draw * 1000).reshape(-1, 1000)
    sampler.laplace(words, rng)
    assert rng.used == sampler.words_per_draw * 1000


@pytest.mark.parametrize("side", [0, -1])
def test_digits_and_side_are_put_together(side):
    sampler = geometric_sampler(Fraction(10**6))
    parts = [3, *(5 + i for i in range(len(sampler.digits)))]
    words = words_for(sampler.top, parts[0] ^ side)
    words += [words_for(t, d)[0] for t, d in zip(sampler.digits, parts[1:], strict=True)]
    expected = parts[0] << sampler.shift
    for digit, shift in zip(parts[1:], sampler.shifts, strict=True):
        expected += digit << shift
    rows = np.array(words, dtype=np.uint64).reshape(-1, 1)
    assert sampler.laplace(rows, FakeBits([]))[0] == expected ^ side
    assert sampler.geometric(rows, FakeBits([]))[0] == expected


@pytest.mark.parametrize("restarts", [1, 2, 5])
@pytest.mark.parametrize("side", [0, -1])
def test_goes_on_beyond_the_table(restarts, side):
    sampler = geometric_sampler(Fraction(10))
    first, *script = words_for(sampler.top, sampler.last ^ side)
    # The side comes from the first word only: here all later ones are on the negative side.
    script += words_for(sampler.top, ~sampler.last) * (restarts - 1) + words_for(sampler.top, ~7)
    rng = FakeBits(script)
    drawn = sampler.laplace(np.array([[first]], dtype=np.uint64), rng)
    assert drawn[0] == (restarts * sampler.last + 7) ^ side
    assert rng.used == len(script)


def test_refuses_to_wrap_around(monkeypatch):
    sampler = geometric_sampler(Fraction(10**12))
    ends = np.full(1, sampler.last, dtype=np.int64)
    monkeypatch.setattr(AliasTable, "draw", lambda self, words, rng: ends.copy())
    rows = np.zeros((sampler.words_per_draw, 1), dtype=np.uint64)
    with pytest.raises(InternalError, match="64 bits"):
        sampler.laplace(rows, SeededRng(1))
