"""Costs (information-loss metrics): the search makes one small, and every copy is measured by all of them.

Discernibility, height, average class size, loss and entropy: each of a node of the lattice, with a bound for all coarser
ones, and of a copy. Some are a mean over cells: what each level of a column costs, and what suppressing adds. Proofs of the
bounds: docs/notes/0025-anonymize.md. Front ends read the names in `registry`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discreet.anonymize.classes import SUPPRESSED, Recoding
from discreet.anonymize.groups import Groups
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.base.arrays import Bits, Floats, Integers


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


@dataclass(frozen=True, slots=True)
class Discernibility:
    """Sum of squared class sizes, and n for each suppressed row."""

    def of(self, view: NodeView) -> float:
        """Return the cost of a node."""
        kept = view.kept
        return int(view.rows[kept] @ view.sizes[kept]) + view.total * view.lost

    def bound(self, view: NodeView) -> float:
        """Return what rows cost at least: their class only grows, and a kept one has k rows."""
        return int(view.rows @ np.maximum(view.sizes, view.smallest))

    @staticmethod
    def model(*_lattice: object) -> Discernibility:
        """Return the measure of the search."""
        return Discernibility()

    @staticmethod
    def measured(copy: RecodedCopy) -> int:
        """Return what a copy costs."""
        recoding = copy.recoding
        return int(recoding.sizes @ copy.among) + copy.groups.total * recoding.suppressed


@dataclass(frozen=True, slots=True)
class Height:
    """Sum of levels, each times the weight of its column."""

    weights: tuple[float, ...]

    def of(self, view: NodeView) -> float:
        """Return the cost of a node."""
        return sum(w * level for w, level in zip(self.weights, view.levels, strict=True))

    def bound(self, view: NodeView) -> float:
        """Return the same: coarser nodes are higher."""
        return self.of(view)

    @staticmethod
    def model(_groups: object, _ladders: object, weights: Sequence[float]) -> Height:
        """Return the measure of the search."""
        return Height(tuple(weights))

    @staticmethod
    def measured(copy: RecodedCopy) -> float | None:
        """Return what a copy costs; nothing where classes have levels of their own."""
        if copy.levels is None:
            return None
        return float(sum(w * level for w, level in zip(copy.weights, copy.levels, strict=True)))


@dataclass(frozen=True, slots=True)
class AverageClass:
    """Rows for each class; the suppressed count as one class."""

    def of(self, view: NodeView) -> float:
        """Return the cost of a node."""
        classes = int(view.kept.sum()) + (view.lost > 0)
        return view.total / max(1, classes)

    def bound(self, view: NodeView) -> float:
        """Return the average if a coarser node kept as many classes as it can."""
        return view.total / (view.most_classes + (view.lost > 0))

    @staticmethod
    def model(*_lattice: object) -> AverageClass:
        """Return the measure of the search."""
        return AverageClass()

    @staticmethod
    def measured(copy: RecodedCopy) -> float:
        """Return what a copy costs."""
        classes = copy.recoding.classes + (copy.recoding.suppressed > 0)
        return copy.groups.total / max(1, classes)


class LossCost:
    """The mean share of its column's values that a cell may stand for, 1 where it is suppressed."""

    @staticmethod
    def model(
        groups: Groups, ladders: Sequence[ColumnLevels], weights: Sequence[float]
    ) -> CellCost:
        """Return the measure of the search."""
        return mean_over(
            ladders,
            (
                ColumnCost(
                    [weight * float(rung.mass @ rung.share) for rung in ladder.rungs],
                    [weight * (1.0 - rung.share) for rung in ladder.rungs],
                    weight * groups.total,
                )
                for ladder, weight in zip(ladders, weights, strict=True)
            ),
        )

    @staticmethod
    def measured(copy: RecodedCopy) -> float:
        """Return what a copy costs."""
        recoding, weights = copy.recoding, copy.weights
        sizes = recoding.sizes
        paid = sum(
            weight * float(sizes @ labels.share[recoding.cells[place]])
            for place, (weight, labels) in enumerate(zip(weights, recoding.labels, strict=True))
        )
        return (paid + recoding.suppressed * sum(weights)) / (copy.groups.total * sum(weights))


def _bits(mass: Integers, total: int) -> float:
    """Return the bits that labels tell about all rows together."""
    some = mass[mass > 0]
    return float(some @ np.log2(total / some))


class EntropyCost:
    """The share of bits that the labels no longer tell about the rows."""

    @staticmethod
    def model(
        groups: Groups, ladders: Sequence[ColumnLevels], weights: Sequence[float]
    ) -> CellCost:
        """Return the measure of the search."""
        total = groups.total
        columns = []
        for ladder, weight in zip(ladders, weights, strict=True):
            full = weight * _bits(ladder.rungs[0].mass, total)
            paid = [full - weight * _bits(rung.mass, total) for rung in ladder.rungs]
            more = [weight * np.log2(total / np.maximum(rung.mass, 1)) for rung in ladder.rungs]
            columns.append(ColumnCost(paid, more, full))
        return mean_over(ladders, columns)

    @staticmethod
    def measured(copy: RecodedCopy) -> float:
        """Return what a copy costs."""
        groups, recoding = copy.groups, copy.recoding
        total = groups.total
        kept = recoding.klass != SUPPRESSED
        rows, klass = recoding.rows, np.where(kept, recoding.klass, 0)
        lost = most = 0.0
        for place, (weight, labels) in enumerate(zip(copy.weights, recoding.labels, strict=True)):
            values = groups.codes[place]
            mass = np.bincount(values, weights=groups.rows)[values[recoding.combination]]
            most += weight * float(rows @ np.log2(total / mass))
            cover = np.full(len(rows), total, dtype=np.int64)
            if recoding.classes:
                cover = np.where(kept, labels.mass[recoding.cells[place][klass]], total)
            lost += weight * float(rows @ np.log2(cover / mass))
        return lost / most if most else 0.0
