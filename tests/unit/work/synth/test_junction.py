from __future__ import annotations

import numpy as np
import pytest

from discreet.work.synth.models.junction_tree import junction_tree, widened


def random_sets(seed, columns=9, many=12):
    rng = np.random.default_rng(seed)
    return [
        tuple(sorted(rng.choice(columns, rng.integers(2, 4), replace=False).tolist()))
        for _ in range(many)
    ]


def runs_through(tree):
    """Return whether every column's cliques hang together: what makes it a junction tree."""
    for column in {column for clique in tree.cliques for column in clique}:
        holding = [i for i, clique in enumerate(tree.cliques) if column in clique]
        roots = [i for i in holding if column not in tree.separators[i]]
        if len(roots) != 1:
            return False
        if any(tree.parents[i] not in holding for i in holding if i not in roots):
            return False
    return True


@pytest.mark.parametrize("seed", range(20))
def test_every_wanted_set_has_a_host_and_columns_run_through(seed):
    sizes = tuple(np.random.default_rng(seed).integers(1, 9, 9).tolist())
    wanted = random_sets(seed)
    tree = junction_tree(sizes, wanted)
    for columns in [*wanted, *((column,) for column in range(9))]:
        host = tree.host(columns)
        assert host is not None
        assert set(columns) <= set(tree.cliques[host])
    assert runs_through(tree)
    assert tree.parents[0] == -1
    assert all(parent < i for i, parent in enumerate(tree.parents))


def test_a_chain_stays_a_chain_and_loose_columns_hang_by_nothing():
    tree = junction_tree((2, 3, 4, 5), [(0, 1), (1, 2)])
    assert set(tree.cliques) == {(0, 1), (1, 2), (3,)}
    assert sorted(tree.separators) == [(), (), (1,)]
    assert tree.cells == 6 + 12 + 5
    assert tree.host((0, 2)) is None


def test_a_ring_needs_one_chord():
    tree = junction_tree((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert sorted(map(len, tree.cliques)) == [3, 3]


@pytest.mark.parametrize("seed", range(20))
def test_a_widened_tree_is_one_and_never_larger_than_announced(seed):
    sizes = tuple(np.random.default_rng(seed + 50).integers(2, 9, 9).tolist())
    wanted = random_sets(seed)
    known = wanted[:4]
    tree = junction_tree(sizes, known)
    for columns in wanted[4:]:
        announced = tree.cells_with(columns)
        assert announced == sum(map(tree.cells_of, tree.with_room(columns)))
        tree = widened(tree, known, columns)
        known.append(columns)
        assert tree.cells <= announced
        assert runs_through(tree)
        assert all(tree.host(each) is not None for each in known)


def test_the_smallest_host_is_found():
    tree = junction_tree((2, 50, 2, 2), [(0, 1, 2), (0, 3)])
    assert tree.cliques[tree.host((0,))] == (0, 3)
