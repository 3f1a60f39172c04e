from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.measure.one_way_marginals import (
    FamilyScores,
    Singles,
    dependence,
    measure_singles,
    weights_of,
)
from discreet.measure.sealing import MemoryCounter
from synth_kit import marginals_of, random_codes, shape_of

SHAPE = shape_of(3, 4, 2)
CODES = random_codes(np.random.default_rng(2), SHAPE, 600)


def singles() -> Singles:
    return measure_singles(marginals_of(CODES, SHAPE), share=Fraction(1))


def test_independent_counts_score_nothing_and_a_copy_scores_most():
    assert dependence(np.outer([1, 3], [10, 20, 30]), np.array([1, 3])) == 0
    assert dependence(np.diag([40, 40, 40]), np.array([1, 1, 1])) == 80


def test_the_score_is_the_distance_in_rows():
    counts, weights = np.array([[30, 10], [20, 40]]), np.array([2, 3])
    exact = np.abs(counts - weights[:, None] / 5 * counts.sum(axis=0)).sum() / 2
    assert dependence(counts, weights) == int(exact)


def test_large_counts_stay_exact():
    big = 2**40
    counts = np.array([[big, 0], [0, big]])
    assert dependence(counts, np.array([1 << 19, 1 << 19])) == big


def test_weights_are_whole_and_merged_like_the_counts():
    found = weights_of(singles(), 1, {})
    merged = weights_of(singles(), 1, {1: np.array([0, 1, 1, 1])})
    assert found.dtype == np.int64
    assert merged.tolist() == [found[0], found[1:].sum()]
    assert found.sum() > 0


def test_weights_that_round_to_nothing_become_even():
    tiny = Singles(singles().measured, 1e9, tuple(np.full(s, 1e-9) for s in SHAPE.sizes))
    assert weights_of(tiny, 0, {}).tolist() == [1, 1, 1]


def test_families_are_counted_once_whatever_their_order():
    asked = []

    class Counting(MemoryCounter):
        def marginals(self, wanted):
            asked.extend(wanted)
            return super().marginals(wanted)

    scores = FamilyScores(singles(), {})
    counter = Counting(CODES, SHAPE)
    first = scores.of(counter, [(0, 1), (1, 0), (0, 2, 1)])
    again = scores.of(counter, [(0, 2, 1), (0, 1)])
    assert asked == [(0, 1), (0, 1, 2)]
    assert first[[2, 0]].tolist() == again.tolist()
    assert first.dtype == np.int64
    assert repr(scores) == "FamilyScores", "no exact number in what is printed"


def test_more_parents_never_say_less():
    scores = FamilyScores(singles(), {})
    one, two = scores.of(MemoryCounter(CODES, SHAPE), [(0, 1), (0, 2, 1)])
    assert two >= one > 0
