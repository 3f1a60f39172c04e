"""Several different candidates, drawn one after another by the exponential mechanism."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.noise.exact.wide_multiply import below
from discreet.noise.rng import Rng
from discreet.noise.select import exponential


def draw_several(
    scores: npt.NDArray[np.int64], count: int, *, sensitivity: int, epsilon: Fraction, rng: Rng
) -> list[int]:
    """Return `count` different indices, each drawn by its score among those not drawn yet.

    Guarantee: each draw is the exponential mechanism at `epsilon` over the candidates that are left,
        exactly; the draws compose adaptively. A score that m candidates share is drawn with weight
        m, and then one of the m uniformly: every one of them has the chance it would have alone.

    >>> from discreet.noise.rng import SystemRng
    >>> best = np.array([0, 10**9, 0, 2 * 10**9])
    >>> draw_several(best, 2, sensitivity=1, epsilon=Fraction(1), rng=SystemRng())
    [3, 1]
    """
    levels, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(many)
    found = []
    for _ in range(count):
        level = exponential(levels, sensitivity, epsilon, weights=many, rng=rng)
        rank = int(below(many[level : level + 1].astype(np.uint64), rng)[0])
        first, last = int(ends[level] - many[level]), int(ends[level]) - 1
        # The last of a level takes the place of the one that leaves; the level shrinks by one.
        order[first + rank], order[last] = order[last], order[first + rank]
        found.append(int(order[last]))
        many[level] -= 1
        ends[level] -= 1
    return found
