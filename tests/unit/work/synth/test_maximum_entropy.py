from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.work.synth.models.junction_tree import junction_tree, onto
from discreet.work.synth.models.maximum_entropy import Evidence, _balanced, believe, fit_entropy

SIZES = (3, 4, 2)
ALL = (0, 1, 2)
FLAT = {(column,): np.zeros(size) for column, size in enumerate(SIZES)}


def joint(seed=1):
    return np.random.default_rng(seed).dirichlet(np.full(24, 0.5)).reshape(SIZES)


def evidence(columns, values, deviation=1.0):
    return Evidence(columns, values, np.full(values.shape, deviation**2))


def fitted(items, total=1000.0, steps=400, base=FLAT):
    tree = junction_tree(SIZES, [each.columns for each in items])
    parts = fit_entropy(tree, items, total, base=base, start={}, steps=steps)
    whole = dict(base)
    for columns, part in parts.items():
        whole[columns] = whole[columns] + part if columns in whole else part
    return believe(tree, whole)


def test_precise_evidence_is_met():
    real = joint()
    items = [evidence(c, 1000 * onto(real, ALL, c), 1e-3) for c in [(0, 1), (1, 2)]]
    beliefs = fitted(items)
    for each in items:
        assert np.allclose(1000 * beliefs.marginal(each.columns), each.values, atol=0.2)
    # Greatest entropy: what was not measured is independent given what was.
    middle = beliefs.marginal((1,))
    expected = np.einsum(
        "ab,bc,b->abc", beliefs.marginal((0, 1)), beliefs.marginal((1, 2)), 1 / middle
    )
    assert np.allclose(beliefs.marginal(ALL), expected)


def test_doubtful_evidence_moves_less_than_sure_evidence():
    far = np.array([[900.0, 0], [0, 0], [50, 0], [50, 0]]).reshape(4, 2)
    moved = []
    for deviation in (0.01, 30.0, 3000.0):
        got = fitted([evidence((1, 2), far, deviation)]).marginal((1, 2))
        moved.append(float(got[0, 0]))
    assert moved[0] > moved[1] > moved[2] > 1 / 8


def test_negative_counts_become_small_not_negative():
    noisy = np.array([700.0, -60.0, 360.0])
    got = 1000 * fitted([evidence((0,), noisy, 40.0)]).marginal((0,))
    assert (got > 0).all()
    assert got[1] < 20
    assert got.sum() == pytest.approx(1000)


def test_totals_that_disagree_are_shared_out_evenly():
    got = 1000 * fitted([evidence((2,), np.array([700.0, 500.0]), 1e-3)]).marginal((2,))
    assert np.allclose(got, [600, 400], atol=0.5)


def test_two_measurements_weigh_by_their_precision():
    both = evidence((2,), np.array([0.0, 10.0]), 1.0).add(evidence((2,), np.array([3.0, 4.0]), 2.0))
    assert np.allclose(both.values, [0.6, 8.8])
    assert np.allclose(both.variance, 0.8)


def test_a_base_is_kept_where_nothing_is_known():
    base = {**FLAT, (0,): np.log([0.5, 0.3, 0.2])}
    got = fitted([evidence((1, 2), np.full((4, 2), 125.0))], base=base).marginal((0,))
    assert np.allclose(got, [0.5, 0.3, 0.2])


def test_evidence_without_a_host_is_our_own_mistake():
    tree = junction_tree(SIZES, [(0, 1)])
    with pytest.raises(InternalError, match="cover"):
        fit_entropy(tree, [evidence((1, 2), np.ones((4, 2)))], 8.0, base=FLAT, start={}, steps=1)


def test_totals_that_disagree_are_shared_out_by_the_noise():
    """A group of one code beside one of four hundred: the large one's noise explains the gap."""
    each = Evidence((0,), np.array([100.0, 500.0]), np.array([1.0, 399.0]))
    assert _balanced(each, 1000.0) == pytest.approx([101.0, 899.0])


def test_less_doubt_is_nearer_to_values_that_never_meet():
    """Long odds cost entropy: with all of its weight the fit stays away by more than the noise."""
    table = np.array([[480.0, -3.0, 2.0], [1.0, 515.0, 5.0]])
    tree = junction_tree((2, 3), [(0, 1)])
    far = []
    for doubt in (0.3, 0.02):
        each = Evidence((0, 1), table, np.full(table.shape, 9.0), doubt)
        parts = fit_entropy(tree, [each], 1000.0, base={}, start={}, steps=400)
        far.append(float(np.abs(1000 * believe(tree, parts).marginal((0, 1)) - table).max()))
    assert far[1] < far[0]
    assert far[1] < 4.0
