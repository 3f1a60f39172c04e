"""Charges that no table can take are billed by blocks: sound, and thin ones do not pile up."""

import random

import numpy as np
import pytest

from discreet.base.event import Positions, Region
from discreet.base.unit import Neighbours
from discreet.privacy.ledger.worst.small_grids import INNER, BlockGridQuota, Overflow
from discreet.privacy.ledger.worst.worst_hit import Worst
from region_kit import contains
from sittings import FULL

STARTS = {"a": np.arange(-1, 400, 10), "b": np.arange(-1, 400, 25)}


def box(a, b):
    return {"a": Positions((a,)), "b": Positions((b,))}


def test_disjoint_thin_charges_in_one_block_are_billed_in_parallel():
    spare = Overflow(STARTS, 100, BlockGridQuota(1000))
    for day in range(8):
        assert spare.thin(box((day, day), (day, day)))
        spare.add(((1, box((day, day), (day, day))),), (5,))
    assert spare.block_bounds.grid.planes[0].max() == 5  # all that touch the block would be 40


def test_overlapping_thin_charges_add_up():
    spare = Overflow(STARTS, 100, BlockGridQuota(1000))
    for low in range(5):
        spare.add(((1, box((low, 6), (3, 3))),), (5, 0))
    assert spare.block_bounds.grid.planes[0].max() == 25
    assert 1 not in spare.block_bounds.grid.planes


@pytest.mark.parametrize("components", [1, 4])
def test_a_block_holds_so_many_integers_about_its_charges_and_no_more(components):
    spare = Overflow(STARTS, 1, BlockGridQuota(1000))
    for low in range(60):
        spare.add(((1, box((low, low + 90), (low, low + 90))),), (1,) * components)
    (inner,) = spare._inner.values()
    assert INNER / 4 < inner.entries <= INNER
    assert spare.block_bounds.grid.planes[0].max() == 60


def points_below(seed: int, quota: int) -> tuple[bool, Overflow]:
    """Return whether a point was billed less than it pays, after wide and thin charges."""
    rng, spare = random.Random(seed), Overflow(STARTS, 64, BlockGridQuota(quota))
    truth = np.zeros((400, 400), dtype=np.int64)
    for _ in range(80):
        wide = rng.choice((1, 3, 300))
        low, other = rng.randrange(400 - wide), rng.randrange(400 - wide)
        spare.add(((1, box((low, low + wide), (other, other + wide))),), (7,))
        truth[low : low + wide + 1, other : other + wide + 1] += 7
    grid, points = spare.block_bounds.grid, np.arange(400)
    blocks = np.ix_(*[axis.atoms_at(points) for axis in grid.axes])
    return bool((grid.planes[0][blocks] < truth).any()), spare


@pytest.mark.parametrize("quota", [0, 3, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_blocks_never_pay_less_than_one_of_their_points(seed, quota):
    below, spare = points_below(seed, quota)
    assert not below
    assert len(spare._inner) <= quota


def test_the_twin_that_forgets_what_has_no_grid_is_noticed(monkeypatch):
    monkeypatch.setattr(Overflow, "_raise", lambda *_: None)
    assert any(points_below(seed, 3)[0] for seed in range(4))


@pytest.mark.parametrize("cell_cap", [2**14, *([2**16] if FULL else [])])
def test_thin_charges_on_many_sets_of_axes_hold_so_many_grids_and_no_more(cell_cap):
    """Whatever is asked: for each set of axes, so many would be a multiple."""
    rng, sizes = random.Random(3), dict.fromkeys("abcde", 400)
    worst = Worst(1, ceiling=(10**6,), neighbours=Neighbours.ADD_REMOVE, cell_cap=cell_cap)
    charges = []
    for _ in range(500):
        axes = {}
        for name in rng.sample(sorted(sizes), 2):
            low = rng.randrange(380)
            axes[name] = Positions(((low, low + rng.randrange(20)),))
        charges.append((Region.of(axes), (10,)))
    worst.extend(charges)
    (tables,) = {id(g): g.tables for g in worst._groups.values()}.values()
    nested = [len(each._inner) for each in tables._overflow.values()]
    assert len(nested) > 5
    assert sum(nested) <= cell_cap // 256
    points = [{name: rng.randrange(400) for name in sizes} for _ in range(200)]
    paid = [sum(a[0] for region, a in charges if contains(region, at)) for at in points]
    assert max(paid) <= worst.peak()[0] <= sum(a[0] for _, a in charges)


def test_many_thin_charges_on_large_axes_stay_near_the_truth():
    rng = random.Random(2)
    worst = Worst(1, ceiling=(10**6,), neighbours=Neighbours.ADD_REMOVE, cell_cap=2**14)
    days = rng.sample(range(10_000), 400)
    worst.extend(
        (Region.of({"day": Positions.points([d]), "id": Positions.points([d // 2])}), (10,))
        for d in days
    )
    assert 10 <= worst.peak()[0] <= 40  # piled up it would be some thousand
