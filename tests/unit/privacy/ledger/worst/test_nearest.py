"""Several grids side by side: the excess of each, and whether they are still the same."""

import random

from discreet.base.event import Positions
from discreet.privacy.ledger.worst.grid import BillGrid
from discreet.privacy.ledger.worst.small_grids import Nearest
from plain_worst import excess


def grid(seed: int) -> BillGrid:
    rng, made = random.Random(seed), BillGrid(("a", "b"))
    for _ in range(6):
        split(made, rng)
    return made


def split(made: BillGrid, rng: random.Random) -> None:
    boxes = ((1, box(rng)),)
    made.add(boxes, (1,), made.fit(boxes))


def box(rng: random.Random) -> dict[str, Positions]:
    spans = [sorted((rng.randrange(30), rng.randrange(30))) for _ in range(2)]
    return {name: Positions((tuple(span),)) for name, span in zip("ab", spans, strict=True)}


def test_each_grid_has_the_excess_that_it_tells_itself():
    grids, rng = [grid(seed) for seed in range(5)], random.Random(9)
    near = Nearest(grids)
    for _ in range(30):
        asked = box(rng)
        for some in (asked, {"a": asked["a"]}, {}):
            assert near.excesses(some) == [excess(each, some) for each in grids]


def test_it_holds_for_the_same_grids_until_one_is_split():
    grids = [grid(seed) for seed in range(3)]
    near = Nearest(grids)
    assert near.holds(grids)
    assert not near.holds(grids[:2])
    assert not near.holds([*grids, grid(7)])
    assert not near.holds([grids[1], grids[0], grids[2]])
    split(grids[2], random.Random(77))
    assert not near.holds(grids)
