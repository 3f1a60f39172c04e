"""What is promised about the error on ADULT. Seeds are fixed, so a failure is a change of the code."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from discreet.measure.private_marginals import MarginalBudget
from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Shape
from discreet.privacy.account.convert import rho_of_target
from discreet.work.synth.methods.registry import METHODS
from patience import quickest, slowness
from synth_kit import marginals_of

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
QUICK, FULL = 1, 10
LIMITS = {  # greatest error of a cell, mean total variation distance
    ("tree", "1"): (0.030, 0.105),
    ("tree", "0.1"): (0.038, 0.220),
    ("correlated", "1"): (0.098, 0.177),
}


@pytest.fixture(scope="module")
def adult():
    if not (DATA / "adult_discretized.csv").is_file():
        pytest.skip("the discretised ADULT is not here (../shared/data)")
    sizes = json.loads((DATA / "adult_discretized-domain.json").read_text(encoding="utf-8"))
    codes = np.loadtxt(DATA / "adult_discretized.csv", delimiter=",", skiprows=1, dtype=np.int32)
    shape = Shape(tuple(sizes), tuple(sizes.values()))
    fitting = [c for c in combinations(range(shape.width), 3) if shape.cells(c) <= len(codes)]
    chosen = np.random.RandomState(0).choice(len(fitting), 64, replace=False)
    return codes, shape, [fitting[i] for i in chosen]


def errors(adult, name, epsilon, seeds):
    codes, shape, wanted = adult
    rows = len(codes)
    exact = MemoryCounter(codes, shape).marginals(wanted)
    budget = MarginalBudget(
        rho_of_target(Fraction(epsilon), Fraction(1, rows * rows)), concentrated=True
    )
    found = []
    for seed in range(seeds):
        model = METHODS[name].fit(marginals_of(codes, shape, budget=budget, seed=seed))
        made = model.sample(rows, dice=np.random.default_rng(seed))
        counts = MemoryCounter(made, shape).marginals(wanted)
        apart = [np.abs(a - b) / rows for a, b in zip(exact, counts, strict=True)]
        found.append(
            (max(each.max() for each in apart), np.mean([each.sum() / 2 for each in apart]))
        )
    return np.mean(found, axis=0)


@pytest.mark.parametrize(("name", "epsilon"), LIMITS, ids=str)
def test_the_error_is_within_what_was_promised(adult, name, epsilon):
    assert (errors(adult, name, epsilon, QUICK) <= LIMITS[name, epsilon]).all()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epsilon"), LIMITS, ids=str)
def test_the_error_is_within_what_was_promised_in_full(adult, name, epsilon):
    assert (errors(adult, name, epsilon, FULL) <= LIMITS[name, epsilon]).all()


def test_a_method_without_dependence_would_not_pass(adult):
    assert (errors(adult, "independent", "1", 1) > LIMITS["tree", "1"]).all()


def test_the_tree_needs_seconds_and_no_more(adult):
    codes, shape, _ = adult

    def copied(turn):
        model = METHODS["tree"].fit(marginals_of(codes, shape))
        model.sample(len(codes), dice=np.random.default_rng(turn))

    assert quickest(copied) < 3 * slowness()
