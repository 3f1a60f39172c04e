"""How far counts are from independence, as a whole number that one row moves by at most 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from discreet.core.arrays import Integers
from discreet.synth.encoding.shape import Columns, Counts, Merges, merge_counts
from discreet.synth.measure.one_way_marginals import Singles
from discreet.synth.measure.private_marginals import Counter

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
