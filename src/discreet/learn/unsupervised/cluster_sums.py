"""Noisy counts and sums of the points nearest to each centre: what one round of k-means asks."""

from __future__ import annotations

import numpy as np

from discreet.learn.measure.rows import Integers, Reals
from discreet.noise.rng import Rng
from discreet.synth.measure.private_marginals import MarginalBudget, Unit

STEP = 256
"""A point's coordinates lie between -STEP and STEP, in whole numbers."""


class ClusterSums:
    """Points of private rows, and one look at them a round.

    Guarantee: a row is nearest to one centre (ties to the first, in whole numbers) and adds STEP and
        its coordinates to that one: at most STEP (1 + columns) in L1 and STEP^2 (1 + columns) in
        squared L2. A unit has `unit.rows` rows; replacing one doubles what it can do, since
        coordinates have signs. Each round is worth `each` of what was charged.
    """

    def __init__(self, points: Integers, each: MarginalBudget, unit: Unit, rng: Rng) -> None:
        self._points = points
        self._rng = rng
        moves, width = unit.l1, 1 + points.shape[1]
        self.law = each.law(l1=moves * STEP * width, l2_squared=moves**2 * STEP**2 * width)

    def __repr__(self) -> str:
        return "ClusterSums(hidden)"

    def exact(self, centres: Integers) -> Integers:
        """Return for each centre the exact count, in steps, and sums. Never shown."""
        gaps = [((self._points - centre) ** 2).sum(axis=1) for centre in centres]
        nearest = np.argmin(np.stack(gaps, axis=1), axis=1)
        columns = np.concatenate([np.full((len(nearest), 1), STEP), self._points], axis=1)
        found = np.zeros((len(centres), columns.shape[1]), dtype=np.int64)
        np.add.at(found, nearest, columns)
        return found

    def moved(self, centres: Integers) -> tuple[Integers, Reals]:
        """Return where noisy means put the centres, and about how many rows each has."""
        exact = self.exact(centres)
        noisy = exact + self.law.draw(exact.shape, self._rng)
        sizes = noisy[:, 0] / STEP
        doubt = 3 * float(np.sqrt(self.law.variance)) / STEP
        means = noisy[:, 1:] / np.maximum(sizes, 1.0)[:, None]
        # A centre that has too few rows to be seen stays where it is.
        seen = (sizes > doubt)[:, None]
        found = np.where(seen, np.clip(np.rint(means), -STEP, STEP), centres)
        return found.astype(np.int64), np.asarray(np.maximum(sizes, 0.0))


def first_centres(clusters: int, columns: int) -> Integers:
    """Return public places to start from: Halton's sequence, which leaves no corner empty."""
    bases = [p for p in range(2, 2000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    points = [[_halton(i + 1, bases[j]) for j in range(columns)] for i in range(clusters)]
    return np.rint((2 * np.array(points) - 1) * STEP * 0.7).astype(np.int64)


def _halton(index: int, base: int) -> float:
    """Return the digits of `index` behind the point, in reverse.

    >>> [_halton(i, 2) for i in (1, 2, 3)]
    [0.5, 0.25, 0.75]
    """
    found, part = 0.0, 1.0
    while index:
        part /= base
        index, digit = divmod(index, base)
        found += part * digit
    return found
