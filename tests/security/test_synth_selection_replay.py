"""Test 5 for paid selection: frozen outcomes, a neighbouring table, and nothing else may change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from discreet.work.synth import selection
from discreet.work.synth.methods.registry import METHODS
from discreet.work.synth.selection import choose_method
from synth_kit import BUDGETS, neighbours, violations

PAIRS = 8
FULL = 2_000
NAMES = ("tree", "independent", "correlated")


def chosen(marginals):
    """Return the model of the method that a paid selection keeps."""
    candidates = [
        (name, lambda d, p, name=name: METHODS[name].fit(d, progress=p)) for name in NAMES
    ]
    return choose_method(marginals, candidates).trusted.model


def hunt(pairs: int, seed: int) -> Iterator[str]:
    rng = np.random.default_rng(seed)
    for i in range(pairs):
        shape, codes, beside, unit = neighbours(rng)
        budget = list(BUDGETS.values())[i % 2]
        yield from violations(chosen, codes, beside, shape, budget, unit, seed + i)


def test_a_neighbour_changes_nothing_but_the_noisy_values():
    assert list(hunt(PAIRS, seed=21)) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_neighbour_changes_nothing_but_the_noisy_values_in_full():
    assert list(hunt(FULL, seed=22)) == []


def test_scores_of_twice_the_size_are_caught(monkeypatch):
    right = selection._scores

    def doubled(models, tables):
        scores = right(models, tables)
        return lambda counter: 2 * scores(counter)

    monkeypatch.setattr(selection, "_scores", doubled)
    assert "a score moved too far" in hunt(40, seed=23)
