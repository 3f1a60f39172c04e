"""Columns whose values are known already, row by row: parents of the rows that a model is for.

Nothing is measured about them: their laws come from made-up rows that were paid for before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.core.arrays import Floats
from discreet.noise.laws import NoiseLaw
from discreet.synth.encoding.shape import CodeGroups, Codes, Columns, Shape, merge_counts
from discreet.synth.measure.memory_counter import MemoryCounter
from discreet.synth.measure.private_marginals import Measured


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """The last columns of a table, with their codes in made-up rows: one for each row to be drawn."""

    columns: Columns
    codes: Codes
    shape: Shape

    @property
    def own(self) -> Columns:
        """Return the columns that are not known."""
        return tuple(i for i in range(self.shape.width) if i not in self.columns)

    def counts(self, columns: Columns) -> Floats:
        """Return each code's share of the known rows; even where there are none."""
        first = self.columns[0]
        inner = Shape(self.shape.names[first:], self.shape.sizes[first:])
        places = tuple(column - first for column in columns)
        (found,) = MemoryCounter(self.codes, inner).marginals([places])
        table = found.astype(np.float64) + (0 if len(self.codes) else 1)
        shares: Floats = table / table.sum()
        return shares

    def single(self, column: int, total: float, law: NoiseLaw) -> Measured:
        """Return what is known of one column, in the words of a measurement with that noise."""
        values = np.rint(total * self.counts((column,))).astype(np.int64)
        return Measured((column,), values, law)

    def pairs(self) -> list[Columns]:
        """Return pairs of known columns that hang together most: a spanning tree of them."""
        strength = {pair: _dependence(self.counts(pair)) for pair in combinations(self.columns, 2)}
        part = {column: column for column in self.columns}
        found: list[Columns] = []
        for one, two in sorted(strength, key=lambda pair: -strength[pair]):
            if part[one] != part[two]:
                found.append((one, two))
                old = part[two]
                part = {c: part[one] if p == old else p for c, p in part.items()}
        return found

    def potential(self, pair: Columns, groups: Sequence[CodeGroups]) -> Floats:
        """Return how much likelier than by chance two known columns' groups meet, as logarithms.

        Half a row is added to each cell: the logarithm of nothing could never come back.
        """
        table = self.counts(pair) * max(len(self.codes), 1)
        table = merge_counts(table, pair, dict(enumerate(groups)))
        table = (table + 0.5) / (table + 0.5).sum()
        found: Floats = np.log(table / np.outer(table.sum(axis=1), table.sum(axis=0)))
        return found


def _dependence(table: Floats) -> float:
    """Return how far a table of shares is from independence."""
    apart = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.abs(table - apart).sum())
