"""The bill against brute force over every point, or every pair of points."""

import itertools
import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.base.event import Positions, Region
from discreet.base.unit import Neighbours
from discreet.privacy.ledger.worst.worst_hit import CELL_CAP, Worst
from region_kit import contains
from sittings import FULL

CEILING = 10**9


def positions(size):
    span = st.tuples(st.integers(-1, size - 1), st.integers(-1, size - 1)).map(sorted).map(tuple)
    points = st.sets(st.integers(-1, size - 1)).map(Positions.points)
    return st.one_of(st.lists(span, min_size=1, max_size=2).map(Positions.of), points)


@st.composite
def histories(draw):
    sizes = {f"axis {i}": draw(st.integers(1, 4)) for i in range(draw(st.integers(1, 4)))}
    components = draw(st.integers(1, 3))
    region = st.fixed_dictionaries({}, optional={n: positions(s) for n, s in sizes.items()})
    amounts = st.tuples(*[st.integers(0, 50)] * components)
    charges = st.lists(st.tuples(region.map(Region.of), amounts), min_size=1, max_size=10)
    return sizes, components, draw(charges)


def brute_force(sizes, components, charges, neighbours):
    points = itertools.product(*[range(-1, size) for size in sizes.values()])
    held = set()
    for point in points:
        at = dict(zip(sizes, point, strict=True))
        held.add(frozenset(i for i, (region, _) in enumerate(charges) if contains(region, at)))
    if neighbours is Neighbours.REPLACE_ONE:
        held = {first | second for first in held for second in held}
    return tuple(max(sum(charges[i][1][c] for i in h) for h in held) for c in range(components))


def fresh(components, neighbours, cell_cap=CELL_CAP):
    return Worst(
        components, ceiling=(CEILING,) * components, neighbours=neighbours, cell_cap=cell_cap
    )


@pytest.mark.parametrize("neighbours", Neighbours)
@settings(max_examples=600 if FULL else 30, deadline=None)
@given(history=histories())
def test_the_bill_is_the_greatest_over_all_points(neighbours, history):
    sizes, components, charges = history
    worst, at_once = fresh(components, neighbours), fresh(components, neighbours)
    at_once.extend(charges)
    for region, amounts in charges:
        quoted = worst.peak_with(region, amounts)
        worst.add(region, amounts)
        assert worst.peak() == quoted
    truth = brute_force(sizes, components, charges, neighbours)
    assert worst.peak() == at_once.peak() == truth


@pytest.mark.parametrize("cell_cap", [1, 30, 300])
@pytest.mark.parametrize("neighbours", Neighbours)
@settings(max_examples=300 if FULL else 12, deadline=None)
@given(history=histories())
def test_with_little_room_the_bill_is_never_below(neighbours, cell_cap, history):
    sizes, components, charges = history
    worst = fresh(components, neighbours, cell_cap)
    for count, (region, amounts) in enumerate(charges, start=1):
        quoted = worst.peak_with(region, amounts)
        worst.add(region, amounts)
        truth = brute_force(sizes, components, charges[:count], neighbours)
        total = [sum(column) for column in zip(*(a for _, a in charges[:count]), strict=True)]
        assert worst.peak() == quoted
        assert all(t <= p <= s for t, p, s in zip(truth, worst.peak(), total, strict=True))
        assert not worst.where().empty


@settings(max_examples=300 if FULL else 15, deadline=None)
@given(history=histories())
def test_everyone_in_the_most_exposed_group_pays_the_bill(history):
    sizes, components, charges = history
    worst = fresh(components, Neighbours.ADD_REMOVE)
    worst.extend(charges)
    for component in range(components):
        group = worst.where(component)
        bills = [
            sum(amounts[component] for region, amounts in charges if contains(region, at))
            for point in itertools.product(*[range(-1, size) for size in sizes.values()])
            if contains(group, at := dict(zip(sizes, point, strict=True)))
        ]
        assert set(bills) == {worst.peak()[component]}


def slices(sizes, count, seed, *, columns=(1, 3), thin=0.15):
    """Return charges as analysts ask them: ranges, subsets and single values of a few columns."""
    rng, found = random.Random(seed), []
    for _ in range(count):
        axes = {}
        for name in rng.sample(sorted(sizes), rng.randint(*columns)):
            size, kind = sizes[name], rng.random()
            if kind < thin:
                axes[name] = Positions.points([rng.randrange(size)])
            elif kind < 0.35:
                some = rng.sample(range(size), rng.randint(1, min(size, 40)))
                axes[name] = Positions.points(some)
            else:
                low, high = sorted((rng.randrange(size), rng.randrange(size)))
                axes[name] = Positions(((low, high),))
        found.append((Region.of(axes), (rng.choice((10, 20, 25, 50, 100)),)))
    return found


def every_point(sizes, charges):
    """Return the greatest bill by adding up tables of all points."""
    tables = {}
    for region, (amount,) in charges:
        scope = tuple(n for n in sizes if region.on(n) is not None)
        table = tables.setdefault(scope, np.zeros([sizes[n] + 1 for n in scope], dtype=np.int32))
        held = [[p for p in range(-1, sizes[n]) if p in region.on(n)] for n in scope]
        table[np.ix_(*held)] += amount
    grid = np.zeros([size + 1 for size in sizes.values()], dtype=np.int32)
    for scope, table in tables.items():
        grid += table.reshape([sizes[n] + 1 if n in scope else 1 for n in sizes])
    return int(grid.max())


MEDIUM = {"age": 30, "job": 12, "sex": 2, "region": 12, "day": 40, "income": 24}


@pytest.mark.parametrize("columns", [(1, 1), (1, 2), (1, 3)] if FULL else [(1, 1), (1, 3)])
@pytest.mark.parametrize("seed", [1, 2] if FULL else [1])
def test_slices_are_billed_within_a_tenth_of_brute_force_without_a_grid(columns, seed):
    charges = slices(MEDIUM, 250 if FULL else 120, seed, columns=columns)
    truth = every_point(MEDIUM, charges)
    one_by_one, at_once = (fresh(1, Neighbours.ADD_REMOVE, 2**18) for _ in range(2))
    for region, amounts in charges:
        one_by_one.add(region, amounts)
    at_once.extend(charges)
    for worst in (one_by_one, at_once):
        assert truth <= worst.peak()[0] <= 1.1 * truth
    # A bill that forgot parallel composition would be far off.
    assert sum(amounts[0] for _, amounts in charges) > 1.5 * truth


LARGE = {"age": 120, "job": 50, "sex": 2, "region": 100, "day": 3650, "income": 1000}


def planted(sizes, count, seed):
    """Return charges and the bill of a hidden point, the greatest or nearly so: it lies in every
    wide box, and the others form disjoint sets of thin boxes, of which a point meets one a set."""
    rng = random.Random(seed)
    secret = {name: rng.randrange(size) for name, size in sizes.items()}
    charges, bill = [], 0
    for i in range(count):
        axes = {}
        for name in rng.sample(sorted(sizes), rng.randint(1, 3)):
            low = rng.randint(0, secret[name])
            axes[name] = Positions(((low, rng.randint(secret[name], sizes[name] - 1)),))
        charges.append((Region.of(axes), (20 + i % 7,)))
        bill += 20 + i % 7
    for name, other in itertools.permutations(sizes, 2):
        for value in range(0, sizes[name], max(1, sizes[name] // 20)):
            axes = {
                name: Positions.points([value]),
                other: Positions.points([value % sizes[other]]),
            }
            at_secret = contains(Region.of(axes), secret)
            charges.append((Region.of(axes), (5,)))
            bill += 5 * at_secret
    rng.shuffle(charges)
    return charges, bill


@pytest.mark.parametrize("seed", [1, 2] if FULL else [1])
def test_a_hidden_optimum_far_beyond_any_grid_is_billed_within_a_tenth(seed):
    charges, known = planted(LARGE, 250, seed)
    worst = fresh(1, Neighbours.ADD_REMOVE)
    worst.extend(charges[:-80])
    for region, amounts in charges[-80:]:
        worst.add(region, amounts)
    assert known <= worst.peak()[0] <= 1.1 * known


@pytest.mark.parametrize("neighbours", Neighbours)
def test_adversarial_boxes_beyond_the_cap_are_never_below_sampled_points(neighbours):
    rng = random.Random(11)
    charges = slices(LARGE, 50 if FULL else 20, 11, columns=(3, 6), thin=0.3)
    worst = fresh(1, neighbours, 2**12)
    for region, amounts in charges:
        worst.add(region, amounts)
    corners = [
        {n: rng.choice(region.on(n).spans)[0] if region.on(n) else 0 for n in LARGE}
        for region, _ in charges
    ]
    held = [frozenset(i for i, (r, _) in enumerate(charges) if contains(r, at)) for at in corners]
    if neighbours is Neighbours.REPLACE_ONE:
        held = [a | b for a, b in itertools.combinations(held, 2)]
    assert max(sum(charges[i][1][0] for i in h) for h in held) <= worst.peak()[0]


@pytest.mark.slow
def test_ten_thousand_charges_stay_within_memory_and_a_tenth():
    charges = slices(MEDIUM, 10_000, 5)
    truth = every_point(MEDIUM, charges)
    tracemalloc.start()
    worst = fresh(1, Neighbours.ADD_REMOVE)
    worst.extend(charges)
    for region, amounts in charges[:50]:
        worst.add(region, amounts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 * 2**20
    more = sum(amounts[0] for _, amounts in charges[:50])
    assert truth <= worst.peak()[0] <= 1.1 * (truth + more)
