"""Message passing against brute force, and scores against random neighbours."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidInput
from discreet.measure.one_way_marginals import dependence
from discreet.work.synth.models.conditional_chain import Network, Node
from sittings import examples
from synth_kit import shape_of


@st.composite
def networks(draw) -> Network:
    """Random chains in which the parents of a column stood together before."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = draw(st.permutations(range(len(sizes))))
    nodes: list[Node] = []
    for column in order:
        parents: tuple[int, ...] = ()
        if nodes and draw(st.booleans()):
            host = draw(st.sampled_from(nodes)).family
            parents = tuple(draw(st.permutations(host))[: draw(st.integers(0, min(2, len(host))))])
        table = rng.dirichlet(np.full(sizes[column], 0.7), [sizes[p] for p in parents])
        if draw(st.booleans()):  # some codes that cannot occur
            table = np.where(table < 0.2, 0.0, table)
            table = np.where(table.sum(axis=-1, keepdims=True) > 0, table, 1.0)
            table = table / table.sum(axis=-1, keepdims=True)
        nodes.append(Node(column, parents, table))
    return Network(shape_of(*sizes), 10.0, tuple(nodes))


def joint(network: Network) -> np.ndarray:
    """Return the chances of every row: the product of all tables, the slow way."""
    sizes = network.shape.sizes
    found = np.ones(sizes)
    for row in np.ndindex(*sizes):
        for node in network.nodes:
            found[row] *= node.table[tuple(row[column] for column in node.family)]
    return found


@settings(max_examples=examples(60), deadline=None)
@given(networks())
def test_marginals_equal_brute_force(network):
    every = joint(network)
    width = network.shape.width
    for ways in (1, 2, 3):
        for columns in combinations(range(width), ways):
            others = tuple(axis for axis in range(width) if axis not in columns)
            assert np.allclose(network.marginal(columns), 10 * every.sum(axis=others))


@settings(max_examples=examples(60), deadline=None)
@given(networks(), st.data())
def test_conditional_chances_equal_brute_force(network, data):
    """The counts of systematic rows are near their expectation: no test of chance is needed."""
    sizes = network.shape.sizes
    allowed = {
        column: np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
        for column, size in enumerate(sizes)
        if data.draw(st.booleans())
    }
    every = joint(network)
    for column, mask in allowed.items():
        every = every * mask.reshape([-1 if i == column else 1 for i in range(len(sizes))])
    dice = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    if every.sum() <= 0:
        with pytest.raises(InvalidInput):
            network.sample(10, dice=dice, given=allowed)
        return
    rows = 20_000
    codes = network.sample(rows, dice=dice, given=allowed)
    found = np.zeros(sizes)
    np.add.at(found, tuple(codes.T), 1)
    expected = every / every.sum()
    assert not found[expected == 0].any()
    # Hoeffding, 1,024 cells at the most: a false alarm in 60 examples has a chance below 1e-9.
    assert np.abs(found / rows - expected).max() < np.sqrt(np.log(1e14) / (2 * rows))


@settings(max_examples=examples(200), deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(0, 2**32 - 1),
    st.sampled_from([3, 50, 10**6, 2**34]),  # all products below 2^63
)
def test_one_row_moves_a_score_by_at_most_one(high, wide, seed, most):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most, (high, wide))
    weights = rng.integers(0, 1 << 20, high)
    weights[rng.integers(high)] += 1
    here = dependence(counts, weights)
    for cell in np.ndindex(high, wide):
        more = counts.copy()
        more[cell] += 1
        assert abs(dependence(more, weights) - here) <= 1


def test_a_score_without_the_half_would_be_caught():
    """The broken twin of the statement above: the whole distance moves by 2."""
    moved = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        counts, weights = rng.integers(0, 9, (4, 3)), np.array([1, 1, 1, 1])

        def whole(table, weights=weights):
            apart = np.abs(4 * table - weights[:, None] * table.sum(axis=0)).sum()
            return int(apart) // 4

        more = counts.copy()
        more[0, 0] += 1
        moved.append(abs(whole(more) - whole(counts)))
    assert max(moved) == 2
