"""Whole numbers that add up everywhere: from coarse to fine, each cell divided among its parts.

Leaf cells in whole numbers make every sum of them agree. So that coarse sums stay near their estimates
as well, totals are settled first: the parts of a cell are the nearest numbers (not negative) to their
estimates that add up to it, rounded so that they still do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.publish.families.atoms import Codes
from discreet.publish.grid import Array, add_along, add_up
from discreet.publish.reconcile.crossed import finest_facts
from discreet.publish.reconcile.exact_cells import settle_facts
from discreet.publish.reconcile.problem import Floats, Integers, Problem, Sums
from discreet.publish.reconcile.tree import coarse_to_fine

MOST_ROUNDS = 100


def whole_cells(problem: Problem, leaf: Floats) -> Integers:
    """Return whole leaf cells near the estimates `leaf`, with all exact sums and zeros kept."""
    facts = finest_facts(problem.exact)
    classes = fact_classes(problem, facts)
    allowed = None if problem.zero is None else ~problem.zero
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
                totals = _divide(problem, leaf, allowed, totals, (classes, after, axis))
                classes = after
    return totals


def fact_classes(problem: Problem, facts: Sequence[Sums]) -> list[Codes]:
    """Return along each dimension the classes that the facts together tell apart."""
    classes = [np.zeros(size, dtype=np.int64) for size in problem.leaf]
    for fact in facts:
        classes = [_refined(one, two) for one, two in zip(classes, fact.maps, strict=True)]
    return classes


def _stages(problem: Problem) -> list[Sequence[Codes]]:
    """Return groupings from coarse to fine, the leaf cells themselves last."""
    found: list[Sequence[Codes]] = [each.maps for each in coarse_to_fine(problem.measured)]
    return [*found, [np.arange(size) for size in problem.leaf]]


def _refined(one: Codes, two: Codes) -> Codes:
    """Return the classes of leaf classes that neither grouping tells apart, numbered by first sight."""
    pairs = np.stack([one, two], axis=1)
    _, first, inverse = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _divide(
    problem: Problem,
    leaf: Floats,
    allowed: Array | None,
    totals: Integers,
    change: tuple[list[Codes], list[Codes], int],
) -> Integers:
    before, after, axis = change
    shape = [int(each.max()) + 1 for each in after]
    estimates = add_up(leaf, after, shape)
    open_ = None if allowed is None else add_up(allowed.astype(np.int64), after, shape) > 0
    link = np.zeros(shape[axis], dtype=np.int64)
    link[after[axis]] = before[axis]
    return divided(totals, estimates, link, axis, allowed=open_, non_negative=problem.non_negative)


def divided(
    totals: Integers,
    estimates: Floats,
    link: Codes,
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
    sorted_already = bool((order == np.arange(len(order))).all())
    values = estimates if sorted_already else estimates.take(order, axis=axis)
    open_ = allowed if allowed is None or sorted_already else allowed.take(order, axis=axis)
    owners = link[order]
    shares = _projected(totals, values, owners, axis, open_, non_negative=non_negative)
    parts = _rounded(totals, shares, owners, axis)
    if sorted_already:
        return parts
    found = np.empty_like(parts)
    found[tuple(order if d == axis else slice(None) for d in range(parts.ndim))] = parts
    return found


def _projected(
    totals: Integers,
    values: Floats,
    owners: Codes,
    axis: int,
    allowed: Array | None,
    *,
    non_negative: bool,
) -> Floats:
    """Return the nearest parts that add up to their totals (Michelot 1986 for those >= 0)."""
    size = totals.shape[axis]
    active = np.ones(values.shape, dtype=bool) if allowed is None else allowed
    for _ in range(MOST_ROUNDS):
        count = add_along(active.astype(np.int32), owners, size, axis)
        held = add_along(np.where(active, values, 0.0), owners, size, axis)
        excess = ((held - totals) / np.maximum(count, 1)).take(owners, axis=axis)
        if not non_negative:
            break
        kept = active & (values > excess)
        if (kept == active).all():
            break
        active = kept
    return np.where(active, values - excess, 0.0)


def _rounded(totals: Integers, shares: Floats, owners: Codes, axis: int) -> Integers:
    """Return whole parts, each next to its share, whose sums are the totals: running sums rounded."""
    running = np.cumsum(shares, axis=axis)
    whole = np.floor(running + 0.5).astype(np.int64)
    ends = np.flatnonzero(np.append(owners[1:] != owners[:-1], True))
    exact = np.cumsum(totals.take(owners[ends], axis=axis), axis=axis)
    place = tuple(ends if d == axis else slice(None) for d in range(whole.ndim))
    # Rounding errors of the running sum must not reach the totals.
    whole[place] = exact
    return np.diff(whole, axis=axis, prepend=0)
