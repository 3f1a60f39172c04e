"""An information-loss metric (cost): of a lattice node, with a bound for all coarser ones, and of a copy.

Proofs of the bounds: docs/notes/0025-anonymize.md.

Some are a mean over cells: what each level of a column costs, and what suppressing adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from discreet.anonymize.classes import Recoding
from discreet.anonymize.groups import Groups
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.core.arrays import Bits, Floats, Integers


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as the costs see it.

    `rows` are the rows of each class, `sizes` how many rows each of them is hidden among (the
    same, unless missing values match everything), `kept` which classes stay, `codes` their values
    at the lowest level. No coarser node keeps more than `most_classes` classes.
    """

    levels: tuple[int, ...]
    total: int
    smallest: int
    rows: Integers = field(repr=False)
    sizes: Integers = field(repr=False)
    kept: Bits = field(repr=False)
    codes: Integers = field(repr=False)
    most_classes: int

    @property
    def lost(self) -> int:
        """Return the number of suppressed rows."""
        return int(self.rows[~self.kept].sum())


class CostModel(Protocol):
    """One measure."""

    def of(self, view: NodeView) -> float:
        """Return the cost of a node."""
        ...

    def bound(self, view: NodeView) -> float:
        """Return a number that neither this node nor any coarser one costs less than."""
        ...


@dataclass(frozen=True, slots=True)
class RecodedCopy:
    """A copy as the costs see it.

    `levels` is None where classes have levels of their own; `among` says how many rows each class hides
    among: its own, unless missing values match everything.
    """

    groups: Groups
    recoding: Recoding
    weights: Sequence[float]
    levels: Sequence[int] | None
    among: Integers


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
