"""Partitions of one axis."""

import numpy as np

from discreet.base.event import Positions
from discreet.privacy.ledger.worst.grid import UNCUT, common, runs


def refined(*sets):
    axis = UNCUT
    for positions in sets:
        axis, _ = axis.refined(positions)
    return axis


def members(axis, span=range(-1, 60)):
    return [set(np.array(span)[axis.atoms_at(np.array(span)) == a]) for a in range(axis.count)]


def test_what_is_never_mentioned_is_one_atom():
    axis = refined(Positions(((10, 19),)), Positions(((30, 39),)))
    assert axis.count == 3
    elsewhere = axis.atoms_at(np.array([-1, 5, 25, 50, 10**9]))
    assert len(set(elsewhere.tolist())) == 1


def test_atoms_are_exactly_the_positions_that_no_set_tells_apart():
    sets = [Positions(((0, 20),)), Positions(((10, 30),)), Positions.points([3, 15, 25, 40])]
    axis = refined(*sets)
    signature = {p: tuple(p in s for s in sets) for p in range(-1, 60)}
    assert axis.count == len(set(signature.values()))
    for atom in members(axis):
        assert len({signature[p] for p in atom}) == 1


def test_a_known_set_splits_nothing():
    positions = Positions(((4, 9),))
    axis = refined(positions)
    again, origin = axis.refined(positions)
    assert again is axis
    assert origin is None


def test_the_origin_says_which_atom_each_new_one_was():
    axis = refined(Positions(((10, 40),)))
    finer, origin = axis.refined(Positions(((20, 50),)))
    span = np.arange(-1, 60)
    assert np.array_equal(origin[finer.atoms_at(span)], axis.atoms_at(span))


def test_touched_holds_every_atom_that_shares_a_position():
    axis = refined(Positions(((10, 40),)), Positions.points([0, 5, 45]))
    for positions in (Positions(((7, 12),)), Positions.points([0, 41]), Positions(((-1, 59),))):
        wanted = {int(axis.atoms_at(np.array([p]))[0]) for p in range(-1, 60) if p in positions}
        assert set(axis.touched(positions).tolist()) == wanted


def test_the_common_refinement_tells_apart_what_either_does():
    first, second = refined(Positions(((0, 9),))), refined(Positions(((5, 19),)))
    both = common([first, second])
    assert sorted(map(min, members(both))) == [-1, 0, 5, 10]
    assert common([first]) is first


def test_an_atom_knows_its_positions():
    axis = refined(Positions(((10, 19),)), Positions(((30, 39),)))
    inside = int(axis.atoms_at(np.array([15]))[0])
    assert axis.positions(inside) == Positions(((10, 19),))
    assert axis.widths[inside] == 10


def test_runs_are_maximal():
    assert runs(np.array([0, 1, 2, 5, 7, 8])) == [slice(0, 3), slice(5, 6), slice(7, 9)]
