"""Amplification by shuffling: central epsilon of shuffled reports, if someone trusted mixes them."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.arrays import Floats, Integers

_TAIL = 1e-12
_HALVINGS = 24
_RUNS = 60

ASSUMES = (
    "Only if a party that everyone trusts mixes the reports and removes their ids before anybody else "
    "sees them; against the collector itself the promise is the local epsilon."
)


def shuffled_epsilon(epsilon: float, reports: int, *, delta: float) -> float:
    """Return an epsilon such that the multiset of `reports` reports is (epsilon, delta)-DP.

    Guarantee: every report of another respondent is, with probability e^-epsilon0, an independent fair
        draw between the two reports that must be told apart; so the pair to compare is (A + D, C - A + 1 - D)
        and its mirror image, C ~ Bin(n - 1, e^-epsilon0), A ~ Bin(C, 1/2), D ~ Bernoulli of
        e^epsilon0 / (1 + e^epsilon0) [Feldman, McMillan & Talwar 2021, theorem 3.1]. The hockey-stick
        divergence of these is summed over C; what is cut off is added to delta. Never above epsilon0.

    >>> round(shuffled_epsilon(1.0, 100_000, delta=1e-6), 3)
    0.015
    """
    if reports < 2 or epsilon > 40:
        return epsilon
    truth = 1 / (1 + math.exp(-epsilon))
    pairs = [(mass, *_pair(n, truth)) for n, mass in _clones(reports - 1, math.exp(-epsilon))]
    low, high = 0.0, epsilon
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = sum(
            mass * float(np.maximum(first - math.exp(middle) * second, 0.0).sum())
            for mass, first, second in pairs
        )
        low, high = (low, middle) if found + _TAIL <= delta else (middle, high)
    return high


def _clones(others: int, share: float) -> list[tuple[int, float]]:
    """Return numbers of clones with their probabilities, rounded towards fewer clones.

    Fewer clones hide less, so a run of numbers counts as its least one.
    """
    mean, spread = others * share, math.sqrt(others * share * (1 - share))
    low = max(0, int(mean - 10 * spread - 10))
    high = min(others, int(mean + 10 * spread + 40))
    numbers = np.arange(low, high + 1)
    starts = np.arange(0, numbers.size, max(1, numbers.size // _RUNS))
    masses = np.add.reduceat(_binomial(others, numbers, share), starts)
    return [(int(numbers[at]), float(mass)) for at, mass in zip(starts, masses, strict=True)]


def _pair(count: int, truth: float) -> tuple[Floats, Floats]:
    """Return the two laws to be told apart for a given number of clones."""
    spread = math.sqrt(count) / 2
    low = max(0, int(count / 2 - 10 * spread - 10))
    high = min(count, int(count / 2 + 10 * spread) + 10)
    coin = _binomial(count, np.arange(low, high + 1), 0.5)
    before, after = np.append(0.0, coin), np.append(coin, 0.0)
    return truth * before + (1 - truth) * after, truth * after + (1 - truth) * before


def _binomial(n: int, k: Integers, share: float) -> Floats:
    """Return binomial probabilities at consecutive k that hold all but 1e-15 of the whole."""
    if share >= 1:
        return np.where(k == n, 1.0, 0.0)
    later = k[1:].astype(np.float64)
    steps = np.log((n - later + 1) / later) + math.log(share) - math.log1p(-share)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
