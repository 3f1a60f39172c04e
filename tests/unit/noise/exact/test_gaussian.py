import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.exact.certified import exp_bounds
from discreet.noise.exact.gaussian import (
    EXP_ERROR,
    BlockSampler,
    TableSampler,
    _exp_minus,
    draw_tail,
    gaussian_sampler,
)
from discreet.testing.forced import words_for
from discreet.testing.laws import ALPHA, assert_frequency
from discreet.testing.rng import FakeBits, SeededRng

BLOCK_VARIANCES = [Fraction(56**2), Fraction(10**6), Fraction(10**12) / 3, Fraction(10**24)]
ONES = 2**64 - 1
LANES = 1000


def test_small_sigma_takes_a_table_and_large_sigma_blocks():
    assert isinstance(gaussian_sampler(Fraction(55**2)), TableSampler)
    assert isinstance(gaussian_sampler(Fraction(55**2) + Fraction(1, 9)), BlockSampler)


def test_fixed_point_exp_is_within_its_error():
    gamma = np.linspace(0, 0.4 * 2**32, 4001).astype(np.int64)
    computed = _exp_minus(gamma)
    for g, value in zip(gamma.tolist(), computed.tolist(), strict=True):
        low, high = exp_bounds(Fraction(-g, 2**32), 32)
        assert low - 8 < value < high + 8


def exactly_accepted(sampler, word, block):
    """A second implementation in exact fractions; None where the 64 bits do not decide."""
    sign, rest = word >> 63, word & (2**63 - 1)
    known = 63 - sampler.shift
    inside = (rest >> known) + sign
    prefix = rest & ((1 << known) - 1)
    start = block << sampler.shift
    gamma = Fraction((start + inside) ** 2 - start**2) / (2 * sampler.variance)
    low, high = exp_bounds(-gamma, known)
    if low <= prefix < high:
        return None
    return prefix < low


@pytest.mark.parametrize("variance", BLOCK_VARIANCES)
def test_acceptance_equals_an_exact_oracle(variance):
    sampler = gaussian_sampler(variance)
    rng = SeededRng(7)
    words = rng.words(2 * LANES).reshape(2, -1)
    # Words next to the decision: the coin starts like the exact chance, give or take a little.
    blocks = sampler.blocks.draw(words[0], rng)
    near = words[1].copy()
    known = 63 - sampler.shift
    for lane in range(0, LANES, 2):
        word = int(near[lane])
        head, inside = word >> known, ((word >> known) & ((1 << sampler.shift) - 1)) + (word >> 63)
        start = int(blocks[lane]) << sampler.shift
        gamma = Fraction((start + inside) ** 2 - start**2) / (2 * variance)
        coin = exp_bounds(-gamma, known)[0] + (lane // 2) % 41 - 20
        near[lane] = (head << known) | min(max(coin, 0), (1 << known) - 1)
    for lane in range(LANES):
        expected = exactly_accepted(sampler, int(near[lane]), int(blocks[lane]))
        pair = np.array([[int(words[0][lane])], [int(near[lane])]], dtype=np.uint64)
        if expected is None:
            continue
        got = sampler._accepted(pair, FakeBits([]))
        assert (got.size == 1) is expected


def assert_near_decisions(sampler, blocks, monkeypatch):
    """Coins just below and just above the exact chance, block by block, against the oracle."""
    known = 63 - sampler.shift
    for block, i in itertools.product(blocks, range(1, 200)):
        monkeypatch.setattr(
            BlockSampler, "_blocks", lambda self, words, rng, b=block: np.full(1, b, np.int64)
        )
        start = block << sampler.shift
        inside = (i * 7919 * 104729) % (1 << sampler.shift)
        gamma = Fraction((start + inside) ** 2 - start**2) / (2 * sampler.variance)
        coin = exp_bounds(-gamma, known)[0] + (-2 if i % 2 else 3)
        word = (inside << known) | max(coin, 0)
        expected = exactly_accepted(sampler, word, block)
        if expected is None:  # a chance too small for the known bits
            continue
        pair = np.array([[0], [word]], dtype=np.uint64)
        assert (sampler._accepted(pair, FakeBits([])).size == 1) is expected


@pytest.mark.parametrize("variance", [Fraction(10**6), Fraction(10**18), Fraction(10**20) / 7])
def test_decisions_are_exact_in_every_block(variance, monkeypatch):
    sampler = gaussian_sampler(variance)
    blocks = [0, 60, sampler.safe - 1, sampler.safe, sampler.last - 1, sampler.last + 3, 20_000]
    assert_near_decisions(sampler, blocks, monkeypatch)


@pytest.mark.parametrize("broken", [{"slack": EXP_ERROR}, {"safe": 1 << 40}, {"factor": 1 << 31}])
def test_broken_twins_would_be_caught(broken, monkeypatch):
    """Fixed point alone, without its margins, decides wrongly."""
    sampler = gaussian_sampler(Fraction(10**20) / 7)
    blocks = [60, sampler.safe - 1, sampler.last - 1, 20_000]
    with pytest.raises(AssertionError):
        assert_near_decisions(replace(sampler, **broken), blocks, monkeypatch)


def test_a_coin_that_ties_is_refined():
    sampler = gaussian_sampler(Fraction(10**6))
    known = 63 - sampler.shift
    block, inside = 40, 3
    gamma = Fraction(inside * ((block << (sampler.shift + 1)) + inside)) / (2 * sampler.variance)
    exact = exp_bounds(-gamma, known + 128)[0]
    word = (inside << known) | (exact >> 128)
    pair = np.array([words_for(sampler.blocks, block), [word]], dtype=np.uint64)
    second = (exact >> 64) & ONES
    for script, kept in ([second - 1], 1), ([second + 1], 0), ([second, 0], 1), ([second, ONES], 0):
        rng = FakeBits(script)
        assert sampler._accepted(pair, rng).size == kept
        assert rng.used == len(script)


@pytest.mark.parametrize("sign", [0, 1])
def test_blocks_beyond_the_table_are_drawn_and_decided_exactly(sign):
    sampler = gaussian_sampler(Fraction(10**6))
    first, *script = words_for(sampler.blocks, sampler.last)
    pair = np.array([[first], [(sign << 63) | 5]], dtype=np.uint64)
    kept = sampler._accepted(pair, FakeBits(script, then=SeededRng(3)))
    assert kept.size == 1
    assert (kept[0] < 0) == bool(sign)
    assert abs(int(kept[0])) >= sampler.last << sampler.shift


@pytest.mark.parametrize("sign", [1, -1])
def test_a_table_goes_on_beyond_its_end(sign):
    sampler = gaussian_sampler(Fraction(4))
    end = sampler.last if sign > 0 else ~sampler.last
    drawn = sampler.draw(1, FakeBits(words_for(sampler.table, end), then=SeededRng(5)))
    assert drawn[0] * sign >= abs(end)


def test_the_tail_has_its_conditional_law():
    variance, start, draws = Fraction(9), 4, 10_000
    rng = SeededRng(11)
    values = np.array([draw_tail(variance, start, rng) for _ in range(draws)])
    weights = [math.exp(-k * k / 18) for k in range(start, 60)]
    assert values.min() == start
    for k in range(start, start + 3):
        chance = weights[k - start] / sum(weights)
        count = int((values == k).sum())
        assert_frequency(count, draws, chance, chance)
        with pytest.raises(AssertionError):
            assert_frequency(count, draws, chance * 1.5, chance * 1.5)
    assert ALPHA == 1e-9
