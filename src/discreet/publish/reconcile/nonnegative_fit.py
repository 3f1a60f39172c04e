"""Leaf cells that are not negative and have sums near all estimates, for tables that cross.

Crossed tables leave leaf cells open, and the least-squares cells may be negative where their sums are
not. So goals for the tables are settled from coarse to fine: not negative, near their estimates, with the
sums that settled tables already have in common with them. Then, from equal cells, each table in turn
scales the cells of its groups to its goals (iterative proportional fitting).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.publish.grid import Array, add_up, spread
from discreet.publish.reconcile.crossed_groupings import finest_facts
from discreet.publish.reconcile.nested_groupings import TreeEstimate
from discreet.publish.reconcile.problem import GridProblem, Sums, open_cells

MOST_ROUNDS = 100
LARGE = 20_000_000
FEW_ROUNDS = 20
"""Rounds for grids of more leaf cells than that."""
CLOSE = 0.02
"""Sums that are this near to their goals are near enough: they will be whole numbers."""
TURNS = 5
"""How often the goals of one table are brought to each of the settled tables."""


Goal = tuple[Sums, Floats]
"""A table with the sums that leaf cells should have: none of them negative."""


def fitted_cells(problem: GridProblem, estimates: Sequence[TreeEstimate]) -> Floats:
    """Return leaf cells, none negative, whose sums are near the estimates of all tables."""
    goals = settled_goals(problem, estimates)
    cells = np.ones(problem.leaf)
    if problem.zero is not None:
        cells[problem.zero] = 0.0
    # Fine tables first: what coarse ones and facts say is kept best.
    ordered = sorted(goals, key=lambda goal: (goal[0].variance == 0, -goal[1].size))
    for _ in range(FEW_ROUNDS if cells.size > LARGE else MOST_ROUNDS):
        worst = 0.0
        for sums, wanted in ordered:
            held = add_up(cells, sums.maps, sums.shape)
            known = held > 0
            lacking = np.where(known, wanted - held, 0.0)
            worst = max(worst, float(np.abs(lacking).max(initial=0.0)))
            more = np.divide(lacking, held, out=np.zeros_like(held), where=known)
            # Cells that a table does not count stay as they are.
            cells = cells * (1.0 + spread(more, sums.maps, problem.leaf))
        if worst < CLOSE:
            break
    return cells


def settled_goals(problem: GridProblem, estimates: Sequence[TreeEstimate]) -> list[Goal]:
    """Return goals for facts and tables that agree with each other as far as they have in common."""
    found: list[Goal] = [
        (fact, fact.values.astype(np.float64)) for fact in finest_facts(problem.exact)
    ]
    tables = sorted(
        zip(problem.measured, estimates, strict=True), key=lambda pair: pair[0].values.size
    )
    for sums, estimate in tables:
        values = np.broadcast_to(estimate.values, sums.shape).reshape(-1).astype(np.float64)
        if problem.zero is not None:
            open_ = open_cells(problem.zero, sums.maps, sums.shape)
            values = np.where(open_.reshape(-1), values, 0.0)
        bonds = [(_bond(sums, other), wanted) for other, wanted in found]
        goals = np.maximum(values, 0.0)
        for _ in range(TURNS if len(bonds) > 1 else 1):
            for (mine, theirs, groups), wanted in bonds:
                kept = theirs >= 0
                totals: Floats = np.bincount(
                    theirs[kept], weights=wanted.reshape(-1)[kept], minlength=groups
                ).astype(np.float64)
                goals = nearest(values, mine, totals)
                values = goals
        found.append((sums, goals.reshape(sums.shape)))
    return found


def nearest(values: Floats, groups: Integers, totals: Floats) -> Floats:
    """Return the nearest numbers, none negative, with these totals by group; group -1 has none.

    >>> nearest(np.array([3.0, -2.0, 7.0, -1.0]), np.array([0, 0, 0, -1]), np.array([8.0])).tolist()
    [2.0, 0.0, 6.0, 0.0]
    """
    found = np.maximum(values, 0.0)
    inside = np.flatnonzero(groups >= 0)
    mine, owner = values[inside], groups[inside]
    active = np.ones(len(mine), dtype=bool)
    shift = np.zeros(len(mine))
    for _ in range(MOST_ROUNDS):
        count = np.bincount(owner, weights=active, minlength=len(totals))
        held = np.bincount(owner, weights=np.where(active, mine, 0.0), minlength=len(totals))
        shift = ((held - totals) / np.maximum(count, 1))[owner]
        kept = active & (mine > shift)
        if (kept == active).all():
            break
        active = kept
    found[inside] = np.where(active, mine - shift, 0.0)
    return found


def _bond(one: Sums, two: Sums) -> tuple[Integers, Integers, int]:
    """Return for each cell of two tables the group in which both have the same sum, -1 for none."""
    mine: list[Integers] = []
    theirs: list[Integers] = []
    sizes = []
    for first, second, n, m in zip(one.maps, two.maps, one.shape, two.shape, strict=True):
        of_first, of_second, size = _joined(first, second, n, m)
        mine.append(of_first)
        theirs.append(of_second)
        sizes.append(size)
    return _flat(mine, sizes), _flat(theirs, sizes), int(np.prod(sizes))


def _joined(first: Integers, second: Integers, n: int, m: int) -> tuple[Integers, Integers, int]:
    """Return along one dimension the finest classes that are unions of classes of both sides.

    Where one side does not count what the other does, there is no such class: -1.
    """
    pairs = np.unique(
        np.stack([np.where(first < 0, n, first), np.where(second < 0, m, second)]), axis=1
    )
    label = np.arange(n + 1 + m + 1)
    while True:
        low = np.minimum(label[pairs[0]], label[n + 1 + pairs[1]])
        after = label.copy()
        np.minimum.at(after, pairs[0], low)
        np.minimum.at(after, n + 1 + pairs[1], low)
        if (after == label).all():
            break
        label = after
    mixed = {int(label[n]), int(label[n + 1 + m])}
    classes = sorted({int(each) for each in (*label[:n], *label[n + 1 : n + 1 + m])} - mixed)
    place = {each: i for i, each in enumerate(classes)}
    number = np.array([place.get(int(each), -1) for each in label], dtype=np.int64)
    return number[:n], number[n + 1 : n + 1 + m], max(1, len(classes))


def _flat(parts: Sequence[Array], sizes: Sequence[int]) -> Integers:
    found = np.zeros((1,) * len(parts), dtype=np.int64)
    known = np.ones((1,) * len(parts), dtype=bool)
    for axis, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        shaped = part.reshape([-1 if d == axis else 1 for d in range(len(parts))])
        found = found * size + np.maximum(shaped, 0)
        known = known & (shaped >= 0)
    return np.where(known, found, -1).reshape(-1)
