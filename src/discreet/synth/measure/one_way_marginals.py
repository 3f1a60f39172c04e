"""The one-way marginals, which every method asks first, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats
from discreet.synth.encoding.shape import CodeGroups, Merges, Shape
from discreet.synth.measure.private_marginals import Measured, PrivateMarginals

RARE = 3
"""Codes whose noisy count is below this many standard deviations are counted together."""


@dataclass(frozen=True, slots=True, eq=False)
class Singles:
    """All noisy one-way marginals, the total they agree on, and counts that are possible."""

    measured: tuple[Measured, ...]
    total: float
    counts: tuple[Floats, ...]

    def deviation(self, column: int) -> float:
        """Return the standard deviation of the noise in a column's counts."""
        return math.sqrt(self.measured[column].variance)

    def unsure(self, column: int) -> float:
        """Return about how far a column's counts are off, all codes together."""
        return self.counts[column].size * self.deviation(column)


def by_root(share: Fraction, cells: Sequence[int]) -> list[Fraction]:
    """Return parts of a share in proportion to the square root of numbers of cells.

    The expected L1 error of a table grows with cells / noise ratio. Its sum over tables is least
    for parts that go with cells^(1/2) in pure epsilon and cells^(2/3) in zCDP; the greatest error
    of a single cell is least for equal parts. The root is optimal for the first, between the other
    two, and needs no more than the public sizes.

    >>> by_root(Fraction(1, 2), [1, 4])
    [Fraction(1, 6), Fraction(1, 3)]
    """
    weights = [math.isqrt(size * 10_000) for size in cells]
    whole = sum(weights)
    return [share * weight / whole for weight in weights]


def measure_singles(marginals: PrivateMarginals, *, share: Fraction) -> Singles:
    """Return the one-way marginals of all columns for a share, split by the columns' sizes."""
    parts = by_root(share, marginals.shape.sizes)
    return settle(
        [marginals.measure([(column,)], share=part)[0] for column, part in enumerate(parts)]
    )


def settle(measured: Sequence[Measured]) -> Singles:
    """Return one-way marginals with the total they agree on."""
    total = agreed_total(measured)
    counts = tuple(onto_simplex(each.values.astype(np.float64), total) for each in measured)
    return Singles(tuple(measured), total, counts)


def agreed_total(measured: Iterable[Measured]) -> float:
    """Return the number of rows, from the totals of marginals weighted by their precision.

    At least 1, so that there is something to share out: a table that noise drowned is still a table.
    """
    found = [
        (float(each.values.sum()), 1 / (each.variance * each.values.size)) for each in measured
    ]
    weight = sum(precision for _, precision in found)
    return max(sum(total * precision for total, precision in found) / weight, 1.0)


def rare_groups(singles: Singles) -> Merges:
    """Return, for columns with at least two rare codes, groups that put the rare ones together.

    Post-processing of noisy counts. A pair with a rare code would be noise alone, and there are
    many of them; together they are one cell that is worth measuring.
    """
    found: dict[int, CodeGroups] = {}
    for column, counts in enumerate(singles.counts):
        rare = counts < RARE * singles.deviation(column)
        if rare.sum() >= 2 and not rare.all():
            groups = np.cumsum(~rare, dtype=np.int64) - 1
            groups[rare] = groups.max() + 1
            found[column] = groups
    return found


def merged_sizes(shape: Shape, merges: Merges) -> tuple[int, ...]:
    """Return how many groups of codes each column has."""
    return tuple(
        int(merges[column].max()) + 1 if column in merges else size
        for column, size in enumerate(shape.sizes)
    )


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
