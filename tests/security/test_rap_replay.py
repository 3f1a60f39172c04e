"""rap on many neighbours: with a stand-in for the descent, which compiles anew for every shape.

The descent is post-processing; what must not leak is what rap.py asks, and when. The real descent
is replayed on a few pairs in test_synth_replay.py.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from discreet.work.synth.methods import rap
from synth_kit import BUDGETS, OPTIONS, neighbours, violations

PAIRS = 50
FULL = 10_000


class Flat:
    """Relaxed rows whose chances are a fixed function of the noisy shares so far."""

    def __init__(self, shape, rows):
        self.sizes, self.rows, self.shift = shape.sizes, rows, 0.0

    def blocks(self):
        found = []
        for size in self.sizes:
            raw = 1.5 + np.sin(np.arange(self.rows * size) + self.shift).reshape(self.rows, size)
            found.append(raw / raw.sum(axis=1, keepdims=True))
        return tuple(found)

    def fit_cells(self, codes, shares, counted, *, steps, rate):
        self.shift = float(shares.sum() + codes[:, counted].sum())

    def fit_marginals(self, wanted, targets, *, steps, rate):
        self.shift = float(sum(target.sum() for target in targets))


def hunt(fit, pairs, seed):
    rng = np.random.default_rng(seed)
    found = []
    for i in range(pairs):
        shape, codes, beside, unit = neighbours(rng)
        budget = list(BUDGETS.values())[i % 2]
        found += violations(fit, codes, beside, shape, budget, unit, seed + i)
    return found


@pytest.fixture(params=[1, 3])
def fit(request, monkeypatch):
    monkeypatch.setattr(rap, "_relaxed", Flat)
    return partial(rap.fit, **(OPTIONS["rap"] | {"rounds": request.param}))


def test_a_neighbour_changes_nothing_but_the_noisy_values(fit):
    assert hunt(fit, PAIRS, seed=21) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_neighbour_changes_nothing_but_the_noisy_values_in_full(fit):
    assert hunt(fit, FULL, seed=22) == []


def test_a_score_of_twice_the_size_is_caught(monkeypatch):
    monkeypatch.setattr(rap, "_relaxed", Flat)
    real = rap._Contest._read
    monkeypatch.setattr(rap._Contest, "_read", lambda self, counter: 2 * real(self, counter))
    assert "a score moved too far" in hunt(partial(rap.fit, **OPTIONS["rap"]), 20, seed=23)
