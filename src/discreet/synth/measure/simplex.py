"""Noisy counts made possible again: not negative, and adding up."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats


def onto_simplex(values: Floats, total: float, variances: Floats | None = None) -> Floats:
    """Return the counts >= 0 with sum `total` that are nearest to `values`.

    Nearest in squares, each divided by its variance: for Gaussian noise the likeliest counts that
    are possible at all. Clipping and scaling instead would move weight from the few large counts to
    the many small ones that noise made positive.

    >>> onto_simplex(np.array([5.0, 1.0, -2.0]), 5.0).tolist()
    [4.5, 0.5, 0.0]
    """
    spread = np.ones_like(values) if variances is None else variances
    # values - step * spread, clipped at 0, has sum `total` for exactly one step: the last k, in
    # this order, for which the k-th count is still positive.
    order = np.argsort(-values / spread, kind="stable")
    ranked, width = values[order], spread[order]
    steps = (np.cumsum(ranked) - total) / np.cumsum(width)
    positive = np.flatnonzero(ranked > steps * width)
    step = steps[positive[-1]] if positive.size else steps[0]
    found: Floats = np.maximum(values - step * spread, 0.0)
    return found
