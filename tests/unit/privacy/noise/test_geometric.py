import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.privacy.noise.additive import DIGIT_BITS, _widths, geometric_sampler
from discreet.privacy.noise.alias_tables import AliasTable
from discreet.testing.rng import FakeBits, SeededRng, words_for


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


def law_of(table, draw):
    """What `draw` makes of the words of a one-word table, with the chance of each value."""
    law = Counter()
    size = 1 << (64 - table.index_bits)
    for cell, limit in enumerate(table.limits.tolist()):
        for rest, words in ((limit - 1, limit), (limit + 1, size - limit)):
            if 0 <= rest < size:
                row = np.array([[cell * size + rest]], dtype=np.uint64)
                law[int(draw(row, SeededRng(1))[0])] += words / 2**64
    return law


@pytest.mark.parametrize("scale", ["1/4", "1", "3", "12"])
def test_every_word_of_a_small_scale_makes_up_the_law(scale):
    sampler = geometric_sampler(Fraction(scale))
    t = math.exp(-1 / float(Fraction(scale)))
    laplace, one_sided = (
        law_of(sampler.top, sampler.laplace),
        law_of(sampler.top, sampler.geometric),
    )
    for k in range(sampler.last):
        assert one_sided[k] == pytest.approx((1 - t) * t**k, abs=1e-14)
        for x in (k, -k):
            assert laplace[x] == pytest.approx((1 - t) / (1 + t) * t**k, abs=1e-14)
    assert min(one_sided) == 0


def chance(table, value):
    weights = table.weights.brackets(200)
    place = (table.outcomes[::2] == value).nonzero()[0][0]
    return weights[place][0] / sum(low for low, _ in weights)


@pytest.mark.parametrize("scale", ["13", "1000", "98765", "1000000000000"])
def test_the_chances_of_the_digits_multiply_to_the_law(scale):
    sampler = geometric_sampler(Fraction(scale))
    rate = 1 / float(Fraction(scale))
    for value in (0, 1, 5, int(1 / rate), int(3.7 / rate)):
        product = chance(sampler.top, value >> sampler.shift)
        ends = (*sampler.shifts[1:], sampler.shift)
        for table, start, end in zip(sampler.digits, sampler.shifts, ends, strict=True):
            product *= chance(table, (value >> start) % (1 << (end - start)))
        assert product == pytest.approx(math.exp(-value * rate) * math.tanh(rate / 2), rel=1e-9)


def test_tables_reach_40_scales_of_at_most_12():
    for scale in (Fraction(1, 1000), Fraction(12), Fraction(121, 10), Fraction(10**6)):
        sampler = geometric_sampler(scale)
        top = scale / 2**sampler.shift
        assert top <= 12
        assert sampler.shift == 0 or top > 6
        assert 40 * top <= sampler.last < max(4, 80 * top + 2)


def test_each_digit_needs_its_row_of_words():
    sampler = geometric_sampler(Fraction(1000))
    for rows in (sampler.words_per_draw - 1, sampler.words_per_draw + 1):
        with pytest.raises(ValueError, match="argument 3"):
            sampler.geometric(np.zeros((rows, 1), dtype=np.uint64), SeededRng(1))
