import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.privacy.noise.rng import below, below_small, wide_product
from discreet.testing.rng import FakeBits, SeededRng

ALPHA = 1e-9
GREATEST = 2**64 - 1


def scripted(*words):
    return FakeBits(words, then=SeededRng(1))


def test_wide_product_equals_big_integers():
    edges = [0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, GREATEST - 1, GREATEST]
    pairs = list(itertools.product(edges, edges))
    words = SeededRng(7).words(2000)
    pairs += list(zip(words[:1000].tolist(), words[1000:].tolist(), strict=True))
    first, second = (np.array(side, dtype=np.uint64) for side in zip(*pairs, strict=True))
    high, low = wide_product(first, second)
    for (a, b), upper, lower in zip(pairs, high.tolist(), low.tolist(), strict=True):
        assert upper * 2**64 + lower == a * b


@pytest.mark.parametrize("total", [1, 3, 10, 2**32 + 1, 3**40, 2**63])
def test_below_is_the_top_of_a_256_bit_product(total):
    words = [12345678901234567890, 98765432109876543, GREATEST, GREATEST, 2**63, 1]
    for first, second in itertools.permutations(words, 2):
        drawn = below(np.array([total], dtype=np.uint64), scripted(first, second))
        assert int(drawn[0]) == (first * 2**64 + second) * total >> 128


def test_below_rejects_exactly_the_surplus():
    # 2^128 = 1 (mod 3): only X = 0 has a remainder below 1, and must be drawn again.
    rejecting = scripted(0, 0, GREATEST, GREATEST)
    assert int(below(np.array([3], dtype=np.uint64), rejecting)[0]) == 2
    assert rejecting.used == 4
    # X = 2^127: middle word of X*3 is not 0; nothing more is drawn.
    keeping = scripted(2**63, 0)
    assert int(below(np.array([3], dtype=np.uint64), keeping)[0]) == 1
    assert keeping.used == 2
    # A power of two divides 2^128: X = 0 is as good as any other.
    even = scripted(0, 0)
    assert int(below(np.array([4], dtype=np.uint64), even)[0]) == 0
    assert even.used == 2


def test_below_small_rejects_exactly_the_surplus():
    # 2^64 = 1 (mod 3).
    rejecting = scripted(0, GREATEST)
    assert below_small(3, 1, rejecting).tolist() == [2]
    assert rejecting.used == 2
    for word in (1, 2**32 - 1, 2**63 + 1, GREATEST, 12345678901234567890):
        for total in (2, 3, 7, 10**6, 2**32):
            assert below_small(total, 1, scripted(word)).tolist() == [word * total >> 64]


@pytest.mark.parametrize("draw", [below, None], ids=["two words", "one word"])
def test_uniform_law(draw):
    rng = SeededRng(3)
    if draw is None:
        sample = below_small(7, 140_000, rng)
    else:
        sample = draw(np.full(140_000, 7, dtype=np.uint64), rng)
    counts = np.bincount(sample.astype(np.int64), minlength=7)
    assert chisquare(counts).pvalue > ALPHA
    wrong = np.array([1.1, 0.9, 1, 1, 1, 1, 1]) * 20_000
    assert chisquare(counts, wrong).pvalue < ALPHA


@pytest.mark.parametrize("total", [3, 5, 7, 641, 10**6 + 3, 2**32 - 1, 3**40, 2**63 - 25])
def test_below_rejects_just_as_many_as_the_surplus(total):
    # For an odd T each remainder of X*T belongs to one X: those below 2^128 mod T are drawn again.
    surplus = 2**128 % total
    for remainder in {0, 1, surplus - 1, surplus, surplus + 1, total - 1, 2**64 - 1, 2**64}:
        number = remainder * pow(total, -1, 2**128) % 2**128
        rng = scripted(number >> 64, number & GREATEST, 0, GREATEST)
        drawn = int(below(np.array([total], dtype=np.uint64), rng)[0])
        if remainder < surplus:
            assert rng.used == 4
            assert drawn == GREATEST * total >> 128
        else:
            assert rng.used == 2
            assert drawn == number * total >> 128


@pytest.mark.parametrize("total", [3, 5, 7, 641, 10**6 + 3, 2**32 - 1])
def test_below_small_rejects_just_as_many_as_the_surplus(total):
    surplus = 2**64 % total
    for remainder in {0, 1, surplus - 1, surplus, surplus + 1, total - 1}:
        word = remainder * pow(total, -1, 2**64) % 2**64
        rng = scripted(word, 2**63)
        drawn = below_small(total, 1, rng).tolist()
        if remainder < surplus:
            assert rng.used == 2
            assert drawn == [total // 2]
        else:
            assert rng.used == 1
            assert drawn == [word * total >> 64]


@pytest.mark.parametrize("total", [3, 7, 10**6, 2**32 - 5, 2**32])
def test_below_small_changes_just_where_the_product_does(total):
    for k in range(1, total, max(1, total // 50)):
        first = -(-(k << 64) // total)
        for word, expected in ((first - 1, k - 1), (first, k)):
            if word * total % 2**64 >= 2**64 % total:
                assert below_small(total, 1, scripted(word)).tolist() == [expected]


def test_each_rejected_lane_is_drawn_again_by_itself():
    totals = np.array([3, 5, 3], dtype=np.uint64)
    # X = 0 is refused for both totals; X = 2^127 is not.
    script = [0, 2**63, 0, 0, 0, 0, 2**63, GREATEST, 0, 0]
    rng = scripted(*script)
    assert below(totals, rng).tolist() == [1, 2, 2]
    assert rng.used == len(script)
    rng = scripted(0, 2**63, 0, 2**63, GREATEST)
    assert below_small(3, 3, rng).tolist() == [1, 1, 2]
    assert rng.used == 5
