import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.noise.exact.wide_multiply import below, below_small, wide_product
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
