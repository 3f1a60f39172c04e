"""What is reconciled: noisy sums over a grid of leaf cells, exact sums, and cells that are zero.

Every member of a family sums the grid, one dimension at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Integers
from discreet.work.publish.families import Family, Member

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


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums of leaf cells by class along each dimension: measured with `variance`, exact with 0."""

    maps: tuple[Integers, ...]
    shape: tuple[int, ...]
    values: Integers
    variance: float

    @property
    def complete(self) -> bool:
        """Return whether every leaf cell is counted."""
        return all((classes >= 0).all() for classes in self.maps)


@dataclass(frozen=True, slots=True, eq=False)
class GridProblem:
    """Measured and exact sums over one grid. `zero` says which leaf cells are zero by a rule."""

    leaf: tuple[int, ...]
    measured: tuple[Sums, ...]
    exact: tuple[Sums, ...] = ()
    zero: Bits | None = None
    non_negative: bool = True


LEAST = 1e-12
"""Variance that a measurement has at least: at a huge epsilon the law's own is 0 to a float, and exact
measurements would be divided by it."""


def problem_of(
    family: Family,
    values: Sequence[Integers],
    variances: Sequence[float],
    *,
    facts: Sequence[Integers] = (),
    zero: Bits | None = None,
    non_negative: bool = True,
) -> GridProblem:
    """Return the problem of a family with its measurements, in the order of its members."""
    measured = tuple(
        _sums(member, value, max(variance, LEAST))
        for member, value, variance in zip(family.members, values, variances, strict=True)
    )
    exact = tuple(
        _sums(member, value, 0.0) for member, value in zip(family.facts, facts, strict=True)
    )
    return GridProblem(family.shape, measured, exact, zero, non_negative)


def _sums(member: Member, values: Integers, variance: float) -> Sums:
    return Sums(member.maps, member.shape, values.reshape(member.shape), variance)


def implies(fine: Sums, coarse: Sums) -> bool:
    """Return whether the sums of `fine` add up to those of `coarse`, and both count every leaf cell."""
    return fine.complete and coarse.complete and refines(fine.maps, coarse.maps)


def open_cells(zero: Bits, maps: Sequence[Integers], shape: Sequence[int]) -> Bits:
    """Return the sums that hold some leaf cell which no rule sets to zero."""
    return np.asarray(add_up((~zero).astype(np.int64), maps, shape) > 0)


def linked(
    fine: Sequence[Integers], coarse: Sequence[Integers], shape: Sequence[int]
) -> list[Integers]:
    """Return for each class of `fine` along each dimension the class of `coarse` that it lies in."""
    found = []
    for one, two, size in zip(fine, coarse, shape, strict=True):
        link = np.full(size, -1, dtype=np.int64)
        inside = one >= 0
        link[one[inside]] = two[inside]
        found.append(link)
    return found
