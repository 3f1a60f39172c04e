"""Ranges from noisy histograms: arithmetic on numbers that were paid for."""

import datetime as dt
import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.base.schema import DateDomain, IntegerDomain, NumberDomain, TimestampDomain
from discreet.measure.columns import BINS, Coded, RangeToLearn
from discreet.measure.learned_domains import (
    FALSE_ALARM,
    NoiseBars,
    bars_of,
    first_cells,
    merged,
    narrowed,
    seen_range,
)
from discreet.measure.private_marginals import Measured
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from sittings import FULL

WIDE = IntegerDomain(-(10**15), 10**15)
LAW = GaussianLaw(Fraction(100))
RUNS = 300 if FULL else 60
DICE = np.random.default_rng(3)


def histogram(values, edges, law=LAW, missing=0):
    places = np.searchsorted(np.array(edges), values, side="right") - 1
    counts = np.bincount(places, minlength=len(edges)).astype(np.int64)
    noise = np.rint(DICE.normal(0, float(law.sigma_squared) ** 0.5, len(edges) + 1))
    return Measured((0,), np.append(counts, missing) + noise.astype(np.int64), law)


@pytest.mark.parametrize(
    "domain",
    [
        WIDE,
        IntegerDomain(5, 10**9),
        IntegerDomain(-(10**9), -5),
        NumberDomain(Fraction(-(10**12)), Fraction(10**12), Fraction(1, 10_000)),
        DateDomain(dt.date(1800, 1, 1), dt.date(2199, 12, 31)),
        TimestampDomain(dt.datetime(1800, 1, 1), dt.datetime(2199, 12, 31, 23)),
    ],
    ids=str,
)
def test_the_first_cells_cover_everything_and_are_few(domain):
    edges = first_cells(domain)
    assert edges[0] == 0
    assert list(edges) == sorted(set(edges))
    assert len(edges) < 2000
    assert edges[-1] < Coded("x", domain).positions


def test_cells_are_an_eighth_of_their_distance_from_zero():
    edges = [edge - 10**15 for edge in first_cells(WIDE)]
    assert {-3, -2, -1, 0, 1, 2, 3} <= set(edges)
    for edge, after in itertools.pairwise(edges):
        assert after - edge <= max(1, max(abs(edge), abs(after)) / 8 + 1)


CASES = {
    "ages": (DICE.integers(0, 100, 20_000), 0, 100),
    "years": (DICE.integers(1950, 2020, 20_000), 1950, 2020),
    "incomes": (np.rint(np.exp(DICE.normal(10, 1, 20_000))).astype(int), 1_000, 400_000),
    "losses": (-DICE.integers(1000, 5000, 20_000), -5000, -1000),
    "one value": (np.full(20_000, 7), 7, 8),
}


@pytest.mark.parametrize("case", CASES)
def test_the_range_is_found(case):
    values, low, high = CASES[case]
    edges = first_cells(WIDE)
    item = RangeToLearn("x", WIDE, missing=True)
    column = narrowed(item, histogram(values + 10**15, edges))
    lower, upper = column.domain.lower, column.domain.upper
    inside = ((values >= lower) & (values <= upper)).mean()
    assert inside > 0.97
    span = max(high - low, 1)
    # An eighth of a doubling too far at each end, and a stretch now and then.
    assert upper - lower <= 1.5 * max(span, abs(low), abs(high)) + 8
    assert column.missing  # as declared, whatever the noise says
    assert column.open_ends


@pytest.mark.parametrize("law", [LAW, LaplaceLaw(Fraction(10))], ids=["gaussian", "laplace"])
def test_noise_alone_shows_no_range(law):
    edges = first_cells(WIDE)
    draws = DICE.normal if isinstance(law, GaussianLaw) else DICE.laplace
    scale = 10.0
    bars = bars_of(Measured((0,), np.zeros(len(edges) + 1, int), law))
    found = [seen_range(np.rint(draws(0, scale, len(edges))), bars) for _ in range(RUNS)]
    assert FALSE_ALARM <= 1e-4  # so that a few hundred histograms show none
    assert not any(found)
    # The bar that was here before (1 in 40 for each size of groups) would have been passed.
    low = NoiseBars(bars.deviation / 2, heavy=False, cells=bars.cells)
    assert any(seen_range(np.rint(draws(0, scale, len(edges))), low) for _ in range(RUNS))
    item = RangeToLearn("x", WIDE, missing=True)
    assert narrowed(item, Measured((0,), np.zeros(len(edges) + 1, int), LAW)) is None


def test_a_thin_tail_does_not_make_the_range_explode():
    edges = first_cells(WIDE)
    item = RangeToLearn("x", WIDE, missing=True)
    for _ in range(RUNS // 3):
        values = np.rint(np.exp(DICE.normal(4.2, 0.3, 20_000))).astype(int)
        values[:400] = DICE.integers(150, 600, 400)
        column = narrowed(item, histogram(values + 10**15, edges))
        assert column.domain.lower >= -20
        assert column.domain.upper <= 2_000


def test_declared_gaps_keep_their_code_whatever_the_noise_says():
    edges = first_cells(WIDE)
    values = DICE.integers(0, 100, 20_000) + 10**15
    item = RangeToLearn("x", WIDE, missing=True)
    assert narrowed(item, histogram(values, edges, missing=500)).missing
    assert narrowed(item, histogram(values, edges, missing=0)).missing
    never = RangeToLearn("x", WIDE, missing=False)
    assert not narrowed(never, histogram(values, edges, missing=500)).missing


def close_look(values, domain):
    edges = first_cells(domain)
    lowest = int(domain.lower / getattr(domain, "step", 1))
    item = RangeToLearn("x", domain, missing=False)
    column = narrowed(item, histogram(values - lowest, edges))
    found = column.domain
    start = int(found.lower / (getattr(found, "step", 1)))
    factor = int(getattr(found, "step", 1) / getattr(domain, "step", 1))
    places = np.clip(values // factor - start, 0, column.positions - 1)
    return column, merged(column, histogram(places, column.edges)), places


def test_bins_hold_about_as_many_rows_each():
    values = np.rint(np.exp(DICE.normal(10, 1, 50_000))).astype(int)
    column, found, places = close_look(values, WIDE)
    assert len(column.edges) > len(found.edges)
    assert 10 <= len(found.edges) <= BINS + 5
    counts = np.bincount(np.searchsorted(found.edges, places, side="right") - 1)
    assert counts.max() < 6 * 50_000 / BINS


def test_zero_is_a_value_of_its_own():
    values = np.where(DICE.random(50_000) < 0.9, 0, DICE.integers(1, 50_000, 50_000))
    _, found, places = close_look(values, WIDE)
    zero = -found.domain.lower
    spans = [found.span(code) for code in range(found.values)]
    assert any(high - low <= 2 and low <= zero < high for low, high in spans), spans
    assert places.max() < found.positions


def test_a_number_keeps_sensible_steps():
    domain = NumberDomain(Fraction(-(10**12)), Fraction(10**12), Fraction(1, 10_000))
    values = np.rint(DICE.normal(70, 10, 20_000) * 10_000).astype(int)  # weights, in steps
    _, found, _ = close_look(values, domain)
    assert found.domain.step in {Fraction(1, 100), Fraction(1, 10)}
    assert 0 <= found.domain.lower < 60
    assert 80 < found.domain.upper < 200
