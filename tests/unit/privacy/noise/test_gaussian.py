import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.privacy.noise import additive as gaussian_module
from discreet.privacy.noise.additive import (
    EXP_ERROR,
    BlockSampler,
    TableSampler,
    _exp_minus,
    draw_tail,
    gaussian_sampler,
)
from discreet.privacy.noise.certified import GaussianSides, exp_bounds
from discreet.testing.rng import FakeBits, SeededRng, words_for
from discreet.testing.statistics import ALPHA, assert_frequency
from sittings import FULL

BLOCK_VARIANCES = [Fraction(56**2), Fraction(10**6), Fraction(10**12) / 3, Fraction(10**24)]
ONES = 2**64 - 1
LANES = 1000 if FULL else 400
COINS = 200 if FULL else 80
"""How many decisions are tried, and how many in each block: enough for every broken twin below."""


def test_small_sigma_takes_a_table_and_large_sigma_blocks():
    assert isinstance(gaussian_sampler(Fraction(55**2)), TableSampler)
    assert isinstance(gaussian_sampler(Fraction(55**2) + Fraction(1, 9)), BlockSampler)


def test_fixed_point_exp_is_within_its_error():
    gamma = np.linspace(0, 0.4 * 2**32, 4001 if FULL else 1001).astype(np.int64)
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
    for block, i in itertools.product(blocks, range(1, COINS)):
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
    variance, start, draws = Fraction(9), 4, 10_000 if FULL else 3000
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


@pytest.fixture
def tails(monkeypatch):
    """What is asked of `draw_tail`; it answers with what the test puts first."""
    asked = []

    def answer(variance, start, rng):
        asked.append((variance, start))
        return start + 5

    monkeypatch.setattr(gaussian_module, "draw_tail", answer)
    return asked


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(4), Fraction(900)])
def test_every_word_of_a_small_variance_makes_up_the_law(variance, tails):
    sampler = gaussian_sampler(variance)
    size = 1 << (64 - sampler.table.index_bits)
    law = dict.fromkeys(range(-sampler.last - 6, sampler.last + 6), 0.0)
    for cell, limit in enumerate(sampler.table.limits.tolist()):
        for rest, words in ((limit - 1, limit), (limit + 1, size - limit)):
            if 0 <= rest < size:
                value = sampler.draw(1, FakeBits([cell * size + rest]))[0]
                law[int(value)] += words / 2**64
    weights = {x: math.exp(-x * x / 2 / float(variance)) for x in law}
    for x, mass in law.items():
        assert mass == pytest.approx(weights[x] / sum(weights.values()), abs=1e-14)


def test_both_ends_of_a_table_go_on_where_they_stand(tails):
    sampler = gaussian_sampler(Fraction(4))
    for end, start in ((sampler.last, sampler.last), (~sampler.last, sampler.last + 1)):
        drawn = sampler.draw(1, FakeBits(words_for(sampler.table, end)))
        assert tails.pop() == (4, start)
        assert drawn.tolist() == [start + 5 if end > 0 else -start - 5]


def test_the_last_block_goes_on_with_the_envelopes_law(tails):
    sampler = gaussian_sampler(Fraction(10**6))
    first, *script = words_for(sampler.blocks, sampler.last)
    assert sampler._blocks(np.array([first], dtype=np.uint64), FakeBits(script)) == sampler.last + 5
    assert tails == [(Fraction(10**6, 4**sampler.shift), sampler.last)]


@pytest.mark.parametrize("variance", BLOCK_VARIANCES)
def test_blocks_have_the_envelopes_law(variance):
    sampler = gaussian_sampler(variance)
    envelope = variance / 4**sampler.shift
    assert 27.5**2 < envelope <= 55**2
    assert sampler.blocks.weights == GaussianSides(envelope, sampler.last, (0,))
    assert 9.2**2 * envelope <= sampler.last**2 < 4 * 9.3**2 * envelope


def test_nothing_beyond_64_bits_is_returned(monkeypatch):
    sampler = gaussian_sampler(Fraction(10**6))
    first, *script = words_for(sampler.blocks, sampler.last)
    words = np.array([first], dtype=np.uint64)
    most = 1 << (61 - sampler.shift)
    monkeypatch.setattr(gaussian_module, "draw_tail", lambda *_: most - 1)
    assert sampler._blocks(words, FakeBits(script)).tolist() == [most - 1]
    monkeypatch.setattr(gaussian_module, "draw_tail", lambda *_: most)
    with pytest.raises(InternalError, match="64 bits"):
        sampler._blocks(words, FakeBits(script))
    monkeypatch.undo()
    assert draw_tail(Fraction(1), 2**61 - 1, SeededRng(1)) == 2**61 - 1
    with pytest.raises(InternalError, match="64 bits"):
        draw_tail(Fraction(1), 2**61, SeededRng(1))


@pytest.mark.parametrize("variance", [Fraction(9), Fraction(1, 2), Fraction(10**6)])
def test_the_tail_keeps_a_geometric_number_by_its_square(variance, monkeypatch):
    kept, scales, sampler = [], [], gaussian_module.geometric_sampler

    def keep(*seen):
        kept.append(seen[:3])
        return len(kept) % 3 == 0

    monkeypatch.setattr(gaussian_module, "_keep", keep)
    monkeypatch.setattr(
        gaussian_module, "geometric_sampler", lambda scale: scales.append(scale) or sampler(scale)
    )
    rng = SeededRng(1)
    drawn = [draw_tail(variance, 4, rng) for _ in range(20)]
    assert scales == [variance / 4] * 20
    assert len(kept) == 60, "a refused number is drawn again"
    assert kept[2::3] == [(Fraction((k - 4) ** 2) / (2 * variance), 0, 0) for k in drawn]


@pytest.mark.parametrize("variance", BLOCK_VARIANCES)
def test_decisions_know_the_lowest_bits_of_their_word(variance, monkeypatch):
    sampler = gaussian_sampler(variance)
    seen = []
    monkeypatch.setattr(gaussian_module, "_keep", lambda *args: seen.append(args[:3]) or True)
    known = 63 - sampler.shift
    for word in (0, 1, 2**63 - 1, ONES, *SeededRng(1).words(20).tolist()):
        assert sampler._decide(7, 3, word, SeededRng(1))
        gamma = Fraction(3 * ((14 << sampler.shift) + 3)) / (2 * variance)
        assert seen.pop() == (gamma, word % 2**known, known)


@pytest.mark.parametrize("variance", [*BLOCK_VARIANCES, Fraction(10**18), Fraction(10**20) / 7])
def test_slack_covers_every_rounding_of_the_proof(variance):
    sampler = gaussian_sampler(variance)
    rate = Fraction(4**sampler.shift) / (2 * variance)
    assert rate * (2 * sampler.safe + 1) <= Fraction(2, 5), "the series is good up to 2/5"
    losses = rate * (2 * sampler.safe + 2) * 2**8 + rate * 2**10 + 1 + 1  # units of 2^-32
    coin = Fraction(2) ** max(0, sampler.shift + 1 - 32)
    assert losses + EXP_ERROR + coin <= sampler.slack < 2 * (losses + EXP_ERROR + coin)
    assert sampler.factor <= rate * 2**42 < sampler.factor + 1


def test_few_more_candidates_are_drawn_than_needed():
    sampler = gaussian_sampler(Fraction(10**6))
    rng = FakeBits([], then=SeededRng(1))
    assert sampler.draw(10_000, rng).size == 10_000
    assert rng.used < 2.1 * 10_000
    assert sampler.draw(0, FakeBits([])).size == 0


@pytest.mark.parametrize("sign", [0, 1])
def test_magnitude_and_sign_are_put_together(sign):
    sampler = gaussian_sampler(Fraction(10**6))
    for block, inside in itertools.product((0, 1, 17, 100), range(1 << sampler.shift)):
        # The coin's bits are 0: below any chance.
        word = (sign << 63) | (inside << (63 - sampler.shift))
        pair = np.array([words_for(sampler.blocks, block), [word]], dtype=np.uint64)
        magnitude = (block << sampler.shift) + inside
        got = sampler._accepted(pair, FakeBits([]))
        assert got.tolist() == [-(magnitude + 1) if sign else magnitude]
