"""From noisy sums to what is published: least squares, whole numbers, intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.publish.grid import add_up
from discreet.publish.reconcile.crossed import bounded_variances, crossed_estimate, dense_variances
from discreet.publish.reconcile.fitting import fitted_cells
from discreet.publish.reconcile.problem import Floats, GridProblem, Integers
from discreet.publish.reconcile.tree import TreeEstimate, coarse_to_fine, is_nested, tree_estimates
from discreet.publish.reconcile.whole import whole_cells

SMALL_GRID = 400
"""Up to so many leaf cells, crossed variances are computed exactly by a dense inverse."""

GAUSSIAN = 1.959964
LAPLACE = 2.12
"""Half widths of a 95% interval in standard deviations; a single Laplace has the wider tail."""

_SLACK = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Reconciled:
    """One table: least-squares estimates with variances, and whole numbers with intervals."""

    estimate: Floats
    variance: Floats
    whole: Integers
    low: Integers
    high: Integers


def least_squares(problem: GridProblem) -> tuple[list[TreeEstimate], Floats]:
    """Return the estimate of every measured table, and of the leaf cells."""
    everything = (*problem.measured, *problem.exact)
    finest = coarse_to_fine(everything)[-1]
    if _is_tree(problem):
        found = tree_estimates(everything, problem.zero)
        leaf = next(e for e, s in zip(found, everything, strict=True) if s is finest)
        return found[: len(problem.measured)], leaf.values.reshape(problem.leaf)
    leaf_cells = crossed_estimate(problem)
    small = np.prod(problem.leaf, dtype=np.float64) <= SMALL_GRID
    variances = dense_variances(problem) if small else bounded_variances(problem)
    estimates = [
        TreeEstimate(add_up(leaf_cells, sums.maps, sums.shape), variance)
        for sums, variance in zip(problem.measured, variances, strict=True)
    ]
    return estimates, leaf_cells


def _is_tree(problem: GridProblem) -> bool:
    everything = (*problem.measured, *problem.exact)
    return coarse_to_fine(everything)[-1].shape == problem.leaf and is_nested(everything)


def reconcile(problem: GridProblem, *, width: float = GAUSSIAN) -> list[Reconciled]:
    """Return every measured table as it is published; post-processing only.

    Guarantee: whole numbers add up everywhere, keep all exact sums and zeros, and are not negative
        where the measure cannot be. Intervals are those of least squares, cut at zero, rounded
        outwards, and widened to hold the published number.
    """
    estimates, leaf = least_squares(problem)
    if problem.non_negative and not _is_tree(problem):
        leaf = fitted_cells(problem, estimates)
    cells = whole_cells(problem, leaf)
    found = []
    for sums, estimate in zip(problem.measured, estimates, strict=True):
        whole = np.asarray(add_up(cells, sums.maps, sums.shape), dtype=np.int64)
        low, high = interval(estimate, whole, width=width, non_negative=problem.non_negative)
        found.append(Reconciled(estimate.values, estimate.variance, whole, low, high))
    return found


def interval(
    estimate: TreeEstimate, whole: Integers, *, width: float, non_negative: bool
) -> tuple[Integers, Integers]:
    """Return the ends of the intervals of one table."""
    half = width * np.sqrt(estimate.variance)
    low = np.floor(estimate.values - half + _SLACK)
    high = np.ceil(estimate.values + half - _SLACK)
    if non_negative:
        np.maximum(low, 0, out=low)
        np.maximum(high, 0, out=high)
    return (
        np.minimum(low.astype(np.int64), whole),
        np.maximum(high.astype(np.int64), whole),
    )
