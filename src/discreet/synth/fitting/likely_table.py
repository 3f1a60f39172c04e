"""One noisy table made into a likely one: margins kept, noise taken out, nothing negative."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.core.arrays import Floats

_ROUNDS = 200
_CLOSE = 1e-6
_STEP = 0.3  # of the noise: far enough that rounding does not matter, near enough to be local


def fit_table(noisy: Floats, variance: float, rows: Floats, columns: Floats) -> Floats:
    """Return a table with these margins, estimated from one with independent noise in each cell.

    Two estimates compete. One is the nearest possible table: best where few cells hold most rows.
    The other first shrinks what differs from independence, since dependence between two columns is
    often a few directions of a matrix in white noise: best where it is smooth. Stein's unbiased
    estimate of the squared error tells, from the noisy table alone, which is nearer the truth.
    """
    if rows.sum() <= 0:
        return np.zeros_like(noisy)
    apart = np.outer(rows, columns) / rows.sum()

    def nearest(table: Floats) -> Floats:
        return onto_margins(table, rows, columns)

    def shrunk(table: Floats) -> Floats:
        dependence = with_margins(table, rows, columns) - apart
        return nearest(apart + shrink(dependence, math.sqrt(variance)))

    found = [_judged(estimate, noisy, variance) for estimate in (nearest, shrunk)]
    return min(found, key=lambda judged: judged[1])[0]


def _judged(
    estimate: Callable[[Floats], Floats], noisy: Floats, variance: float
) -> tuple[Floats, float]:
    """Return an estimate with its risk: |noisy - estimate|^2 + 2 variance * divergence.

    Up to a constant the expected squared error [Stein 1981]; the divergence is measured along one
    random direction of signs [Ramani, Blu and Unser 2008], the same one for all that compete.
    """
    found = estimate(noisy)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], noisy.shape)  # no guarantee hangs on it
    step = _STEP * math.sqrt(variance)
    if step <= 0:
        return found, float(((noisy - found) ** 2).sum())
    beside = estimate(noisy + step * signs) - estimate(noisy - step * signs)
    divergence = float((signs * beside).sum()) / (2 * step)
    return found, float(((noisy - found) ** 2).sum()) + 2 * variance * divergence


def with_margins(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the nearest table with these margins, negative cells allowed (least squares)."""
    high, wide = table.shape
    over, beside = rows - table.sum(axis=1), columns - table.sum(axis=0)
    found: Floats = table + over[:, None] / wide + beside / high - over.sum() / (high * wide)
    return found


def shrink(matrix: Floats, sigma: float) -> Floats:
    """Return a matrix whose rows and columns add up to 0, less the noise of size `sigma` in it.

    The optimal shrinkage of singular values for squared error [Gavish and Donoho 2017, section
    III.A]: those that noise alone would reach go to 0, the others lose what noise added to them.
    Zero margins take one from each dimension.
    """
    narrow, wide = sorted(max(size - 1, 1) for size in matrix.shape)
    unit = sigma * math.sqrt(wide)
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    if unit <= 0:
        return matrix
    ratio, scaled = narrow / wide, values / unit
    shown = scaled > 1 + math.sqrt(ratio)
    kept = np.zeros_like(values)
    square = scaled[shown] ** 2
    kept[shown] = np.sqrt((square - ratio - 1) ** 2 - 4 * ratio) / scaled[shown]
    found: Floats = (left * (kept * unit)) @ right
    return found


def onto_margins(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the nearest table that has these margins and no negative cell.

    Dykstra's alternating projection, which (unlike plain alternation) ends at the nearest point of
    both sets; the margins must have the same sum. Stops when no margin is off by more than a
    millionth of the total, at the latest after 200 rounds; who divides rows by their sum scales
    the rest away.
    """
    found, owed = table, np.zeros_like(table)
    close = _CLOSE * float(rows.sum())
    for _ in range(_ROUNDS):
        moved = with_margins(found, rows, columns) + owed
        found = np.maximum(moved, 0.0)
        owed = moved - found
        off = max(np.abs(found.sum(axis=1) - rows).max(), np.abs(found.sum(axis=0) - columns).max())
        if off <= close:
            break
    return found
