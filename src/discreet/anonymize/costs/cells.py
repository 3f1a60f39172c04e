"""Costs that are a mean over cells: what each level of a column costs, and what suppressing adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from discreet.anonymize.costs.cost import NodeView
from discreet.anonymize.hierarchy.column_levels import ColumnLevels
from discreet.core.arrays import Floats


@dataclass(frozen=True, slots=True)
class ColumnCost:
    """One column: level by level what all its cells cost, and label by label what suppressing one adds.

    `most` is what the column can cost at most.
    """

    base: Sequence[float] = field(repr=False)
    extra: Sequence[Floats] = field(repr=False)
    most: float


@dataclass(frozen=True, slots=True)
class CellCost:
    """A mean over cells: `base[j][level]` for all rows, more for the cells of suppressed ones.

    `extra[j][level][label]` is what suppressing adds to a cell that reads `label`.
    """

    ladders: tuple[ColumnLevels, ...] = field(repr=False)
    base: tuple[tuple[float, ...], ...] = field(repr=False)
    extra: tuple[tuple[Floats, ...], ...] = field(repr=False)
    scale: float

    def of(self, view: NodeView) -> float:
        """Return the cost of a node."""
        lost = ~view.kept
        more = 0.0
        if lost.any():
            rows = view.rows[lost]
            for place, level in enumerate(view.levels):
                labels = self.ladders[place].rungs[level].codes[view.codes[place][lost]]
                more += float(rows @ self.extra[place][level][labels])
        return self._whole(view) + more / self.scale

    def bound(self, view: NodeView) -> float:
        """Return the cost without suppression: coarser cells cost more, suppressed ones most."""
        return self._whole(view)

    def _whole(self, view: NodeView) -> float:
        found = sum(self.base[place][level] for place, level in enumerate(view.levels))
        return found / self.scale


def mean_over(ladders: Sequence[ColumnLevels], columns: Iterable[ColumnCost]) -> CellCost:
    """Return the mean over the cells of all columns."""
    found = tuple(columns)
    return CellCost(
        tuple(ladders),
        tuple(tuple(max(0.0, amount) for amount in column.base) for column in found),
        tuple(tuple(column.extra) for column in found),
        sum(column.most for column in found) or 1.0,
    )
