from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet.base.event import Select
from discreet.errors import InvalidInput
from discreet.measure.private_marginals import MarginalBudget
from discreet.measure.sealing import MemoryCounter
from discreet.work.synth.methods import adaptive, independent, tree
from synth_kit import PURE, marginals_of, random_codes, shape_of

SHAPE = shape_of(4, 6, 3, 40, 2)
RICH = MarginalBudget(Fraction(2), concentrated=True)
TRIPLES = list(combinations(range(SHAPE.width), 3))


def codes_of(rows=4000, seed=7):
    return random_codes(np.random.default_rng(seed), SHAPE, rows)


def apart(model, codes, wanted):
    """Return the mean total variation distance of a model from the rows, over some marginals."""
    exact = MemoryCounter(codes, SHAPE).marginals(wanted)
    found = [model.marginal(columns) / model.total for columns in wanted]
    return np.mean(
        [np.abs(f - e / len(codes)).sum() / 2 for f, e in zip(found, exact, strict=True)]
    )


@pytest.fixture(scope="module")
def rich():
    """A fit with a large budget, and the door that it went through."""
    marginals = marginals_of(codes_of(), SHAPE, budget=RICH)
    return adaptive.fit(marginals), marginals


def rounds_of(marginals):
    return sum(isinstance(event, Select) for event in marginals.events)


def test_triples_are_better_than_a_tree_or_independence_makes_them(rich):
    codes = codes_of()
    trees, alone = (
        apart(method.fit(marginals_of(codes, SHAPE, budget=RICH)), codes, TRIPLES)
        for method in (tree, independent)
    )
    assert apart(rich[0], codes, TRIPLES) < trees < alone


def test_all_is_spent_and_rounds_and_steps_are_public():
    said = []
    marginals = marginals_of(codes_of(), SHAPE)
    adaptive.fit(marginals, progress=lambda *words: said.append(words[:2]))
    assert marginals.left == 0
    rounds = rounds_of(marginals)
    assert rounds == 7, "(log10(4000) - 1) / 2 for each of five columns, rounded up"
    assert len(marginals.events) == 5 + 2 * rounds
    assert said == [(0, 1), *((step, 8) for step in range(1, 9))]


def test_rounds_and_workload_can_be_declared():
    marginals = marginals_of(codes_of(), SHAPE)
    model = adaptive.fit(marginals, workload=[["c0", "c1"], [2, 4]], rounds=3)
    assert {columns for columns in model.parts if len(columns) > 1} <= {(0, 1), (2, 4)}
    assert rounds_of(marginals) == 2
    with pytest.raises(InvalidInput, match="workload"):
        adaptive.fit(marginals_of(codes_of(), SHAPE), workload=[["nobody"]])


def test_without_anything_to_choose_nothing_is_paid_for_a_choice():
    shape = shape_of(3, 4)
    marginals = marginals_of(random_codes(np.random.default_rng(1), shape, 100), shape)
    adaptive.fit(marginals)
    assert not any(isinstance(event, Select) for event in marginals.events)
    alone = marginals_of(np.zeros((5, 1), dtype=np.int32), shape_of(3))
    model = adaptive.fit(alone)
    assert alone.left == 0
    assert list(model.parts) == [(0,)]


def test_the_cap_on_cells_holds_and_more_room_is_used(rich):
    small = adaptive.fit(marginals_of(codes_of(), SHAPE, budget=RICH), cells=200)
    assert small.beliefs.tree.cells <= 200 < rich[0].beliefs.tree.cells


def test_many_rounds_are_fitted_in_batches(monkeypatch):
    fits = []
    real = adaptive.fit_entropy
    monkeypatch.setattr(adaptive, "fit_entropy", lambda *a, **k: fits.append(1) or real(*a, **k))
    monkeypatch.setattr(adaptive, "MOST_FITS", 4)
    shape = shape_of(*[2] * 7)
    marginals = marginals_of(random_codes(np.random.default_rng(1), shape, 300), shape)
    model = adaptive.fit(marginals, rounds=12)
    assert len(fits) == 4 + 1, "the last one is the thorough one"
    assert sum(len(columns) > 1 for columns in model.parts) > 6
    assert marginals.left == 0


def test_rounds_grow_with_rows_and_budget_and_there_is_one_at_least(rich):
    poor = MarginalBudget(Fraction(1, 10**6), concentrated=True)
    counts = []
    for rows, budget in ((0, poor), (400, RICH)):
        marginals = marginals_of(codes_of(rows), SHAPE, budget=budget)
        adaptive.fit(marginals)
        counts.append(rounds_of(marginals))
    assert counts[0] == 1
    assert counts[0] < counts[1] < rounds_of(rich[1])


def test_pure_epsilon_works_as_well():
    codes = codes_of()
    model = adaptive.fit(marginals_of(codes, SHAPE, budget=PURE))
    assert apart(model, codes, TRIPLES) < 0.35


def test_a_table_without_rows_gives_a_model_all_the_same():
    model = adaptive.fit(marginals_of(codes_of(0), SHAPE))
    assert model.total >= 1
    assert model.sample(5, dice=np.random.default_rng(1)).shape == (5, 5)


def test_a_cap_that_nothing_fits_under_leaves_the_smallest_marginal():
    model = adaptive.fit(marginals_of(codes_of(), SHAPE), cells=1)
    assert [columns for columns in model.parts if len(columns) > 1] == [(2, 4)]


@pytest.mark.parametrize(
    "setting", [{"rounds": 0}, {"cells": -1}, {"rounds": "3"}, {"cells": True}]
)
def test_settings_that_make_no_sense_are_refused(setting):
    marginals = marginals_of(codes_of(), SHAPE)
    with pytest.raises(InvalidInput, match="whole number"):
        adaptive.fit(marginals, **setting)
    assert marginals.left == 1
