"""Whole fits on two neighbouring tables: what they show is worth no more than what was charged."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.measure.private_marginals import MarginalBudget
from discreet.testing.statistics import audit
from discreet.work.synth.methods.registry import METHODS
from synth_kit import marginals_of, shape_of

SHAPE = shape_of(2, 2)
TRIALS = 300
MANY = 20_000
TABLE = np.zeros((6, 2), dtype=np.int32)
BESIDE = TABLE[:-1]


def outcomes(name: str, epsilon: int):
    """Return a mechanism: fit, and look at the cell where the two tables differ."""

    def run(codes, trials):
        budget = MarginalBudget(Fraction(epsilon), concentrated=False)
        found = []
        for seed in range(trials):
            marginals = marginals_of(codes, SHAPE, budget=budget, seed=seed + len(codes) * MANY)
            model = METHODS[name].fit(marginals)
            found.append(round(float(model.marginal((0, 1))[0, 0])))
        return np.array(found)

    return run


def test_a_fit_loses_no_more_than_its_epsilon():
    """The bound exceeds the truth with a chance of at most 1e-9."""
    assert audit(outcomes("independent", 1), TABLE, BESIDE, trials=TRIALS).epsilon <= 1


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", ["independent", "tree", "correlated"])
def test_a_fit_loses_no_more_than_its_epsilon_in_full(name):
    assert audit(outcomes(name, 1), TABLE, BESIDE, trials=MANY).epsilon <= 1


def test_a_door_with_a_sixth_of_the_noise_is_caught():
    assert audit(outcomes("independent", 6), TABLE, BESIDE, trials=TRIALS).epsilon > 1
