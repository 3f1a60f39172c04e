import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.privacy.noise.alias_tables import _plan, _replay, _shares, build_table
from discreet.privacy.noise.certified import GaussianSides, GeometricDigits, GeometricSides
from discreet.testing.rng import FakeBits

ONES = 2**64 - 1
LAWS = {
    "digit": GeometricDigits(Fraction(1000), 64),
    "nearly uniform digit": GeometricDigits(Fraction(10**12), 256),
    "sides": GeometricSides(Fraction(3), 127, Fraction(1, 3)),
    "almost a point": GeometricSides(Fraction(1, 1000), 3, Fraction(1000)),
    "gaussian": GaussianSides(Fraction(25), 63, (0, 1)),
    "gaussian magnitude": GaussianSides(Fraction(2500), 511, (0,)),
}


def values_of(weights):
    return list(range(len(weights.brackets(8))))


@pytest.fixture(scope="module", params=LAWS, ids=list(LAWS))
def table(request):
    weights = LAWS[request.param]
    return build_table(weights, values_of(weights))


def chances(table, bits):
    """Each outcome's probability from the table's own cells, as (low, high)."""
    count = 1 << table.index_bits
    low, high = [Fraction(0)] * count, [Fraction(0)] * count
    shares = _shares(table.weights.brackets(bits), bits)
    for cell, threshold in enumerate(_replay(table.gifts, shares, bits)):
        bottom, top = (Fraction(side, count << bits) for side in threshold)
        own, other = int(table.outcomes[2 * cell]), int(table.outcomes[2 * cell + 1])
        if own == other:
            bottom = top = Fraction(1, count)
        low[own] += bottom
        high[own] += top
        low[other] += Fraction(1, count) - top
        high[other] += Fraction(1, count) - bottom
    return low, high


def test_cells_add_up_to_the_weights(table):
    bits = 300
    low, high = chances(table, bits)
    weights = table.weights.brackets(bits)
    total_low, total_high = (sum(side) for side in zip(*weights, strict=True))
    for outcome, (bottom, top) in enumerate(weights):
        assert low[outcome] <= Fraction(top, total_low)
        assert Fraction(bottom, total_high) <= high[outcome]
        assert high[outcome] - low[outcome] < Fraction(1, 1 << (bits - 30))


def test_words_are_the_certified_first_bits(table):
    rest_bits = 64 - table.index_bits
    for cell in range(0, 1 << table.index_bits, 37):
        if table.outcomes[2 * cell] == table.outcomes[2 * cell + 1]:
            continue
        low, high = table.threshold(cell, rest_bits + 100)
        assert max(low, 0) >> 100 == high >> 100 == int(table.limits[cell])


def test_a_tie_is_decided_like_an_exact_oracle(table):
    """Words equal to a table's word, then refined by words just below, at and above the truth."""
    rest_bits = 64 - table.index_bits
    for cell in range(0, 1 << table.index_bits, 41):
        own, other = int(table.outcomes[2 * cell]), int(table.outcomes[2 * cell + 1])
        if own == other:
            continue
        word = (cell << rest_bits) | int(table.limits[cell])
        deep = rest_bits + 128
        low, _ = table.threshold(cell, deep)
        low = max(low, 0)
        exact = low >> 64  # rest and 64 more bits of the threshold
        for change in (-1, 1):
            more = (exact & ONES) + change
            if not 0 <= more <= ONES:
                continue
            got = table.draw(np.array([word], dtype=np.uint64), FakeBits([more]))
            assert int(got[0]) == (own if change < 0 else other)
        # The refining word ties too: a third word decides.
        for third, expected in ((0, own), (ONES, other)):
            if (low & ONES) in (0, 1, 2, ONES, ONES - 1, ONES - 2):
                continue
            rng = FakeBits([exact & ONES, third])
            got = table.draw(np.array([word], dtype=np.uint64), rng)
            assert int(got[0]) == expected
            assert rng.used == 2


@pytest.mark.parametrize("word", [0, ONES])
def test_extreme_words_have_an_outcome(table, word):
    words = np.full(3, word, dtype=np.uint64)
    drawn = table.draw(words, FakeBits([word] * 400))
    cell = word >> (64 - table.index_bits)
    assert set(drawn.tolist()) <= set(table.outcomes[2 * cell : 2 * cell + 2].tolist())


def test_tail_entries_may_share_a_word():
    table = build_table(LAWS["almost a point"], values_of(LAWS["almost a point"]))
    assert np.count_nonzero(table.limits == 0) > 1
    cell = int(np.flatnonzero(table.limits == 0)[-1])
    word = np.array([cell << (64 - table.index_bits)], dtype=np.uint64)
    own, other = table.outcomes[2 * cell], table.outcomes[2 * cell + 1]
    # Zeros for longer than the threshold's own 1443 and more leading zeros, or not.
    assert table.draw(word, FakeBits([0] * 200))[0] == own
    assert table.draw(word, FakeBits([0] * 10 + [1]))[0] == other


@dataclass(frozen=True)
class Even:
    count: int

    def brackets(self, bits):
        return [(1 << bits, 1 << bits)] * self.count


@pytest.mark.parametrize("count", [1, 3, 6])
def test_needs_a_power_of_two(count):
    with pytest.raises(ValueError, match="power of two"):
        build_table(Even(count), list(range(count)))


def test_shares_that_cannot_be_told_apart_raise_instead_of_looping():
    with pytest.raises(InternalError, match="told apart"):
        build_table(Pairs(), [0, 1, 2, 3])


@dataclass(frozen=True)
class Pairs:
    """Two halves that are each worth exactly two cells, known from brackets that never close."""

    def brackets(self, bits):
        third = (1 << bits) // 3
        return [(2 * third, 2 * third + 2), (third, third + 1)] * 2


def test_each_cell_says_its_own_below_its_word_and_the_other_above(table):
    greatest = ONES >> table.index_bits
    for cell, limit in enumerate(table.limits.tolist()):
        own, other = table.outcomes[2 * cell : 2 * cell + 2].tolist()
        for rest in {0, limit // 2, limit - 1, limit + 1, greatest} - {-1, limit, greatest + 1}:
            word = cell * (greatest + 1) + rest
            expected = own if rest < limit else other
            drawn = table.draw(np.array([word], dtype=np.uint64), FakeBits([]))
            assert drawn.tolist() == [expected]


def assert_legal(plan, shares, one):
    """Who takes has certainly less than a cell's worth and is done; who gives has at least that."""
    low, high = (list(side) for side in zip(*shares, strict=True))
    assert len(plan) == len(shares) - 1
    done = set()
    for giver, taker in plan:
        assert high[taker] < one <= low[giver]
        assert not {giver, taker} & done
        done.add(taker)
        low[giver] -= one - low[taker]
        high[giver] -= one - high[taker]


@pytest.mark.parametrize(("count", "precision", "width"), [(2, 2, 3), (4, 1, 2)])
def test_every_plan_of_a_small_world_is_legal(count, precision, width):
    one = 1 << precision
    brackets = [(low, low + w) for low in range(count * one + 1) for w in range(width)]
    planned = 0
    for shares in itertools.product(brackets, repeat=count):
        lows, highs = zip(*shares, strict=True)
        if sum(lows) <= count * one <= sum(highs):
            plan = _plan(list(shares), precision)
            if plan is not None:
                planned += 1
                assert_legal(plan, shares, one)
    assert planned > 5


def test_exact_shares_have_a_plan_unless_some_of_them_fill_their_own_cells():
    one, count = 8, 4
    for shares in itertools.product(range(0, 26, 3), repeat=count):
        if sum(shares) != count * one:
            continue
        parts = (p for size in range(1, count) for p in itertools.combinations(shares, size))
        if not any(sum(part) == len(part) * one for part in parts):
            plan = _plan([(share, share) for share in shares], 3)
            assert plan is not None
            assert_legal(plan, [(share, share) for share in shares], one)
