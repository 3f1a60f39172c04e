"""Test 5 for synthesizers: frozen outcomes, a neighbouring table, and nothing else may change."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from discreet.measure.private_marginals import PrivateMarginals
from discreet.work.synth.methods import tree
from discreet.work.synth.methods.registry import METHODS
from discreet.work.synth.models.conditional_chain import Network, Node
from synth_kit import BUDGETS, EVERY_METHOD, OPTIONS, neighbours, violations

PAIRS = 40
FULL = 10_000
FEWER: dict[str, int] = {"adaptive": 6, "rap": 2}
"""Methods whose fit takes long: so many pairs in the quick run."""


def hunt(fit, pairs: int, seed: int) -> list[str]:
    """Return all violations over random neighbours, in both currencies."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(pairs):
        shape, codes, beside, unit = neighbours(rng)
        budget = list(BUDGETS.values())[i % 2]
        found += violations(fit, codes, beside, shape, budget, unit, seed + i)
    return found


@pytest.mark.parametrize("name", EVERY_METHOD)
def test_a_neighbour_changes_nothing_but_the_noisy_values(name):
    fit = partial(METHODS[name].fit, **OPTIONS.get(name, {}))
    assert hunt(fit, FEWER.get(name, PAIRS // 3), seed=11) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", EVERY_METHOD)
def test_a_neighbour_changes_nothing_but_the_noisy_values_in_full(name):
    fit = partial(METHODS[name].fit, **OPTIONS.get(name, {}))
    assert hunt(fit, 100 * FEWER.get(name, FULL // 100), seed=12) == []


def test_the_recorder_knows_every_way_through_the_door():
    """Whoever adds one must teach it to the recorder, or the hunt would not see it."""
    ways = {name for name in vars(PrivateMarginals) if not name.startswith("_")}
    assert ways == {"measure", "choose", "choose_several", "law", "left"}


def _model(marginals, total) -> Network:
    sizes = marginals.shape.sizes
    nodes = tuple(Node(i, (), np.full(size, 1 / size)) for i, size in enumerate(sizes))
    return Network(marginals.shape, float(total), nodes)


def rounds_from_the_data(marginals):
    """The number of rounds is the number of rows, seen while scoring."""
    seen = []

    def scores(counter):
        seen.append(int(counter.marginals([(0,)])[0].sum()))
        return np.zeros(2, dtype=np.int64)

    marginals.choose(scores, sensitivity=1, share=Fraction(1, 2))
    for _ in range(seen[0] % 7):
        marginals.measure([(0,)], share=Fraction(1, 20))
    return _model(marginals, 1)


def peeks(marginals):
    """Reads the counter beside the door."""
    return _model(marginals, marginals._counter.marginals([(0,)])[0].sum())


def double_sensitivity(marginals):
    """A score that one row moves by 2, declared as 1."""
    marginals.choose(
        lambda counter: 2 * counter.marginals([(0,)])[0], sensitivity=1, share=Fraction(1)
    )
    return _model(marginals, 1)


def domain_from_the_data(marginals):
    """Counts only the codes that occur."""
    seen = []

    def scores(counter):
        seen.append(counter.marginals([(0,)])[0] > 0)
        return np.zeros(2, dtype=np.int64)

    marginals.choose(scores, sensitivity=1, share=Fraction(1, 2))
    groups = np.where(seen[0], np.cumsum(seen[0]), 0)
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    marginals.measure([(0,)], share=Fraction(1, 2), merged={0: groups})
    return _model(marginals, 1)


def exact_total(marginals):
    """Asks as the tree does, and puts one exact number into the model."""
    seen = []

    def scores(counter):
        seen.append(int(counter.marginals([(0,)])[0].sum()))
        return np.zeros(1, dtype=np.int64)

    marginals.choose(scores, sensitivity=1, share=Fraction(1, 100))
    return _model(marginals, seen[0])


BROKEN = {
    rounds_from_the_data: {"another request", "fewer requests", "another price"},
    peeks: {"the counter was read outside the door"},
    double_sensitivity: {"a score moved too far"},
    domain_from_the_data: {"another request"},
    exact_total: {"another model"},
}


@pytest.mark.parametrize("twin", BROKEN, ids=lambda twin: twin.__name__)
def test_a_broken_method_is_caught(twin):
    found = set(hunt(twin, PAIRS, seed=13))
    assert found & BROKEN[twin]
    assert found <= BROKEN[twin]


def test_a_tree_with_an_undeclared_factor_in_its_scores_is_caught(monkeypatch):
    """The real method with one real mistake: scores of twice the size."""
    monkeypatch.setattr(
        "discreet.measure.one_way_marginals.dependence",
        lambda counts, weights: int(4 * counts.max(initial=0)),
    )
    assert "a score moved too far" in hunt(tree.fit, PAIRS // 2, seed=14)
