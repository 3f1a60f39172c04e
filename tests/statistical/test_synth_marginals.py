"""The noise that passes the door has the law that was priced; a choice has its odds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.base.unit import Neighbours
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.testing import assert_frequency, assert_law
from synth_kit import marginals_of, shape_of

CELLS = 100_000
SHAPE = shape_of(CELLS)
NONE = np.zeros((0, 1), dtype=np.int32)
HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    "unit",
    [
        CountSensitivity(),
        CountSensitivity(2),
        CountSensitivity(2, neighbours=Neighbours.REPLACE_ONE),
    ],
    ids=str,
)
def test_marginals_have_the_law_of_their_share(unit):
    """Computed here from the definitions, not taken from the door."""
    rho, epsilon = Fraction(1, 40), Fraction(1, 3)
    replaced = unit.neighbours is Neighbours.REPLACE_ONE
    variance = Fraction(2 * unit.rows**2 if replaced else unit.rows**2) / (2 * HALF * rho)
    scale = Fraction(2 * unit.rows if replaced else unit.rows) / (HALF * epsilon)
    for budget, law, wrong in (
        (
            MarginalBudget(rho, concentrated=True),
            GaussianLaw(variance),
            [GaussianLaw(variance * factor) for factor in (Fraction(4, 5), Fraction(5, 4))],
        ),
        (
            MarginalBudget(epsilon, concentrated=False),
            LaplaceLaw(scale),
            [LaplaceLaw(scale * factor) for factor in (Fraction(9, 10), Fraction(11, 10))],
        ),
    ):
        marginals = marginals_of(NONE, SHAPE, budget=budget, unit=unit, seed=17)
        (found,) = marginals.measure([(0,)], share=HALF)
        assert_law(found.values, law, wrong_laws=wrong)


@pytest.mark.parametrize(
    "unit", [CountSensitivity(), CountSensitivity(1, neighbours=Neighbours.REPLACE_ONE)], ids=str
)
def test_a_choice_has_the_odds_of_its_share(unit):
    """Two candidates, a gap of 4: odds of e^(epsilon gap / 2 l1); 1,500 draws see twice that."""
    epsilon = Fraction(1)
    trials, gap = 1500, 4
    chosen = 0
    for seed in range(trials):
        marginals = marginals_of(
            np.zeros((1, 1), dtype=np.int32),
            shape_of(2),
            budget=MarginalBudget(epsilon, concentrated=False),
            unit=unit,
            seed=seed,
        )
        chosen += marginals.choose(lambda _: np.array([gap, 0]), sensitivity=1, share=Fraction(1))
    rate = float(epsilon) * gap / (2 * unit.l1)
    chance = 1 / (1 + math.exp(rate))
    assert_frequency(chosen, trials, chance, chance)
    wrong = 1 / (1 + math.exp(2 * rate))
    with pytest.raises(AssertionError):
        assert_frequency(chosen, trials, wrong, wrong)
