"""Tickets: the exact law, also where the spare tickets carry most of it."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.privacy.noise import select
from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.coins import ExpTable, exp_table
from discreet.privacy.noise.select import WeightedDraw, _Rest
from discreet.testing.rng import FakeBits, SeededRng
from sittings import FULL

ALPHA = 1e-9
N = 40_000 if FULL else 15_000
CRUDE = 59  # bits of a word that the crude tables forget


@dataclass(frozen=True)
class Crude:
    """Tables that are right but know little: nearly every draw meets a spare ticket."""

    exact: ExpTable

    @property
    def rate(self):
        return self.exact.rate

    @property
    def slack(self):
        return self.exact.slack + 2**CRUDE

    def words(self, gaps):
        return (self.exact.words(gaps) >> np.uint64(CRUDE)) << np.uint64(CRUDE)


def sample(tables, weights, gaps):
    rows = np.broadcast_to(np.array(gaps, dtype=np.uint64), (N, len(gaps)))
    weighted = WeightedDraw(tables, np.array(weights, dtype=np.uint64))
    return np.bincount(weighted.draw(rows, SeededRng(4)), minlength=len(gaps))


def pvalue(counts, weights, gaps, rate):
    law = np.array(weights) * np.exp(-float(rate) * np.array(gaps))
    return chisquare(counts, law / law.sum() * N).pvalue


@pytest.mark.parametrize("weights", [(1, 1, 1, 1), (3, 1, 2, 5)])
@pytest.mark.parametrize("crude", [False, True])
def test_law_is_exact_with_good_and_with_crude_tables(weights, crude):
    gaps, rate = (0, 1, 2, 5), Fraction(1, 2)
    tables = Crude(exp_table(rate)) if crude else exp_table(rate)
    counts = sample(tables, weights, gaps)
    assert pvalue(counts, weights, gaps, rate) > ALPHA
    assert pvalue(counts, weights, gaps, rate * 2) < ALPHA
    assert pvalue(counts, [1, 2, 1, 1], gaps, rate) < ALPHA


def test_dropping_the_spare_tickets_would_be_caught(monkeypatch):
    gaps, rate = (0, 1, 2, 5), Fraction(1, 2)
    monkeypatch.setattr(select, "is_below", lambda *_: False)
    counts = sample(Crude(exp_table(rate)), (1, 1, 1, 1), gaps)
    assert pvalue(counts, (1, 1, 1, 1), gaps, rate) < ALPHA


def test_tickets_and_rest_make_up_the_whole_weight():
    # Sum over the spare tickets of their chances = the true weight less the tickets, to 2^-100.
    rate, gap, weight, bits = Fraction(1, 3), 7, 5, 128
    weighted = WeightedDraw(exp_table(rate), np.array([weight, 2], dtype=np.uint64))
    word = int(exp_table(rate).words(np.array([gap], dtype=np.uint64))[0])
    tickets = weight * word >> weighted.shift
    rest = [weighted._rest(gap, 0, tickets + unit).bounds(bits) for unit in range(weighted.spare)]
    low, high = exp_bounds(-gap * rate, bits + 63 - weighted.shift)
    assert sum(part[0] for part in rest) <= weight * high - (tickets << bits)
    assert sum(part[1] for part in rest) >= weight * low - (tickets << bits)
    assert sum(part[1] - part[0] for part in rest) <= 2**8
    assert rest[-1] == (0, 0), "the last spare ticket reaches beyond the weight"


@pytest.mark.parametrize("weights", [(1,), (1, 61, 1, 1), (2**40 - 1, 1), (5, 3)])
@pytest.mark.parametrize("crude", [False, True])
def test_spare_tickets_cover_the_worst_rest(weights, crude):
    rate, bits = Fraction(1, 50), 128
    tables = Crude(exp_table(rate)) if crude else exp_table(rate)
    weighted = WeightedDraw(tables, np.array(weights, dtype=np.uint64))
    for gap in range(1, 400):
        word = int(tables.words(np.array([gap], dtype=np.uint64))[0])
        low, high = exp_bounds(-gap * rate, bits + 63 - weighted.shift)
        for weight in weights:
            tickets = weight * word >> weighted.shift
            assert tickets << bits <= weight * low
            assert weight * high < (tickets + weighted.spare) << bits


def test_each_spare_ticket_belongs_to_one_part_of_one_candidate(monkeypatch):
    gaps = np.array([[3, 0, 1]], dtype=np.uint64)
    tables = exp_table(Fraction(1, 7))
    weighted = WeightedDraw(tables, np.ones(3, dtype=np.uint64))
    tickets = (tables.words(gaps[0]) >> np.uint64(weighted.shift)).tolist()
    total = sum(tickets) + 3 * weighted.spare
    asked = []

    def record(prefix, known, bounds, rng):
        asked.append(bounds.__self__)
        return True

    monkeypatch.setattr(select, "is_below", record)
    for spare in range(3 * weighted.spare):
        # A 128-bit number that `below` maps to this ticket; the least one it may reject.
        wanted = -(-((sum(tickets) + spare) << 128) // total) + 1
        bits = FakeBits([wanted >> 64, wanted & (2**64 - 1)])
        assert weighted.draw(gaps, bits).tolist() == [spare // weighted.spare]
    assert [part.counted for part in asked] == [
        tickets[i] + unit for i in range(3) for unit in range(weighted.spare)
    ]
    assert [part.exponent for part in asked[:: weighted.spare]] == [
        Fraction(3, 7),
        0,
        Fraction(1, 7),
    ]


def test_equal_rows_are_drawn_independently():
    rows = np.zeros((1000, 2), dtype=np.uint64)
    chosen = WeightedDraw(exp_table(Fraction(1)), np.ones(2, dtype=np.uint64)).draw(
        rows, SeededRng(1)
    )
    assert 350 < int(chosen.sum()) < 650


def test_a_rest_is_a_part_between_nothing_and_a_ticket():
    for counted, expected in ((0, 1), (1, 1), (2, Fraction(1, 2)), (3, 0)):
        rest = _Rest(Fraction(0), 5, -1, counted)  # 5 * 2^-1 tickets in all
        for bits in (2, 8, 64):
            low, high = rest.bounds(bits)
            assert low <= expected * 2**bits <= high
            assert high - low <= 3
            assert 0 <= low <= high <= 2**bits


@pytest.mark.parametrize("weights", [(1,), (1, 1), (3, 1, 2), (7, 2**20)])
def test_all_tickets_fit_below_2_to_the_62(weights):
    weighted = WeightedDraw(exp_table(Fraction(1)), np.array(weights, dtype=np.uint64))
    assert 4 * sum(weights) <= 2**weighted.shift < 8 * sum(weights) or sum(weights) == 1
    assert weighted.factors.tolist() == [w << (64 - weighted.shift) for w in weights]


def test_each_ticket_belongs_to_one_candidate():
    gaps = np.array([[3, 0, 1]], dtype=np.uint64)
    tables = exp_table(Fraction(1, 7))
    weighted = WeightedDraw(tables, np.array([1, 2, 1], dtype=np.uint64))
    words = tables.words(gaps[0]).tolist()
    tickets = [(w * word) >> weighted.shift for w, word in zip((1, 2, 1), words, strict=True)]
    total = sum(tickets) + 3 * weighted.spare
    ends = [sum(tickets[: i + 1]) for i in range(3)]
    for ticket, owner in ((0, 0), (ends[0] - 1, 0), (ends[0], 1), (ends[1] - 1, 1), (ends[1], 2)):
        wanted = -(-(ticket << 128) // total) + 1
        rng = FakeBits([wanted >> 64, wanted & (2**64 - 1)])
        assert weighted.draw(gaps, rng).tolist() == [owner]
        assert rng.used == 2
