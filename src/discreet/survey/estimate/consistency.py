"""Shares that are at least 0 and add up to 1, without the bias of cutting and rescaling."""

from __future__ import annotations

import numpy as np

from discreet.survey.randomizers.base import Shares


def norm_sub(shares: Shares) -> Shares:
    """Return the nearest shares (least squares) that are at least 0 and sum to 1.

    One number is subtracted from all, and what falls below 0 is set to 0: the projection on the
    simplex. Large shares keep their size; cutting at 0 and dividing by the sum would shrink them.

    >>> norm_sub(np.array([0.9, 0.3, -0.1])).round(3).tolist()
    [0.8, 0.2, 0.0]
    """
    ordered = np.sort(shares)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.maximum(shares - excess[last], 0.0))
