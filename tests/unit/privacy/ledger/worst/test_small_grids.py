"""Charges as a sum of small tables: renewed in time, joined where that is cheap, squeezed where it adds least."""

import numpy as np
import pytest

from discreet.base.event import Positions
from discreet.privacy.ledger.worst import small_grids
from discreet.privacy.ledger.worst import small_grids as overflow
from discreet.privacy.ledger.worst.grid import BillGrid
from discreet.privacy.ledger.worst.small_grids import GridSum

SIZES = {"a": 30, "b": 8, "c": 20}
NAMES = tuple(SIZES)


def span(low: int, high: int) -> Positions:
    return Positions(((low, high),))


def charge(made: GridSum, amount: int, **box) -> None:
    made.add(((1, box),), (amount,))


def charges(count: int, seed: int, names=NAMES):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        box = {}
        for name in rng.choice(names, size=rng.integers(1, 3), replace=False):
            low, high = sorted(rng.integers(0, SIZES[str(name)], size=2).tolist())
            box[str(name)] = span(low, high)
        yield box, int(rng.integers(1, 100))


class Plain:
    """Tables, and beside them the bill of every point."""

    def __init__(self, cell_cap: int = 2**17) -> None:
        self.tables = GridSum(cell_cap)
        self.truth = np.zeros([size + 1 for size in SIZES.values()], dtype=np.int64)

    def charge(self, box, amount: int) -> None:
        charge(self.tables, amount, **box)
        held = [
            [name not in box or at in box[name] for at in range(-1, size)]
            for name, size in SIZES.items()
        ]
        self.truth[np.ix_(*held)] += amount

    def require_exact(self, names=NAMES) -> None:
        found = self.tables.search(names, 0).highest(0, {}, -1)
        assert found.upper == found.value == self.truth.max()


@pytest.mark.parametrize(("added", "due"), [(80, False), (90, False), (91, True), (200, True)])
def test_much_was_added_once_charges_have_grown_by_an_eighth(added, due):
    made = GridSum(2**10)
    made.added = added
    assert made.due(80) is due


def test_an_axis_that_comes_late_is_searched_at_once():
    both = Plain()
    for box, amount in charges(60, 1, names=("a", "b")):
        both.charge(box, amount)
    both.require_exact(("a", "b"))
    both.charge({"c": span(3, 9), "a": span(2, 2)}, 1000)
    assert not both.tables.due(both.tables._planted)
    both.require_exact()


@pytest.mark.parametrize("seed", range(3))
def test_searches_between_charges_stay_exact(seed):
    both = Plain()
    for turn, (box, amount) in enumerate(charges(150, seed)):
        both.charge(box, amount)
        if turn % 10 == 9:
            both.require_exact(names_of(both.tables))


def names_of(made: GridSum) -> tuple[str, ...]:
    return tuple(sorted({name for grid in made.grids for name in grid.names}))


@pytest.mark.parametrize("seed", range(3))
def test_joining_tables_changes_no_bill(seed):
    both = Plain()
    for box, amount in charges(40, seed):
        both.charge(box, amount)
    before = len(both.tables.grids)
    both.tables.condense()
    assert len(both.tables.grids) < before
    both.require_exact()
    for box, amount in charges(40, seed + 50):  # and charges still find their home
        both.charge(box, amount)
    both.require_exact()


def test_tables_without_a_common_axis_are_not_joined():
    made = GridSum(2**17)
    charge(made, 1, a=span(0, 9))
    charge(made, 1, b=span(0, 3))
    made.condense()
    assert sorted(grid.names for grid in made.grids) == [("a",), ("b",)]
    charge(made, 1, a=span(0, 9), b=span(0, 3))
    made.condense()
    assert [grid.names for grid in made.grids] == [("a", "b")]


def test_tables_are_joined_to_at_most_three_axes():
    made = GridSum(2**17)
    for names in ("ab", "bc", "cd", "de"):
        charge(made, 1, **{name: span(0, 3) for name in names})
    made.condense()
    assert all(len(grid.names) <= 3 for grid in made.grids)
    assert len(made.grids) < 4


def test_a_table_joins_the_one_that_grows_least():
    wide, narrow, grid = BillGrid(("a", "b")), BillGrid(("b", "c")), BillGrid(("b",))
    for target, atoms in ((wide, 9), (narrow, 2)):
        for at in range(atoms):
            box = ((1, {target.names[0]: span(at, at), target.names[1]: span(0, 4)}),)
            target.add(box, (1,), target.fit(box))
    box = ((1, {"b": span(2, 6)}),)
    grid.add(box, (1,), grid.fit(box))
    at, joined = GridSum._partner(grid, [wide, narrow], 10**6)
    assert (at, joined.names) == (1, ("b", "c"))
    at, joined = GridSum._partner(grid, [narrow, wide], 10**6)
    assert (at, joined.names) == (0, ("b", "c"))
    assert GridSum._partner(grid, [wide, narrow], 1) is None


@pytest.fixture
def small(monkeypatch):
    """Room for a few cells only: tables of 16, blocks of 8, and what touches two of those is wide."""
    monkeypatch.setattr(small_grids, "SHARE", 4)
    monkeypatch.setattr(small_grids, "SPARE", 8)
    monkeypatch.setattr(overflow, "THIN", 1)


def full() -> GridSum:
    """Return three tables of single days: 0 to 13, 14 to 27 and 28 to 41; each has one day far off, too."""
    made = GridSum(64)
    for table in range(3):
        for day in (999 + table, *range(14 * table, 14 * table + 14)):
            charge(made, 1, day=span(day, day))
    assert [grid.cells for grid in made.grids] == [16] * 3
    assert made._full
    return made


def billed(made: GridSum, day: int) -> int:
    return made.search(("day",), 0).highest(0, {"day": span(day, day)}, -1).upper


def test_a_wide_charge_goes_to_the_table_that_tells_its_people_apart(small):
    made = full()
    charge(made, 100, day=span(5, 12))  # exact in the first table, by blocks it would touch more
    assert [billed(made, day) for day in (4, 5, 12, 13)] == [1, 101, 101, 1]


def test_whichever_table_that_is(small):
    made = full()
    for low in (2, 16, 30):
        charge(made, 100, day=span(low, low + 9))
    days = [billed(made, day) for day in range(42)]
    assert days == [101 if day % 14 in range(2, 12) else 1 for day in range(42)]


def test_a_wide_charge_that_no_table_knows_is_billed_where_it_touches_least(small):
    made = full()
    charge(made, 100, day=span(46, 900))
    assert all(billed(made, day) >= 100 for day in (46, 120, 900))
    assert [billed(made, day) for day in (3, 20, 35)] == [1, 1, 1]


def test_thin_charges_are_looked_at_in_their_own_block(small):
    made = full()
    for day in (50, 51, 52):
        charge(made, 100, day=span(day, day))
    assert billed(made, 51) == 100, "one after another they are billed in parallel"
    assert billed(made, 3) == 1


def test_the_newest_table_is_among_those_compared(small):
    made = GridSum(64)
    for table in range(2):
        for day in (999 + table, *range(14 * table, 14 * table + 14)):
            charge(made, 1, day=span(day, day))
    for day in (1001, *range(28, 40), 43):
        charge(made, 1, day=span(day, day))
    charge(made, 1, day=span(40, 41))
    assert [grid.cells for grid in made.grids] == [16] * 3
    charge(made, 100, day=span(30, 40))  # it knows all of these days, but takes the 41st along
    assert [billed(made, day) for day in (29, 30, 40, 41, 42, 43)] == [1, 101, 101, 101, 0, 1]
