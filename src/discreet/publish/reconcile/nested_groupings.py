"""Weighted least squares on nested groupings: one pass up, one pass down, exact.

The estimate of a cell, from below, combines its own measurement with the sum of its parts, by their
precisions; going down, what the parts lack is shared among them by their variances. This is the
Gaussian posterior mean on a tree, so it is the least-squares optimum. [Hay et al. 2010, weighted]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.core.arrays import Bits, Floats
from discreet.publish.grid import Array, add_up, spread
from discreet.publish.reconcile.problem import Sums, implies, linked, open_cells


@dataclass(frozen=True, slots=True, eq=False)
class TreeEstimate:
    """The least-squares estimate of every cell of one grouping, and its variance (broadcast)."""

    values: Floats
    variance: Floats


def is_nested(sums: Sequence[Sums]) -> bool:
    """Return whether the groupings, from coarse to fine, each refine the one before, completely."""
    ordered = coarse_to_fine(sums)
    whole = all(each.complete for each in ordered)
    return whole and all(implies(fine, coarse) for coarse, fine in pairwise(ordered))


def coarse_to_fine(sums: Sequence[Sums]) -> list[Sums]:
    """Return groupings by their number of cells."""
    return sorted(sums, key=lambda each: int(np.prod(each.shape, dtype=np.float64)))


def tree_estimates(sums: Sequence[Sums], zero: Bits | None = None) -> list[TreeEstimate]:
    """Return the estimates of nested groupings, in the order of `sums`."""
    ordered = coarse_to_fine(sums)
    links = [linked(fine.maps, coarse.maps, fine.shape) for coarse, fine in pairwise(ordered)]
    known = [None if zero is None else ~open_cells(zero, each.maps, each.shape) for each in ordered]
    below = [_own(each, mask) for each, mask in zip(ordered, known, strict=True)]
    parts: list[tuple[Array, Array]] = []
    for i in reversed(range(len(ordered) - 1)):
        shape = ordered[i].shape
        total = add_up(below[i + 1].values, links[i], shape)
        # A broadcast variance is that of each part: the sum needs their number.
        variance = add_up(below[i + 1].variance, links[i], shape)
        parts.insert(0, (total, variance))
        below[i] = _combined(below[i], total, variance)
    found = [below[0]]
    del below[0]
    for i in range(1, len(ordered)):
        # Taken from the list, so that only one copy of the finest cells is held.
        own = below.pop(0)
        found.append(_adjusted(own, found[-1], parts[i - 1], links[i - 1], ordered[i].shape))
    by_sums = {id(each): estimate for each, estimate in zip(ordered, found, strict=True)}
    return [by_sums[id(each)] for each in sums]


def _own(sums: Sums, zero: Bits | None) -> TreeEstimate:
    values = sums.values.astype(np.float64)
    variance = np.full((1,) * values.ndim, sums.variance)
    if zero is None or not zero.any():
        return TreeEstimate(values, variance)
    values[zero] = 0.0
    return TreeEstimate(values, np.where(zero, 0.0, variance))


def _combined(own: TreeEstimate, total: Array, variance: Array) -> TreeEstimate:
    """Return the estimate from a cell's own measurement and the sum of its parts."""
    both = own.variance + variance
    weight = np.divide(variance, both, out=np.zeros_like(both * 1.0), where=both > 0)
    values = total + weight * (own.values - total)
    # Exact numbers stand, whatever their parts say.
    values = np.where(own.variance == 0, own.values, values)
    return TreeEstimate(values, weight * own.variance)


def _adjusted(
    own: TreeEstimate,
    above: TreeEstimate,
    parts: tuple[Array, Array],
    links: Sequence[Array],
    shape: tuple[int, ...],
) -> TreeEstimate:
    """Return the estimate after the parts of each cell were brought to its own estimate."""
    total, variance = parts
    inverse = np.divide(1.0, variance, out=np.zeros_like(variance * 1.0), where=variance > 0)
    missing = spread((above.values - total) * inverse, links, shape)
    missing *= own.variance
    missing += own.values
    share = own.variance * _spread_small(inverse, links)
    left = own.variance - share * own.variance + share**2 * _spread_small(above.variance, links)
    return TreeEstimate(missing, np.maximum(left, 0.0))


def _spread_small(values: Array, links: Sequence[Array]) -> Array:
    """Return values spread to parts, dimensions of size one left to be broadcast."""
    found = values
    for axis, link in enumerate(links):
        if found.shape[axis] > 1:
            found = found.take(link, axis=axis)
    return found
