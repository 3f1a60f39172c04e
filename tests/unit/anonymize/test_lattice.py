import itertools
import math

from discreet.anonymize.lattice import Lattice, thinned


def _open(lattice, best=math.inf):
    return {lattice.levels(node) for node in range(lattice.nodes) if lattice.is_open(node, best)}


def test_every_node_comes_once():
    for shape in ((2, 3, 4), (1,), (1, 1), (5, 5), (2, 2)):
        lattice = Lattice([range(size) for size in shape])
        order = [lattice.levels(node) for node in lattice.order()]
        assert sorted(order) == sorted(itertools.product(*map(range, shape)))


def test_what_is_ruled_out():
    lattice = Lattice([range(3), range(3)])
    lattice.prune_finer((1, 1))
    assert _open(lattice) == {(0, 2), (1, 2), (2, 0), (2, 1), (2, 2)}
    lattice.bound_coarser((2, 1), 10.0)
    assert _open(lattice, best=10.0) == {(0, 2), (1, 2), (2, 0), (2, 1), (2, 2)}, "a tie is open"
    assert _open(lattice, best=9.0) == {(0, 2), (1, 2), (2, 0)}
    lattice.bound_coarser((0, 0), 3.0)
    lattice.bound_coarser((2, 1), 5.0)
    assert _open(lattice, best=9.0) == {(0, 2), (1, 2), (2, 0)}, "bounds only rise"
    assert lattice.least_open(9.0) == 3.0
    lattice.mark_evaluated((2, 0))
    assert (2, 0) not in _open(lattice)


def test_a_large_lattice_keeps_its_ends_longest():
    assert thinned([3, 3], 100) == [[0, 1, 2], [0, 1, 2]]
    assert thinned([5, 2], 6) == [[0, 1, 4], [0, 1]]
    assert thinned([2] * 30, 4)[0] in ([1], [0, 1])
    assert math.prod(len(levels) for levels in thinned([9] * 12, 1000)) <= 1000
    assert all(levels[-1] == 8 for levels in thinned([9] * 12, 1000))


def test_levels_are_those_of_the_choices():
    lattice = Lattice([[0, 3, 4], [1]])
    assert _open(lattice) == {(0, 1), (3, 1), (4, 1)}
    lattice.prune_finer((3, 1))
    assert _open(lattice) == {(4, 1)}
