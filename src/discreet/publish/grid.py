"""Sums over a grid of leaf cells, one dimension at a time: what every member of a family is, and which refines which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Integers

Array = npt.NDArray[Any]


def is_identity(classes: Integers, size: int) -> bool:
    """Return whether every class stays what it is."""
    return len(classes) == size and bool((classes == np.arange(size)).all())


def add_up(cells: Array, maps: Sequence[Integers], shape: Sequence[int]) -> Array:
    """Return the sums of leaf cells by class along every dimension; class -1 is not counted."""
    found = cells
    # Largest shrinkage first: later dimensions then have less to do.
    order = sorted(range(len(shape)), key=lambda d: shape[d] / max(1, len(maps[d])))
    for axis in order:
        found = add_along(found, maps[axis], shape[axis], axis)
    return found


def add_along(cells: Array, classes: Integers, size: int, axis: int) -> Array:
    """Return the sums of cells by class along one dimension."""
    if is_identity(classes, size):
        return cells
    if cells.shape[axis] == 1 and len(classes) > 1:
        # Broadcast: every cell of this dimension is the same.
        counts = np.bincount(classes[classes >= 0], minlength=size)
        return cells * counts.reshape([-1 if d == axis else 1 for d in range(cells.ndim)])
    if size == 1 and (classes == 0).all():
        return np.asarray(cells.sum(axis=axis, keepdims=True))
    kept = np.flatnonzero(classes >= 0)
    order = kept[np.argsort(classes[kept], kind="stable")]
    there, starts = np.unique(classes[order], return_index=True)
    ordered = cells if is_identity(order, cells.shape[axis]) else cells.take(order, axis=axis)
    kind = np.int64 if np.issubdtype(cells.dtype, np.integer) else None  # sums outgrow 32 bits
    sums = np.add.reduceat(ordered, starts, axis=axis, dtype=kind) if len(order) else ordered
    if len(there) == size:
        return sums
    full = np.zeros([size if d == axis else n for d, n in enumerate(sums.shape)], sums.dtype)
    full[_at(there, axis, sums.ndim)] = sums
    return full


def spread(values: Array, maps: Sequence[Integers], leaf: Sequence[int]) -> Array:
    """Return for each leaf cell the value of the class it is in, 0 where it is in none."""
    found = values
    order = sorted(range(len(leaf)), key=lambda d: leaf[d] / max(1, values.shape[d]))
    for axis in order:
        found = spread_along(found, maps[axis], axis)
    return found


def spread_along(values: Array, classes: Integers, axis: int) -> Array:
    """Return the value of each cell's class along one dimension; 0 for class -1."""
    if is_identity(classes, values.shape[axis]):
        return values
    found = values.take(np.maximum(classes, 0), axis=axis)
    outside = np.flatnonzero(classes < 0)
    if len(outside):
        found[_at(outside, axis, found.ndim)] = 0
    return found


def narrowed(cells: Array) -> Array:
    """Return whole numbers in half the memory where they fit: a grid may have 10^8 cells."""
    limits = np.iinfo(np.int32)
    fits = cells.size and limits.min <= cells.min() and cells.max() <= limits.max
    return cells.astype(np.int32) if fits else cells


def refines(fine: Sequence[Integers], coarse: Sequence[Integers]) -> bool:
    """Return whether every cell of `coarse` is a sum of whole cells of `fine`."""
    return all(_refines_along(one, two) for one, two in zip(fine, coarse, strict=True))


def _refines_along(fine: Integers, coarse: Integers) -> bool:
    inside = coarse >= 0
    if (fine[inside] < 0).any():
        return False
    used = np.isin(fine, fine[inside])
    # Each class that is used lies in one class of the coarser member, as a whole.
    classes, first = np.unique(fine[used], return_index=True)
    owner = coarse[used][first]
    return bool((coarse[used] == owner[np.searchsorted(classes, fine[used])]).all())


def parts_along(fine: Integers, coarse: Integers, size: int) -> Integers:
    """Return for each class of `coarse` how many classes of `fine` it is made of."""
    inside = coarse >= 0
    pairs = np.unique(np.stack([coarse[inside], fine[inside]]), axis=1)
    return np.bincount(pairs[0], minlength=size)


def mean_parts(fine: Sequence[Integers], coarse: Sequence[Integers], shape: Sequence[int]) -> float:
    """Return how many cells of `fine` make up one of `coarse`, on average."""
    found = 1.0
    for one, two, size in zip(fine, coarse, shape, strict=True):
        found *= float(parts_along(one, two, size).mean())
    return found


def _at(places: Integers, axis: int, dimensions: int) -> tuple[Any, ...]:
    return tuple(places if d == axis else slice(None) for d in range(dimensions))
