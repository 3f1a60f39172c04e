"""The fast way to cut axes and to choose tables bills what the plain way does, to the last integer."""

import random
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

from discreet.base.event import Positions, Region
from discreet.base.unit import Neighbours
from discreet.privacy.ledger.worst.grid import FARTHEST, UNCUT, Axis
from discreet.privacy.ledger.worst.small_grids import Nearest
from discreet.privacy.ledger.worst.worst_hit import Worst
from plain_worst import everything, plain, refined, touched, width
from sittings import FULL

SIZES = {"age": 90, "day": 400, "job": 12, "sex": 2}


def positions(rng: random.Random, size: int) -> Positions:
    kind = rng.random()
    if kind < 0.6:
        low, high = sorted((rng.randrange(-1, size), rng.randrange(-1, size)))
        return Positions(((low, high),))
    if kind < 0.9:
        return Positions.points(rng.sample(range(-1, size), rng.randint(1, min(size, 9))))
    return Positions.of([(rng.randrange(size), FARTHEST + rng.randrange(-2, 3))])


def history(seed: int, many: int, axes: int = 3):
    rng = random.Random(seed)
    for _ in range(many):
        names = rng.sample(sorted(SIZES), axes if rng.random() < 0.8 else 1)
        region = Region.of({name: positions(rng, SIZES[name]) for name in names})
        yield region, (rng.choice([10, 20, 50]), rng.randrange(3))


def wide(seed: int, many: int):
    """Yield ranges of the same three axes: tables fill up, and most charges are squeezed into one."""
    rng = random.Random(seed)
    for _ in range(many):
        axes = {}
        for name in ("age", "day", "job"):
            low, high = sorted((rng.randrange(SIZES[name]), rng.randrange(SIZES[name])))
            axes[name] = Positions(((low, high),))
        yield Region.of(axes), (rng.choice([10, 20, 50]), rng.randrange(3))


def billed(charges, neighbours, cell_cap) -> list:
    worst = Worst(2, ceiling=(10**9,) * 2, neighbours=neighbours, cell_cap=cell_cap)
    worst.extend(charges[:-6])
    for region, amounts in charges[-6:]:
        worst.peak_with(region, amounts)
        worst.add(region, amounts)
    return everything(worst)


@pytest.mark.parametrize("cell_cap", [300, 2**13, 2**16])
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("seed", range(3 if FULL else 1))
def test_both_ways_bill_the_same(neighbours, seed, cell_cap):
    charges = list(history(seed, 60 if neighbours is Neighbours.ADD_REMOVE else 18))
    found = billed(charges, neighbours, cell_cap)
    with plain():
        assert billed(charges, neighbours, cell_cap) == found


@cache
def squeezed():
    """Return charges that need many tables, their bill, and how often the nearest one was chosen."""
    charges = list(wide(1, 200))
    with patch.object(Nearest, "excesses", autospec=True, side_effect=Nearest.excesses) as chosen:
        return charges, billed(charges, Neighbours.ADD_REMOVE, 2**16), chosen.call_count


def test_both_ways_squeeze_the_same_charges_into_the_same_tables():
    charges, found, chosen = squeezed()
    assert chosen > 10
    with plain():
        assert billed(charges, Neighbours.ADD_REMOVE, 2**16) == found


def test_an_axis_is_cut_and_looked_at_in_the_same_way():
    rng = random.Random(5)
    for _ in range(60 if FULL else 20):
        axis = UNCUT
        for _ in range(25):
            asked = positions(rng, 40)
            assert axis.touched(asked).tolist() == touched(axis, asked).tolist()
            assert axis.widths[axis.touched(asked)].sum() == width(axis, asked)
            new, origin = axis.refined(asked)
            expected, from_which = refined(axis, asked)
            assert axis.count_with(asked) == new.count == expected.count
            assert new.starts.tolist() == expected.starts.tolist()
            assert new.atom_of.tolist() == expected.atom_of.tolist()
            assert (origin is None) == (from_which is None)
            assert origin is None or origin.tolist() == from_which.tolist()
            if rng.random() < 0.4:
                axis = new


def short(axis: Axis, asked: Positions):
    """A twin that takes an atom for whole once one of its segments is."""
    reached = np.zeros(axis.count, dtype=np.bool_)
    reached[axis.touched(asked)] = True
    return reached & (np.bincount(axis.atom_of[axis.inside(asked)], minlength=axis.count) == 0)


def test_a_twin_that_forgets_segments_is_noticed():
    charges = list(history(1, 40))
    found = billed(charges, Neighbours.ADD_REMOVE, 2**13)
    with patch.object(Axis, "_split", short):
        assert billed(charges, Neighbours.ADD_REMOVE, 2**13) != found


def test_a_twin_that_chooses_another_table_is_noticed():
    charges, found, _ = squeezed()
    with patch.object(Nearest, "excesses", lambda near, _: [1.0] * len(near.grids)):
        assert billed(charges, Neighbours.ADD_REMOVE, 2**16) != found
