from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import exp

import numpy as np
import pytest

from discreet.base.event import Select
from discreet.measure.private_marginals import draw_several
from discreet.testing import SeededRng, assert_frequency
from sittings import FULL
from synth_kit import CONCENTRATED, PURE, marginals_of, random_codes, shape_of

SCORES = np.array([3, 0, 3, 1, 0])
EPSILON = Fraction(1)
TRIALS = 2500 if FULL else 1000


def drawn(count, trials=TRIALS, seed=1):
    rng = SeededRng(seed)
    return [
        tuple(draw_several(SCORES, count, sensitivity=1, epsilon=EPSILON, rng=rng))
        for _ in range(trials)
    ]


def law(count, rate):
    """Return the chance of every sequence of draws without replacement."""
    weights = [exp(rate * int(score)) for score in SCORES]
    found = {}
    for order in permutations(range(len(SCORES)), count):
        chance, left = 1.0, sum(weights)
        for index in order:
            chance *= weights[index] / left
            left -= weights[index]
        found[order] = chance
    return found


def compare(seen, chances):
    for order, chance in chances.items():
        assert_frequency(seen[order], TRIALS, chance, chance)


@pytest.mark.parametrize("count", [1, 2])
def test_sequences_have_the_chances_of_the_exponential_mechanism(count):
    """Each of at most 20 frequencies is wrong with a chance of ALPHA = 1e-9."""
    seen = Counter(drawn(count))
    compare(seen, law(count, 0.5))
    with pytest.raises(AssertionError, match="too"):
        compare(seen, law(count, 1.0))  # the factor 2 forgotten


def test_candidates_differ_and_all_of_them_can_be_drawn():
    for order in drawn(5, trials=50):
        assert sorted(order) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("budget", [CONCENTRATED, PURE])
def test_the_door_charges_each_draw_its_part(budget):
    shape = shape_of(3, 4)
    marginals = marginals_of(
        random_codes(np.random.default_rng(1), shape, 50), shape, budget=budget
    )
    chosen = marginals.choose_several(
        lambda counter: counter.marginals([(0, 1)])[0].ravel(),
        count=4,
        sensitivity=1,
        share=Fraction(1, 2),
    )
    assert len(set(chosen)) == 4
    assert marginals.left == Fraction(1, 2)
    assert [type(each) for each in marginals.events] == [Select] * 4
    each = marginals.events[0].epsilon
    if budget.concentrated:
        assert 0 <= budget.amount / 8 - each**2 / 8 < Fraction(1, 10**12)
    else:
        assert each == budget.amount / 8
