"""The likeliest block from what is known of a town, and from noisy tables on top of it."""

from __future__ import annotations

import math

import numpy as np

from discreet.attack.counts.census_tables import RESIDENTS, Counts, tabulated
from discreet.core.arrays import Floats, Integers

_TWINS = 4
"""How many equal residents of one block are considered."""


def expected_residents(others: Integers, size: int) -> Floats:
    """Return how many of each kind a block of `size` holds on average, by everybody elsewhere."""
    counts = tabulated(others) + 1 / len(RESIDENTS)
    return np.asarray(size * counts / counts.sum())


def likeliest_block(expected: Floats, size: int) -> Integers:
    """Return the `size` residents that most likely live there, counts being Poisson.

    Each further resident of a kind is one more guess, right with the probability that there are so
    many; the best guesses are taken. No block has a higher expected overlap with the true one.
    """
    below = np.zeros_like(expected)
    chances = []
    for count in range(_TWINS):
        below = below + np.exp(-expected) * expected**count / math.factorial(count)
        chances.append(1 - below)
    best = np.argsort(-np.concatenate(chances), kind="stable")[:size]
    return np.bincount(best % expected.size, minlength=expected.size).astype(np.int64)


def weighed(expected: Floats, table: Counts, noisy: Floats, *, epsilon: float) -> Floats:
    """Return the expected residents after hearing a table with noise of scale 1 / epsilon.

    In each cell the number of residents is Poisson before, and weighed by the law of the noise; the
    kinds of that cell are then scaled to the mean that this gives.
    """
    place = table.place()
    before = np.bincount(place, weights=expected, minlength=table.cells)
    counts = np.arange(int(expected.sum()) + 1, dtype=np.float64)
    logs = np.array([math.lgamma(count + 1) for count in counts])
    with np.errstate(divide="ignore"):
        prior = counts[None, :] * np.log(np.maximum(before, 1e-12))[:, None] - logs
    odds = prior - epsilon * np.abs(noisy[:, None] - counts[None, :])
    weights = np.exp(odds - odds.max(1, keepdims=True))
    after = (weights @ counts) / weights.sum(1)
    return np.asarray(expected * (after / np.maximum(before, 1e-12))[place])
