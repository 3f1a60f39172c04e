from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from discreet.base.display import silent
from discreet.measure.one_way_marginals import measure_singles
from discreet.measure.private_marginals import MarginalBudget
from discreet.measure.shape import Shape
from discreet.work.synth.methods.tree import MOST_CELLS, choose_tree, pairs_of
from synth_kit import marginals_of, shape_of

RICH = MarginalBudget(Fraction(10), concentrated=True)


def chain_of(order, size, rows, rng):
    codes = np.zeros((rows, len(order)), dtype=np.int32)
    last = rng.integers(0, size, rows)
    for column in order:
        last = np.where(rng.random(rows) < 0.7, last, rng.integers(0, size, rows))
        codes[:, column] = last
    return codes


def chosen(codes, shape, budget=RICH, share=Fraction(1, 2)):
    marginals = marginals_of(codes, shape, budget=budget)
    singles = measure_singles(marginals, share=Fraction(1, 2))
    return choose_tree(marginals, singles, {}, share=share, progress=silent), marginals


def test_a_chain_of_dependence_is_found():
    order = [3, 0, 4, 1, 2]
    codes = chain_of(order, 4, 4000, np.random.default_rng(1))
    edges, marginals = chosen(codes, shape_of(4, 4, 4, 4, 4))
    links = {tuple(sorted(pair)) for pair in itertools.pairwise(order)}
    assert set(edges) == links
    assert marginals.left == 0


def test_with_next_to_no_budget_any_tree_may_come_out_but_a_tree_it_is():
    codes = chain_of([0, 1, 2, 3], 3, 200, np.random.default_rng(2))
    poor = MarginalBudget(Fraction(1, 10**9), concentrated=True)
    edges, _ = chosen(codes, shape_of(3, 3, 3, 3), poor)
    part = list(range(4))
    for first, second in edges:
        assert part[first] != part[second]
        part = [part[first] if each == part[second] else each for each in part]
    assert len(edges) == 3


def test_pairs_too_large_to_hold_are_left_out_and_the_tree_becomes_a_forest():
    side = int(MOST_CELLS**0.5) + 1
    shape = Shape(("a", "b", "c"), (side, side, 3))
    assert pairs_of(shape) == [(0, 2), (1, 2)]
    none = Shape(("a", "b"), (side, side))
    codes = np.zeros((10, 2), dtype=np.int32)
    edges, marginals = chosen(codes, none)
    assert edges == []
    assert marginals.left == Fraction(1, 2)
