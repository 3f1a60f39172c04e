"""From noisy sums to what is published: least squares, whole numbers, intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.publish.grid import add_up, narrowed
from discreet.publish.reconcile.crossed_groupings import (
    Widening,
    bounded_variances,
    crossed_estimate,
    sampled_widening,
)
from discreet.publish.reconcile.integer_rounding import whole_cells
from discreet.publish.reconcile.nested_groupings import (
    TreeEstimate,
    coarse_to_fine,
    is_nested,
    tree_estimates,
)
from discreet.publish.reconcile.nonnegative_fit import fitted_cells
from discreet.publish.reconcile.problem import GridProblem
from discreet.publish.reconcile.symmetric_blocks import MOST_UNKNOWNS, SymmetricBlocks

NORMAL = 1.959964
"""Half the width of a 95% interval in standard deviations, where no law has a wider one."""

_SLACK = 1e-6


MOST_MEASURED = 2_000_000
"""On grids of more leaf cells it is not measured by how much intervals are too wide."""

PIECE = 1 << 22
"""About how many cells get their intervals at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PublishedNumbers:
    """The numbers of one table as they are published: whole, each with the ends of its interval."""

    whole: Integers
    low: Integers
    high: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Reconciled:
    """One table: its least-squares estimate, and what is published of it."""

    estimate: TreeEstimate
    published: PublishedNumbers


def least_squares(problem: GridProblem) -> tuple[list[TreeEstimate], Floats]:
    """Return the estimate of every measured table, and of the leaf cells."""
    everything = (*problem.measured, *problem.exact)
    finest = coarse_to_fine(everything)[-1]
    if _is_tree(problem):
        found = tree_estimates(everything, problem.zero)
        leaf = next(e for e, s in zip(found, everything, strict=True) if s is finest)
        return found[: len(problem.measured)], leaf.values.reshape(problem.leaf)
    leaf_cells = crossed_estimate(problem)
    blocks = SymmetricBlocks(problem)
    exact = blocks.unknowns <= MOST_UNKNOWNS
    variances = blocks.variances() if exact else bounded_variances(problem)
    estimates = [
        TreeEstimate(add_up(leaf_cells, sums.maps, sums.shape), variance)
        for sums, variance in zip(problem.measured, variances, strict=True)
    ]
    return estimates, leaf_cells


def widening(problem: GridProblem) -> Widening | None:
    """Return how many times as wide as those of least squares intervals are at some cells; None where they are exact.

    On grids that are too large to measure it, it is measured at no cell.
    """
    if _is_tree(problem) or SymmetricBlocks(problem).unknowns <= MOST_UNKNOWNS:
        return None
    if np.prod(problem.leaf, dtype=np.float64) > MOST_MEASURED:
        return Widening(1.0, 0, sum(int(np.prod(sums.shape)) for sums in problem.measured))
    return sampled_widening(problem)


def _is_tree(problem: GridProblem) -> bool:
    everything = (*problem.measured, *problem.exact)
    return coarse_to_fine(everything)[-1].shape == problem.leaf and is_nested(everything)


def reconcile(problem: GridProblem, *, width: float = NORMAL) -> Iterator[Reconciled]:
    """Return every measured table as it is published, one after the other; post-processing only.

    Whoever keeps only what is published never holds more than one table's estimates.

    Guarantee: whole numbers add up everywhere, keep all exact sums and zeros, and are not negative
        where the measure cannot be. Intervals are those of least squares, cut at zero, rounded
        outwards, and widened to hold the published number.
    """
    estimates, leaf = least_squares(problem)
    if problem.non_negative and not _is_tree(problem):
        leaf = fitted_cells(problem, estimates)
    return _published(problem, estimates, narrowed(whole_cells(problem, leaf)), width)


def _published(
    problem: GridProblem, estimates: list[TreeEstimate], cells: Integers, width: float
) -> Iterator[Reconciled]:
    for sums in problem.measured:
        whole = np.asarray(add_up(cells, sums.maps, sums.shape))
        estimate = estimates.pop(0)
        low, high = intervals(estimate, whole, width=width, non_negative=problem.non_negative)
        yield Reconciled(estimate, PublishedNumbers(whole, low, high))


def intervals(
    estimate: TreeEstimate, whole: Integers, *, width: float, non_negative: bool
) -> tuple[Integers, Integers]:
    """Return the ends of the intervals of one table, a few million cells at a time."""
    if not whole.shape:
        # A grand total of a family that nothing divides: one cell without a dimension.
        one = TreeEstimate(np.atleast_1d(estimate.values), np.atleast_1d(estimate.variance))
        ends = intervals(one, np.atleast_1d(whole), width=width, non_negative=non_negative)
        return ends[0].reshape(()), ends[1].reshape(())
    half = np.broadcast_to(width * np.sqrt(estimate.variance), whole.shape)
    values = np.broadcast_to(estimate.values, whole.shape)
    kind = whole.dtype if _far(values, half) < np.iinfo(whole.dtype).max else np.dtype(np.int64)
    low, high = np.empty(whole.shape, kind), np.empty(whole.shape, kind)
    step = max(1, PIECE * whole.shape[0] // max(1, whole.size))
    for start in range(0, whole.shape[0], step):
        rows = slice(start, start + step)
        below = np.floor(values[rows] - half[rows] + _SLACK)
        above = np.ceil(values[rows] + half[rows] - _SLACK)
        if non_negative:
            np.maximum(below, 0, out=below)
            np.maximum(above, 0, out=above)
        low[rows] = np.minimum(below, whole[rows])
        high[rows] = np.maximum(above, whole[rows])
    return low, high


def _far(values: Floats, half: Floats) -> float:
    """Return a number that no end of an interval is beyond."""
    largest = max(abs(values.min(initial=0.0)), abs(values.max(initial=0.0)))
    return float(largest + half.max(initial=0.0) + 1)
