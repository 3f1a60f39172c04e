"""The nearest non-negative point exactly: least distance programming, for up to some thousand names."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import null_space
from scipy.optimize import nnls

Vector = npt.NDArray[np.float64]

SLACK = 1e-9


def nearest_above_zero(start: Vector, variances: Vector, matrix: Vector) -> Vector | None:
    """Return the x >= 0 with the same matrix @ x as `start` that is nearest to `start`.

    `start` is the least-squares solution, so what is nearest to it is nearest to the noisy values. In
    units of the noise x = start + s Q u with orthonormal Q, and the least |u| with s Q u >= -start is
    found by non-negative least squares [Lawson and Hanson, chapter 23]. None: there is no such x.
    """
    scales = np.sqrt(variances)
    free = null_space(matrix * scales)
    if not free.shape[1]:
        return np.maximum(start, 0) if float(start.min()) >= -1e-9 * _size(start) else None
    push = free * scales[:, None]
    size = float(np.maximum(-start, 0).max())
    if not size:
        return start
    # Equations such as a + b = 0 leave one point only: a hair of slack keeps rounding from closing it.
    stacked = np.vstack([push.T, -(start + SLACK * _size(start))[None, :] / size])
    target = np.zeros(len(stacked))
    target[-1] = 1
    found, left = nnls(stacked, target, maxiter=50 * len(start))
    if left < 1e-12:
        return None
    rest = stacked @ found - target
    moved = start + push @ (-rest[:-1] / rest[-1] * size)
    found_point: Vector = np.maximum(np.asarray(moved), 0)
    return found_point


def _size(values: Vector) -> float:
    return 1 + float(np.abs(values).max())
