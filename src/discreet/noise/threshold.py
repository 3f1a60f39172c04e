"""Partition selection: the noise threshold above which a private group may appear.

Groups come from the rows, so a group's name says that somebody is in it. A group appears only if its
noisy number of distinct units reaches a threshold that a group of one unit almost never reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Integers
from discreet.core.numbers import Delta, Number
from discreet.errors import InvalidInput
from discreet.noise.exact.tails import Tail
from discreet.noise.laws import NoiseLaw
from discreet.noise.rng import SYSTEM, Rng

_FIRST_BITS = 64


@dataclass(frozen=True, slots=True)
class Appearing:
    """The noisy number of units of every group, and which groups may be shown.

    Nothing of a group that is not kept may leave: neither its name nor its noisy number.
    """

    noisy: Integers
    keep: Bits


def threshold_for(noise: NoiseLaw, delta: Number | Delta, *, max_groups: int) -> int:
    """Return the least threshold at which a unit alone in `max_groups` groups risks at most delta.

    With Gaussian noise of sigma above 4,096 it may lie above the least by 1/100 sigma.

    Guarantee: if a unit is in at most `max_groups` groups and counts once in each, the chance that
        any group appears in which it is alone is at most delta: the chances add up. Decided with
        certified bounds. [docs/notes/0005-thresholds-and-sparse-vector.md]

    >>> from discreet.noise.laws import LaplaceLaw
    >>> threshold_for(LaplaceLaw.of(1), "1e-9", max_groups=1)
    22
    """
    risk = Delta.of(delta).value
    if risk <= 0:
        raise InvalidInput(
            "Private groups need a delta above 0.",
            hint="Declare the groups as public keys, or set delta, such as 1e-9.",
        )
    _checked_groups(max_groups)
    share = risk * Fraction(1, max_groups)
    tail, bits = noise.one_sided, _FIRST_BITS
    while True:
        distance = _least_distance(tail, share, bits)
        low, _ = tail.bounds(distance - 1, bits)
        if low > share or not tail.sharp:
            return distance + 1  # the group of one unit holds 1 + X
        bits *= 2


def keep_groups(
    counts: npt.ArrayLike, noise: NoiseLaw, threshold: int, *, rng: Rng = SYSTEM
) -> Appearing:
    """Return noisy numbers of distinct units and which groups reach the threshold.

    `counts` holds the exact number of distinct units of each group that has any.

    Guarantee: (epsilon, delta)-DP with the epsilon (or rho) of the noise for a unit that moves
        `max_groups` counts by one each, and the delta of `threshold_for`: in the ledger's words
        `Failing(Laplace or Gaussian, delta)`. [docs/notes/0005-thresholds-and-sparse-vector.md]

    >>> from discreet.noise.laws import LaplaceLaw
    >>> keep_groups([1, 10**6], LaplaceLaw.of(1), 1000).keep.tolist()
    [False, True]
    """
    exact = np.asarray(counts)
    if exact.ndim != 1 or (exact.size and exact.dtype.kind not in "iu"):
        raise InvalidInput("The numbers of units must be a list of integers.")
    noisy = exact.astype(np.int64) + noise.draw(exact.size, rng)
    return Appearing(noisy, noisy >= threshold)


def _least_distance(tail: Tail, share: Fraction, bits: int) -> int:
    """Return the least m whose upper bound of P(X >= m) is at most `share`."""

    def small(m: int) -> bool:
        return tail.bounds(m, bits)[1] <= share

    high, step = 1, 1
    while not small(high):
        high, step = high + step, 2 * step
    low, step = high - 1, 1
    while small(low):
        low, step = low - step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if small(middle) else (middle, high)
    return high


def _checked_groups(max_groups: int) -> None:
    if max_groups < 1:
        raise InvalidInput("max_groups must be at least 1.")
