"""Whole numbers that add up everywhere: from coarse to fine, each cell divided among its parts.

Leaf cells in whole numbers make every sum of them agree. So that coarse sums stay near their estimates
as well, totals are settled first: the parts of a cell are the nearest numbers (not negative) to their
estimates that add up to it, rounded so that they still do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.publish.families.find import numbered_by_first_occurrence
from discreet.publish.grid import Array, add_up
from discreet.publish.reconcile.crossed_groupings import finest_facts
from discreet.publish.reconcile.exact_cells import settle_facts
from discreet.publish.reconcile.nested_groupings import coarse_to_fine
from discreet.publish.reconcile.problem import GridProblem, Sums, open_cells

MOST_ROUNDS = 100
PIECE = 1 << 18
"""About how many parts are divided at once."""


def whole_cells(problem: GridProblem, leaf: Floats) -> Integers:
    """Return whole leaf cells near the estimates `leaf`, with all exact sums and zeros kept."""
    facts = finest_facts(problem.exact)
    classes = fact_classes(problem, facts)
    if facts:
        totals = settle_facts(problem, facts, classes, leaf)
    else:
        total = np.rint(add_up(leaf, classes, (1,) * leaf.ndim))
        totals = (np.maximum(total, 0) if problem.non_negative else total).astype(np.int64)
    for goal in _stages(problem):
        for axis in range(leaf.ndim):
            finer = _refined(classes[axis], goal[axis])
            if finer.max(initial=0) > classes[axis].max(initial=0):
                after = [finer if d == axis else each for d, each in enumerate(classes)]
                totals = _divide(problem, leaf, totals, (classes, after, axis))
                classes = after
    return totals


def fact_classes(problem: GridProblem, facts: Sequence[Sums]) -> list[Integers]:
    """Return along each dimension the classes that the facts together tell apart."""
    classes = [np.zeros(size, dtype=np.int64) for size in problem.leaf]
    for fact in facts:
        classes = [_refined(one, two) for one, two in zip(classes, fact.maps, strict=True)]
    return classes


def _stages(problem: GridProblem) -> list[Sequence[Integers]]:
    """Return groupings from coarse to fine, the leaf cells themselves last."""
    found: list[Sequence[Integers]] = [each.maps for each in coarse_to_fine(problem.measured)]
    return [*found, [np.arange(size) for size in problem.leaf]]


def _refined(one: Integers, two: Integers) -> Integers:
    """Return the classes of leaf classes that neither grouping tells apart, numbered by first sight."""
    return numbered_by_first_occurrence([one, two])


def _divide(
    problem: GridProblem,
    leaf: Floats,
    totals: Integers,
    change: tuple[list[Integers], list[Integers], int],
) -> Integers:
    before, after, axis = change
    shape = [int(each.max()) + 1 for each in after]
    estimates = add_up(leaf, after, shape)
    open_ = None if problem.zero is None else open_cells(problem.zero, after, shape)
    link = np.zeros(shape[axis], dtype=np.int64)
    link[after[axis]] = before[axis]
    return divided(totals, estimates, link, axis, allowed=open_, non_negative=problem.non_negative)


def divided(
    totals: Integers,
    estimates: Floats,
    link: Integers,
    axis: int,
    *,
    allowed: Array | None = None,
    non_negative: bool = True,
) -> Integers:
    """Return whole parts along one dimension that add up to `totals`; `link` says part of which.

    >>> divided(np.array([10]), np.array([3.4, -2.0, 7.0]), np.array([0, 0, 0]), 0).tolist()
    [3, 0, 7]
    """
    order = np.argsort(link, kind="stable")
    owners = link[order]
    whole = np.moveaxis(totals, axis, 0).reshape(totals.shape[axis], -1)
    values = np.moveaxis(estimates, axis, 0).reshape(estimates.shape[axis], -1)
    open_ = None
    if allowed is not None:
        open_ = np.moveaxis(allowed, axis, 0).reshape(values.shape)
    parts = np.empty(values.shape, dtype=np.int64)
    width = max(1, PIECE // len(link))
    for start in range(0, values.shape[1], width):
        # Columns are independent of each other; a few at a time stay in the processor's cache.
        columns = slice(start, start + width)
        held = None if open_ is None else open_[order, columns]
        shares = _projected(
            whole[:, columns], values[order, columns], owners, held, non_negative=non_negative
        )
        parts[order, columns] = _rounded(whole[:, columns], shares, owners)
    rest = [size for d, size in enumerate(estimates.shape) if d != axis]
    return np.ascontiguousarray(np.moveaxis(parts.reshape([len(link), *rest]), 0, axis))


def _projected(
    totals: Integers,
    values: Floats,
    owners: Integers,
    allowed: Array | None,
    *,
    non_negative: bool,
) -> Floats:
    """Return the nearest parts that add up to their totals (Michelot 1986 for those >= 0)."""
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
    lengths = np.diff(np.append(starts, len(owners)))
    wanted = totals[owners[starts]]
    active = np.ones(values.shape, dtype=bool) if allowed is None else allowed
    held = values if allowed is None else np.where(active, values, 0.0)
    for _ in range(MOST_ROUNDS):
        count = np.add.reduceat(active, starts, axis=0, dtype=np.float64)
        excess = (np.add.reduceat(held, starts, axis=0) - wanted) / np.maximum(count, 1)
        shift = np.repeat(excess, lengths, axis=0)
        if not non_negative:
            break
        kept = active & (values > shift)
        if (kept == active).all():
            break
        active = kept
        held = np.where(active, values, 0.0)
    return np.where(active, values - shift, 0.0)


def _rounded(totals: Integers, shares: Floats, owners: Integers) -> Integers:
    """Return whole parts, each next to its share, whose sums are the totals: running sums rounded."""
    whole = np.floor(np.cumsum(shares, axis=0) + 0.5).astype(np.int64)
    ends = np.flatnonzero(np.append(owners[1:] != owners[:-1], True))
    # Rounding errors of the running sum must not reach the totals.
    whole[ends] = np.cumsum(totals[owners[ends]], axis=0)
    return np.diff(whole, axis=0, prepend=0)
