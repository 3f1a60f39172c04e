from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.base.numbers import to_fraction
from discreet.errors import InvalidInput
from discreet.privacy.noise.additive import _fill, discrete_gaussian_squared, discrete_laplace
from discreet.testing.rng import FakeBits, SeededRng


def gaussian(sigma, size, **options):
    return discrete_gaussian_squared(to_fraction(sigma, name="sigma") ** 2, size, **options)


LAWS = [discrete_laplace, gaussian]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bad", [0, "nan", "inf", float("nan"), float("inf"), "x", True, "1e-7"])
def test_refuses_scales_without_meaning(law, bad):
    with pytest.raises(InvalidInput):
        law(bad, 3)


@pytest.mark.parametrize("law", LAWS)
def test_refuses_scales_beyond_its_range(law):
    for scale in (Fraction(1, 1001), 10**12 + 1):
        with pytest.raises(InvalidInput, match="must lie between"):
            law(scale, 1)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", [1, 1.5, "2/3", Decimal("0.25"), Fraction(10, 3), 1000, 10**12])
def test_accepts_every_way_to_write_a_number(law, scale):
    drawn = law(scale, 100, rng=SeededRng(1))
    assert drawn.dtype == np.int64
    assert drawn.shape == (100,)


@pytest.mark.parametrize("law", LAWS)
def test_shapes(law):
    assert law(3, (2, 3, 4)).shape == (2, 3, 4)
    assert law(1000, 0).shape == (0,)
    assert law(1000, (5, 0)).shape == (5, 0)
    assert law(3, np.int64(4)).shape == (4,)
    with pytest.raises(InvalidInput, match="negative"):
        law(3, -1)
    with pytest.raises(TypeError):
        law(3, 2.5)


@pytest.mark.parametrize("law", LAWS)
def test_a_float_means_the_decimal_that_it_prints_as(law):
    first = law(0.1, 2000, rng=SeededRng(2))
    assert np.array_equal(first, law("0.1", 2000, rng=SeededRng(2)))


def test_squares_beyond_the_range_are_refused():
    for square in (Decimal("1e-7"), 10**24 + 1):
        with pytest.raises(InvalidInput, match="sigma_squared"):
            discrete_gaussian_squared(square, 1)


def test_the_smallest_scales_are_almost_always_zero():
    for law in LAWS:
        assert not law("0.001", 1000).any()


def test_chunks_do_not_change_the_shape_of_the_sample():
    drawn = discrete_laplace(5, 100_001)
    assert drawn.size == 100_001
    assert len(np.unique(drawn[-1000:])) > 5


@pytest.mark.parametrize("law", LAWS)
def test_every_word_comes_from_the_given_source(law):
    law(1000, 10, rng=FakeBits([], then=SeededRng(1)))
    with pytest.raises(Exception, match="used up"):
        law(1000, 10, rng=FakeBits([]))


@pytest.mark.parametrize("law", LAWS)
def test_the_default_source_is_not_repeatable(law):
    assert not np.array_equal(law(10**9, 100), law(10**9, 100))


@pytest.mark.parametrize("law", LAWS)
def test_the_ends_of_its_range_are_allowed(law):
    for scale in (Fraction(1, 1000), 10**12):
        assert law(scale, 2, rng=SeededRng(1)).shape == (2,)
    for square in (Fraction(1, 10**6), 10**24):
        assert discrete_gaussian_squared(square, 2, rng=SeededRng(1)).shape == (2,)


def test_draws_come_in_chunks_of_2_to_the_15():
    asked = []

    def draw(count):
        asked.append(count)
        return np.full(count, len(asked))

    filled = _fill((5, 2**14), draw)
    assert asked == [2**15, 2**15, 2**14]
    assert np.array_equal(filled.reshape(-1), np.repeat([1, 2, 3], asked))
    assert filled.shape == (5, 2**14)
