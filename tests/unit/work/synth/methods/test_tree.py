from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.measure.private_marginals import MarginalBudget
from discreet.measure.sealing import MemoryCounter
from discreet.work.synth.methods import independent, tree
from synth_kit import marginals_of, random_codes, shape_of

SHAPE = shape_of(4, 6, 3, 12)
RICH = MarginalBudget(Fraction(10), concentrated=True)


def codes_of(rows=5000):
    return random_codes(np.random.default_rng(7), SHAPE, rows)


def apart(model, codes, pairs):
    """Return the mean total variation distance of a model from the rows, over some marginals."""
    exact = MemoryCounter(codes, SHAPE).marginals(pairs)
    found = [model.marginal(pair) / model.total for pair in pairs]
    return np.mean(
        [np.abs(f - e / len(codes)).sum() / 2 for f, e in zip(found, exact, strict=True)]
    )


NEIGHBOURS = [(0, 1), (1, 2), (2, 3)]


def test_dependence_is_kept_where_the_independent_method_loses_it():
    codes = codes_of()
    ours = tree.fit(marginals_of(codes, SHAPE, budget=RICH))
    theirs = independent.fit(marginals_of(codes, SHAPE, budget=RICH))
    assert apart(ours, codes, NEIGHBOURS) < 0.05 < 0.15 < apart(theirs, codes, NEIGHBOURS)


def test_more_budget_means_less_error():
    codes = codes_of()
    errors = [
        np.mean(
            [
                apart(
                    tree.fit(marginals_of(codes, SHAPE, budget=MarginalBudget(rho, True), seed=s)),
                    codes,
                    NEIGHBOURS,
                )
                for s in range(4)
            ]
        )
        for rho in (Fraction(1, 1000), Fraction(1, 20), Fraction(10))
    ]
    assert errors[0] > errors[1] > errors[2]


def test_every_column_has_one_parent_at_the_most_and_all_is_spent():
    marginals = marginals_of(codes_of(), SHAPE)
    model = tree.fit(marginals)
    assert sorted(len(node.parents) for node in model.nodes) == [0, 1, 1, 1]
    assert marginals.left == 0
    assert len(marginals.events) == 4 + 3 + 3


def test_a_single_column_gets_all_of_the_budget():
    shape = shape_of(5)
    marginals = marginals_of(random_codes(np.random.default_rng(1), shape, 100), shape)
    assert len(tree.fit(marginals).nodes) == 1
    assert marginals.left == 0


def test_the_total_is_near_the_number_of_rows():
    model = tree.fit(marginals_of(codes_of(3000), SHAPE, budget=RICH))
    assert model.total == pytest.approx(3000, abs=10)
