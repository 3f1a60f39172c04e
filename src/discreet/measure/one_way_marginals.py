"""The one-way marginals, which every method asks first, and how far counts are from their independence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.measure.private_marginals import Counter, Measured, PrivateMarginals
from discreet.measure.shape import CodeGroups, Columns, Counts, Merges, Shape, merge_counts

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


_UNIT = 1 << 20
_AT_ONCE = 1 << 22  # cells of exact marginals that are held at the same time


class FamilyScores:
    """How much the last column of a family depends on the others, counted once for each family.

    Exact numbers live in here; they are read inside the private marginals' choices and nowhere else.
    """

    def __init__(self, singles: Singles, merges: Merges) -> None:
        self._singles = singles
        self._merges = merges
        self._found: dict[Columns, int] = {}

    def __repr__(self) -> str:
        return "FamilyScores"

    def of(self, counter: Counter, families: Sequence[Columns]) -> Integers:
        """Return the scores of some families, each a whole number of rows."""
        for batch in self._batches([each for each in families if each not in self._found]):
            wanted = sorted({tuple(sorted(family)) for family in batch})
            exact = dict(zip(wanted, counter.marginals(wanted), strict=True))
            for family in batch:
                columns = tuple(sorted(family))
                counts = merge_counts(exact[columns], columns, self._merges)
                first = np.moveaxis(counts, columns.index(family[-1]), 0)
                weights = weights_of(self._singles, family[-1], self._merges)
                self._found[family] = dependence(first, weights)
        return np.array([self._found[family] for family in families], dtype=np.int64)

    def _batches(self, families: Sequence[Columns]) -> Iterator[list[Columns]]:
        batch: list[Columns] = []
        held = 0
        for family in families:
            cells = prod(self._singles.counts[column].size for column in family)
            if batch and held + cells > _AT_ONCE:
                yield batch
                batch, held = [], 0
            batch.append(family)
            held += cells
        if batch:
            yield batch


def dependence(counts: Counts, weights: Counts) -> int:
    """Return how many rows lie where they would not, were the first axis independent of the rest.

    With w(x) the weights and W their sum: the floor of sum |W c(x,y) - w(x) c(y)| / 2W.

    Guarantee: for fixed weights, one row more or less changes this by at most 1. A row (x, y) moves
        W c(x,y) by W and w(.) c(y) by w(.), so the sum by at most (W - w(x)) + (W - w(x)) <= 2W, the
        quotient by at most 1, and a floor moves no further than the next whole number does.
        (docs/notes/0020) Whole numbers throughout: exact below 2^41 rows.

    >>> dependence(np.array([[50, 0], [0, 50]]), np.array([1, 1]))
    50
    """
    table = counts.reshape(counts.shape[0], -1)
    whole = int(weights.sum())
    apart = np.abs(whole * table - weights[:, None] * table.sum(axis=0))
    return int(apart.sum()) // (2 * whole)


def weights_of(singles: Singles, column: int, merges: Merges) -> Counts:
    """Return whole weights of a column's groups of codes, from its noisy counts."""
    shares = singles.counts[column] * (_UNIT / singles.total)
    weights = np.maximum(np.rint(shares).astype(np.int64), 0)
    if not weights.any():  # only where rounding left nothing
        weights += 1
    return merge_counts(weights, (column,), merges)
