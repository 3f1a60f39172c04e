from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.work.synth.models.junction_tree import (
    divided,
    junction_tree,
    onto,
    pass_beliefs,
    spread,
)

SIZES = (3, 2, 4, 2, 3)
SETS = [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)]
ALL = tuple(range(len(SIZES)))


def potentials(tree, seed):
    rng = np.random.default_rng(seed)
    return [2 * rng.normal(size=[SIZES[c] for c in clique]) for clique in tree.cliques]


def by_force(tree, tables):
    """Return the full joint table: the slow oracle."""
    joint = np.zeros(SIZES)
    for clique, table in zip(tree.cliques, tables, strict=True):
        joint = joint + spread(table, clique, ALL)
    powers = np.exp(joint)
    return powers / powers.sum(), np.log(powers.sum())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sets", [SETS, SETS[:2], [], [(0, 1, 2), (2, 3, 4)]])
def test_messages_agree_with_brute_force_on_every_marginal(sets, seed):
    tree = junction_tree(SIZES, sets)
    tables = potentials(tree, seed)
    joint, log_total = by_force(tree, tables)
    beliefs = pass_beliefs(tree, tables)
    assert beliefs.log_total == pytest.approx(log_total)
    for ways in range(1, 5):
        for columns in combinations(ALL, ways):
            assert np.allclose(beliefs.marginal(columns), onto(joint, ALL, columns))
    assert beliefs.marginal(()) == pytest.approx(1)


def test_a_missing_factor_would_be_seen():
    tree = junction_tree(SIZES, SETS)
    tables = potentials(tree, 1)
    joint, _ = by_force(tree, tables)
    tables[1] = np.zeros_like(tables[1])
    beliefs = pass_beliefs(tree, tables)
    assert not np.allclose(beliefs.marginal((0, 4)), onto(joint, ALL, (0, 4)))


def test_impossible_cells_stay_impossible_and_all_impossible_is_refused():
    tree = junction_tree((2, 2), [(0, 1)])
    table = np.array([[0.0, -np.inf], [1.0, -np.inf]])
    assert pass_beliefs(tree, [table]).marginal((1,)).tolist() == [1.0, 0.0]
    chain = junction_tree((2, 2, 2), [(0, 1), (1, 2)])
    never = np.array([[0.0, -np.inf], [0.0, -np.inf]])
    other = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    with pytest.raises(InvalidInput, match="no chance"):
        pass_beliefs(chain, [never, other])


def test_far_potentials_do_not_overflow():
    tree = junction_tree((2, 2, 2), [(0, 1), (1, 2)])
    tables = [np.full((2, 2), 900.0), np.full((2, 2), -900.0)]
    beliefs = pass_beliefs(tree, tables)
    assert np.allclose(beliefs.marginal((0, 2)), 0.25)
    assert beliefs.log_total == pytest.approx(np.log(8))


def test_nothing_over_nothing_is_nothing():
    assert divided(np.array([0.0, 3.0]), np.array([0.0, 2.0])).tolist() == [0.0, 1.5]
