"""Rows that a bound leaves out: the interval holds, and a twin that trusts the noise too much does not."""

import numpy as np
import pytest

from discreet.ask.release.rows_left_out import ENDS, RowsHistogram, spread

SCALE = 10
VARIANCE = 2 * np.exp(-1 / SCALE) / (1 - np.exp(-1 / SCALE)) ** 2
PEOPLE = np.maximum(1, np.random.default_rng(3).lognormal(4.2, 1, 1000).astype(int))


def laplace(rng, shape):
    p = 1 - np.exp(-1 / SCALE)
    return rng.geometric(p, shape) - rng.geometric(p, shape)


def exact_bins():
    places = np.searchsorted(ENDS, PEOPLE, side="left")
    return np.bincount(places, minlength=len(ENDS) + 1)


def missed(variance, times=300):
    """Return how often the loss of the people up to the cut lies outside of the interval."""
    rng, bins, outside = np.random.default_rng(1), exact_bins(), 0
    for noise in laplace(rng, (times, len(ENDS) + 1)):
        found = RowsHistogram(ENDS, tuple(bins + noise), variance).lost(20)
        counted = PEOPLE[found.up_to >= PEOPLE]
        truth = np.maximum(counted - 20, 0).sum()
        more = (found.up_to < PEOPLE).sum()
        outside += not (found.low <= truth <= found.high and more <= found.beyond)
    return outside / times


def test_the_interval_holds_and_a_twin_that_trusts_the_noise_does_not():
    assert missed(VARIANCE) <= 0.05
    assert missed(VARIANCE / 10_000) > 0.4


def test_a_spread_is_exceeded_as_rarely_as_it_says_and_is_not_far_too_wide():
    weights = np.array([1.0, 5, 20, 80])
    sums = laplace(np.random.default_rng(2), (200_000, 4)) @ weights
    assert (sums > spread(weights, VARIANCE, 0.05)).mean() < 0.05
    assert spread(weights, VARIANCE, 0.05) < 2.5 * np.quantile(sums, 0.95)
    assert spread([0.0, 0.0], VARIANCE, 0.05) == 0


@pytest.mark.parametrize("bound", [1, 20, 500, 10_000, 50_000])
def test_without_noise_the_bracket_is_that_of_the_bins(bound):
    found = RowsHistogram(ENDS, tuple(exact_bins()), 0.0).lost(bound)
    counted = PEOPLE[found.up_to >= PEOPLE]
    assert found.low <= np.maximum(counted - bound, 0).sum() <= found.high
    assert found.beyond == (found.up_to < PEOPLE).sum()
