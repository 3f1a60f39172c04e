import math

import numpy as np
import pytest

from discreet.anonymize.diversity import (
    distinct_values,
    entropies,
    equal_distances,
    hierarchical_distances,
    make_histogram,
    ordered_distances,
    tops_and_tails,
)


def _random(dice, values=6, classes=7):
    whole = dice.integers(1, 9, values).astype(float)
    dense = dice.integers(0, 4, (classes, values))
    dense[np.arange(classes), dice.integers(0, values, classes)] += 1
    klass, codes = np.nonzero(dense)
    shuffle = dice.permutation(len(klass))
    klass, codes = klass[shuffle], codes[shuffle]
    rows = dense[klass, codes]
    return dense, whole / whole.sum(), klass, codes, rows


@pytest.mark.parametrize("start", range(20))
def test_measures_agree_with_their_definitions(start):
    dense, whole, klass, codes, rows = _random(np.random.default_rng(start))
    found = make_histogram(klass, codes, rows, classes=len(dense), whole=whole)
    shares = dense / dense.sum(axis=1, keepdims=True)
    assert found.sizes.tolist() == dense.sum(axis=1).tolist()
    assert distinct_values(found).tolist() == (dense > 0).sum(axis=1).tolist()
    naive = [-sum(p * math.log(p) for p in row if p) for row in shares]
    assert entropies(found) == pytest.approx(naive)
    assert equal_distances(found) == pytest.approx(np.abs(shares - whole).sum(axis=1) / 2)
    gaps = np.abs(np.cumsum(shares - whole, axis=1))[:, :-1]
    assert ordered_distances(found) == pytest.approx(gaps.sum(axis=1) / (len(whole) - 1))
    for length in (1, 2, 4):
        top, tail = tops_and_tails(found, length)
        ordered = -np.sort(-dense, axis=1)
        assert top.tolist() == ordered[:, 0].tolist()
        assert tail.tolist() == ordered[:, length - 1 :].sum(axis=1).tolist()


@pytest.mark.parametrize("start", range(6))
def test_the_distance_over_a_tree_is_the_cheapest_way_to_move_the_mass(start):
    """The closed form against a linear programme over all ways of moving, on random trees."""
    dice = np.random.default_rng(start)
    dense, whole, klass, codes, rows = _random(dice)
    middle = dice.integers(0, 4, 6)
    levels = [np.arange(6), middle, dice.integers(0, 2, 4)[middle]]
    found = hierarchical_distances(
        make_histogram(klass, codes, rows, classes=len(dense), whole=whole), levels
    )
    apart = np.array(
        [
            [sum(level[a] != level[b] for level in levels) / len(levels) for b in range(6)]
            for a in range(6)
        ]
    )
    for row, share in enumerate(dense / dense.sum(axis=1, keepdims=True)):
        assert found[row] == pytest.approx(_cheapest_move(share, whole, apart), abs=1e-7)


def _cheapest_move(start, end, apart):
    optimize = pytest.importorskip("scipy.optimize")
    size = len(start)
    out = np.kron(np.eye(size), np.ones(size))
    into = np.kron(np.ones(size), np.eye(size))
    return optimize.linprog(
        apart.ravel(), A_eq=np.vstack([out, into]), b_eq=np.concatenate([start, end])
    ).fun


def test_pairs_are_added_up_by_sorting_and_by_counting():
    klass, codes = np.array([0, 900, 0]), np.array([1, 99_999, 1])
    rows = np.array([2, 3, 4])
    sparse = make_histogram(klass, codes, rows, classes=1000, whole=np.full(100_000, 1e-5))
    assert (sparse.klass.tolist(), sparse.rows.tolist()) == ([0, 900], [6, 3])


def test_textbook_closeness():
    """Salaries 3k..11k: {3,4,5} is .375 away in order, {6,8,11} .167 (Li, Li, Venkatasubramanian)."""
    klass = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    codes = np.array([0, 1, 2, 3, 5, 8, 4, 6, 7])
    whole = np.full(9, 1 / 9)
    found = make_histogram(klass, codes, np.ones(9, int), classes=3, whole=whole)
    assert ordered_distances(found)[:2] == pytest.approx([0.375, 1 / 6])
    assert equal_distances(found) == pytest.approx([2 / 3] * 3)


def test_one_value_is_nowhere_far():
    found = make_histogram(np.array([0]), np.array([0]), np.array([3]), classes=1, whole=np.ones(1))
    assert ordered_distances(found).tolist() == [0.0]
