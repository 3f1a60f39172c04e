"""Crossed tables of which one is far more precise than another.

Conjugate gradients first fit the precise table, and rounding in it drowns what pulls the weak one. So such
problems are solved by orthogonal bases, on the groups of leaf cells that no table tells apart; where these are
too many, the precise table is taken for less precise than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from discreet.base.arrays import Bits, Floats, Integers
from discreet.work.publish.reconcile.problem import GridProblem, Sums, add_up, spread

UNEVEN = 1e-4
"""Conjugate gradients that begin again settle, where no variance is a smaller part of the largest."""

MOST_UNEVEN = 1e-12
"""Orthogonal bases keep four digits of standard deviations down to this part."""

MOST_DENSE = 1500
"""Groups of leaf cells that are solved by orthogonal bases: ten seconds of a core."""

IN_SPAN = 1e-9
"""A squared length of this part of the largest is rounding, in sums without weights."""

ROUNDS = 3


def is_uneven(problem: GridProblem) -> bool:
    """Return whether some table is more precise than another beyond what conjugate gradients settle."""
    variances = [sums.variance for sums in problem.measured]
    return min(variances) < UNEVEN * max(variances)


def evened(problem: GridProblem) -> GridProblem:
    """Return the problem with variances of which none is too small a part of the largest.

    Guarantee: variances only grow. Least squares weighted by variances that are too large has a covariance that
        is at most the one it states: with A its matrix and V <= W, A V A' <= A W A'. So intervals are at most wider.
    """
    if not is_uneven(problem):
        return problem
    part = MOST_UNEVEN if _small(problem) else UNEVEN
    least = part * max(sums.variance for sums in problem.measured)
    measured = [replace(sums, variance=max(sums.variance, least)) for sums in problem.measured]
    return replace(problem, measured=tuple(measured))


def is_dense(problem: GridProblem) -> bool:
    """Return whether a problem is solved by orthogonal bases."""
    return is_uneven(problem) and _small(problem)


def _small(problem: GridProblem) -> bool:
    return float(np.prod([len(sizes) for _, _, sizes in _groups(problem)])) <= MOST_DENSE


def _groups(problem: GridProblem) -> list[tuple[Integers, Integers, Integers]]:
    """Return of each dimension the positions that no sums tell apart: one of each group, whose, and how many."""
    found = []
    for axis, size in enumerate(problem.leaf):
        keys = [np.zeros(size, dtype=np.int64)]
        keys += [sums.maps[axis] for sums in (*problem.measured, *problem.exact)]
        if problem.zero is not None:
            slices = np.packbits(np.moveaxis(problem.zero, axis, 0).reshape(size, -1), axis=1)
            keys.append(np.unique(slices, axis=0, return_inverse=True)[1].reshape(-1))
        _, first, group = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
        found.append((first, group.reshape(-1), np.bincount(group.reshape(-1))))
    return found


def dense_estimate(problem: GridProblem) -> Floats:
    """Return the least-squares leaf cells nearest to nothing, by orthogonal bases, refined."""
    groups = _groups(problem)
    shape = tuple(len(sizes) for _, _, sizes in groups)
    counts: Floats = reduce(np.multiply.outer, [sizes.astype(np.float64) for _, _, sizes in groups])
    open_ = (
        np.ones(shape, dtype=bool)
        if problem.zero is None
        else ~problem.zero[np.ix_(*[first for first, _, _ in groups])]
    )
    lengths = np.sqrt(counts[open_])
    cells = np.zeros(shape)
    cells[open_] = _solved(problem, groups, open_) / lengths
    return np.asarray(spread(cells, [group for _, group, _ in groups], problem.leaf))


def _solved(
    problem: GridProblem, groups: Sequence[tuple[Integers, Integers, Integers]], open_: Bits
) -> Floats:
    """Return the sums of groups, each divided by the root of its number of leaf cells."""

    def rows(sums: Sums) -> Floats:
        parts = [
            (np.arange(n)[:, None] == classes[first]) * np.sqrt(sizes)
            for (first, _, sizes), classes, n in zip(groups, sums.maps, sums.shape, strict=True)
        ]
        return np.asarray(reduce(np.kron, parts), dtype=np.float64)[:, open_.reshape(-1)]

    found = np.zeros(int(open_.sum()))
    free = np.eye(len(found))
    if problem.exact:
        facts = np.concatenate([rows(sums) for sums in problem.exact])
        values = np.concatenate([sums.values.reshape(-1) for sums in problem.exact]).astype(float)
        squares, vectors = np.linalg.eigh(facts.T @ facts)
        known = squares > IN_SPAN * squares.max(initial=1.0)
        free = vectors[:, ~known]
        for _ in range(ROUNDS):
            lacking = vectors[:, known].T @ (facts.T @ (values - facts @ found))
            found = found + vectors[:, known] @ (lacking / squares[known])
    sums = np.concatenate([rows(each) for each in problem.measured])
    values = np.concatenate([each.values.reshape(-1) for each in problem.measured]).astype(float)
    spreads = np.concatenate(
        [np.full(each.values.size, np.sqrt(each.variance)) for each in problem.measured]
    )
    left = sums @ free
    count = rank(left)
    base, square = np.linalg.qr(left / spreads[:, None])
    one, lengths, other = np.linalg.svd(square, full_matrices=False)
    inside, outside = base @ one[:, :count], free @ other[:count].T
    for _ in range(ROUNDS):
        lacking = (values - sums @ found) / spreads
        found = found + outside @ (inside.T @ lacking / lengths[:count])
    return found


def moved(problem: GridProblem, change: Floats) -> float:
    """Return by how much a sum of some table changes at most, in its standard deviations."""
    return max(
        float(np.abs(add_up(change, sums.maps, sums.shape)).max(initial=0.0))
        / float(np.sqrt(sums.variance))
        for sums in problem.measured
    )


def rank(rows: Floats) -> int:
    """Return how many directions rows without weights tell apart: weights, however uneven, change nothing in that."""
    if not rows.size:
        return 0
    squares = np.linalg.eigvalsh(rows.T @ rows)
    return int((squares > IN_SPAN * max(squares.max(), 1.0)).sum())


def block_variances(
    measured: Sequence[Floats], weights: Sequence[float], exact: Sequence[Floats]
) -> list[Floats]:
    """Return the variances of measured sums (rows of matrices) under exact ones, by orthogonal bases."""
    free = np.concatenate(measured)
    if exact:
        sums = np.concatenate(exact)
        values, vectors = np.linalg.eigh(sums.T @ sums)
        free = free @ vectors[:, values <= IN_SPAN * max(values.max(), 1.0)]
    # Weights may differ a million million times: which lengths are rounding is asked of sums without them.
    count = rank(free)
    if not count:
        return [np.zeros(len(rows)) for rows in measured]
    spreads = np.repeat(np.sqrt(weights), [len(rows) for rows in measured])
    whitened = free * spreads[:, None]
    _, lengths, basis = np.linalg.svd(np.linalg.qr(whitened, mode="r"), full_matrices=False)
    leverage = np.square(whitened @ (basis[:count].T / lengths[:count])).sum(axis=1)
    found, start = [], 0
    for rows, weight in zip(measured, weights, strict=True):
        found.append(leverage[start : start + len(rows)] / weight)
        start += len(rows)
    return found
