"""Exact variances of least squares on crossed groupings, by blocks that symmetry makes small.

Positions of a dimension that no grouping tells apart, or that every grouping which tells them apart lists one
by one, can change places. Cells then split into means over such groups of positions and contrasts
within them; measurements and exact sums mix only cells of the same kind (Schur's lemma), and all
contrasts within one group have the same variance. So each kind is a small problem of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from discreet.core.arrays import Bits, Floats, Integers
from discreet.publish.reconcile.problem import GridProblem, Sums

MOST_UNKNOWNS = 1500
"""A block of more unknowns is not solved: half a minute of a core and 0.3 GB."""

_NOTHING = 1e-10
_IN_SPAN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class GroupedSums:
    """The classes of one table along one dimension, in groups of positions that can change places.

    A row of `rows` sums normed means of groups: one row for each class of several positions, one for each group
    whose positions are classes of their own. `row` is the row of each class, `of_mean` the share of the squared
    length of a class that lies in means, the rest lies in contrasts within `group`.
    """

    rows: Floats
    row: Integers
    of_mean: Floats
    group: Integers


@dataclass(frozen=True, slots=True, eq=False)
class GroupedAxis:
    """One dimension: a position of each group, how large it is, and which tables list it one by one."""

    first: Integers
    sizes: Integers
    listed: Bits
    sums: tuple[GroupedSums, ...]


class SymmetricBlocks:
    """The variances of all measured sums, as least squares has them."""

    def __init__(self, problem: GridProblem) -> None:
        self._problem = problem
        self._all = (*problem.measured, *problem.exact)
        self._axes = [_grouped(problem, self._all, axis) for axis in range(len(problem.leaf))]
        zero = problem.zero
        self._open = (
            np.ones([len(axis.sizes) for axis in self._axes], dtype=bool)
            if zero is None
            else ~zero[np.ix_(*[axis.first for axis in self._axes])]
        )

    @property
    def unknowns(self) -> int:
        """Return how many unknowns the largest block has."""
        return int(self._open.sum())

    def variances(self) -> list[Floats]:
        """Return the variance of every estimate, table by table.

        Guarantee: those of least squares under all exact sums and zeros, up to rounding: what exact
            sums determine has variance 0.
        """
        found = [
            np.zeros([len(axis.sums[t].rows) for axis in self._axes])
            for t in range(len(self._problem.measured))
        ]
        dimensions = range(len(self._axes))
        for count in range(len(self._axes) + 1):
            for inner in combinations(dimensions, count):
                for groups in product(*[self._kinds(d) for d in inner]):
                    self._add(found, dict(zip(inner, groups, strict=True)))
        full = []
        for t, reduced in enumerate(found):
            places = [axis.sums[t].row for axis in self._axes]
            full.append(np.asarray(reduced[np.ix_(*places)]))
        return full

    def _kinds(self, dimension: int) -> list[Integers]:
        """Return the groups along a dimension that have contrasts, those of one kind together."""
        axis = self._axes[dimension]
        slices = np.moveaxis(self._open, dimension, 0).reshape(len(axis.sizes), -1)
        alike: dict[tuple[bytes, bytes], list[int]] = {}
        for group in np.flatnonzero(axis.sizes > 1):
            kind = axis.listed[:, group].tobytes(), slices[group].tobytes()
            alike.setdefault(kind, []).append(int(group))
        return [np.array(groups) for groups in alike.values()]

    def _add(self, found: list[Floats], inner: dict[int, Integers]) -> None:
        """Add what contrasts along the dimensions `inner`, within groups of one kind, add."""
        outer = [d for d in range(len(self._axes)) if d not in inner]
        acting = [
            t
            for t in range(len(self._all))
            if all(self._axes[d].listed[t, groups[0]] for d, groups in inner.items())
        ]
        place = tuple(inner[d][0] if d in inner else slice(None) for d in range(len(self._axes)))
        open_ = np.asarray(self._open[place]).reshape(-1)
        measured = [t for t in acting if t < len(found)]
        if not measured or not open_.any():
            return

        def rows(t: int) -> Floats:
            found: Floats = np.ones((1, 1))
            for d in outer:
                found = np.asarray(np.kron(found, self._axes[d].sums[t].rows), dtype=np.float64)
            return np.asarray(found[:, open_])

        weights = [1.0 / self._all[t].variance for t in measured]
        exact = [rows(t) for t in acting if t >= len(found)]
        variances = block_variances([rows(t) for t in measured], weights, exact)
        for t, variance in zip(measured, variances, strict=True):
            shape = [len(self._axes[d].sums[t].rows) for d in outer]
            shaped = variance.reshape(
                [shape.pop(0) if d in outer else 1 for d in range(len(self._axes))]
            )
            target = []
            for d, axis in enumerate(self._axes):
                sums = axis.sums[t]
                kept = (
                    np.flatnonzero(np.isin(sums.group, inner[d]))
                    if d in inner
                    else np.arange(len(sums.rows))
                )
                share = (1.0 - sums.of_mean if d in inner else sums.of_mean)[kept]
                shaped = shaped * share.reshape(
                    [-1 if e == d else 1 for e in range(len(self._axes))]
                )
                target.append(kept)
            found[t][np.ix_(*target)] += shaped


def _grouped(problem: GridProblem, sums: Sequence[Sums], axis: int) -> GroupedAxis:
    size = problem.leaf[axis]
    counts = [
        np.bincount(each.maps[axis][each.maps[axis] >= 0], minlength=each.shape[axis])
        for each in sums
    ]
    keys = [np.zeros(size, dtype=np.int64)]
    for each, count in zip(sums, counts, strict=True):
        classes = each.maps[axis]
        alone = (classes >= 0) & (count[classes] == 1)
        keys.append(np.where(alone, -2, classes))
    if problem.zero is not None:
        slices = np.packbits(np.moveaxis(problem.zero, axis, 0).reshape(size, -1), axis=1)
        keys.append(np.unique(slices, axis=0, return_inverse=True)[1].reshape(-1))
    _, first, group = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    sizes = np.bincount(group)
    listed = np.stack([key[first] == -2 for key in keys[1 : len(sums) + 1]])
    grouped = [
        _rows(each.maps[axis], count, group, sizes, alone)
        for each, count, alone in zip(sums, counts, listed, strict=True)
    ]
    return GroupedAxis(first, sizes, listed, tuple(grouped))


def _rows(
    classes: Integers, count: Integers, group: Integers, sizes: Integers, alone: Bits
) -> GroupedSums:
    several = np.flatnonzero(count != 1)
    single = np.flatnonzero(alone)
    rows = np.zeros((len(several) + len(single), len(sizes)))
    row = np.zeros(len(count), dtype=np.int64)
    row[several] = np.arange(len(several))
    inside = (classes >= 0) & (count[classes] != 1)
    rows[row[classes[inside]], group[inside]] = np.sqrt(sizes[group[inside]])
    places = len(several) + np.arange(len(single))
    rows[places, single] = 1.0
    of_group = np.zeros(len(sizes), dtype=np.int64)
    of_group[single] = places
    listed = (classes >= 0) & (count[classes] == 1)
    row[classes[listed]] = of_group[group[listed]]
    of_mean = np.concatenate([np.ones(len(several)), 1.0 / sizes[single]])
    return GroupedSums(rows, row, of_mean, np.concatenate([np.full(len(several), -1), single]))


def block_variances(
    measured: Sequence[Floats], weights: Sequence[float], exact: Sequence[Floats]
) -> list[Floats]:
    """Return the variances of measured sums (rows of matrices) under exact ones, by orthogonal bases."""
    whitened = np.concatenate(
        [np.sqrt(weight) * rows for rows, weight in zip(measured, weights, strict=True)]
    )
    if exact:
        sums = np.concatenate(exact)
        values, vectors = np.linalg.eigh(sums.T @ sums)
        whitened = whitened @ vectors[:, values <= _IN_SPAN * max(values.max(), 1.0)]
    if not whitened.shape[1]:
        return [np.zeros(len(rows)) for rows in measured]
    _, lengths, basis = np.linalg.svd(np.linalg.qr(whitened, mode="r"), full_matrices=False)
    kept = lengths > _NOTHING * np.sqrt(max(weights))
    leverage = np.square(whitened @ (basis[kept].T / lengths[kept])).sum(axis=1)
    found, start = [], 0
    for rows, weight in zip(measured, weights, strict=True):
        found.append(leverage[start : start + len(rows)] / weight)
        start += len(rows)
    return found
