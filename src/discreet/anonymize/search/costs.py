"""What an anonymization costs: discernibility, class size, height, loss or entropy, each with a bound for all coarser nodes.

Definitions (n rows, S of them suppressed): *discernibility* is the sum of squared class sizes plus
n for each suppressed row; *classes* is the average class size, n over the number of classes, the
suppressed counted as one; *height* the sum of levels; *loss* the mean share of its column's values
that a cell may stand for; *entropy* the share of bits lost. Proofs: docs/notes/0025-anonymize.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np

from discreet.anonymize.groups import Groups, Integers, Mask, Numbers
from discreet.anonymize.hierarchy.column_levels import ColumnLevels
from discreet.errors import InvalidInput


class GeneralisationCost(Enum):
    """What is made as small as possible."""

    DISCERNIBILITY = "discernibility"
    HEIGHT = "height"
    CLASSES = "classes"
    LOSS = "loss"
    ENTROPY = "entropy"


@dataclass(frozen=True, slots=True)
class View:
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
    kept: Mask = field(repr=False)
    codes: Integers = field(repr=False)
    most_classes: int

    @property
    def lost(self) -> int:
        """Return the number of suppressed rows."""
        return int(self.rows[~self.kept].sum())


class CostModel(Protocol):
    """One measure."""

    def of(self, view: View) -> float:
        """Return the cost of a node."""
        ...

    def bound(self, view: View) -> float:
        """Return a number that neither this node nor any coarser one costs less than."""
        ...


@dataclass(frozen=True, slots=True)
class Discernibility:
    """Sum of squared class sizes, and n for each suppressed row."""

    def of(self, view: View) -> float:
        """Return the cost of a node."""
        kept = view.kept
        return int(view.rows[kept] @ view.sizes[kept]) + view.total * view.lost

    def bound(self, view: View) -> float:
        """Return what rows cost at least: their class only grows, and a kept one has k rows."""
        return int(view.rows @ np.maximum(view.sizes, view.smallest))


@dataclass(frozen=True, slots=True)
class AverageClass:
    """Rows for each class; the suppressed count as one class."""

    def of(self, view: View) -> float:
        """Return the cost of a node."""
        classes = int(view.kept.sum()) + (view.lost > 0)
        return view.total / max(1, classes)

    def bound(self, view: View) -> float:
        """Return the average if a coarser node kept as many classes as it can."""
        return view.total / (view.most_classes + (view.lost > 0))


@dataclass(frozen=True, slots=True)
class Height:
    """Sum of levels, each times the weight of its column."""

    weights: tuple[float, ...]

    def of(self, view: View) -> float:
        """Return the cost of a node."""
        return sum(w * level for w, level in zip(self.weights, view.levels, strict=True))

    def bound(self, view: View) -> float:
        """Return the same: coarser nodes are higher."""
        return self.of(view)


@dataclass(frozen=True, slots=True)
class CellCost:
    """A mean over cells: `base[j][level]` for all rows, more for the cells of suppressed ones.

    `extra[j][level][label]` is what suppressing adds to a cell that reads `label`.
    """

    ladders: tuple[ColumnLevels, ...] = field(repr=False)
    base: tuple[tuple[float, ...], ...] = field(repr=False)
    extra: tuple[tuple[Numbers, ...], ...] = field(repr=False)
    scale: float

    def of(self, view: View) -> float:
        """Return the cost of a node."""
        lost = ~view.kept
        more = 0.0
        if lost.any():
            rows = view.rows[lost]
            for place, level in enumerate(view.levels):
                labels = self.ladders[place].rungs[level].codes[view.codes[place][lost]]
                more += float(rows @ self.extra[place][level][labels])
        return self._whole(view) + more / self.scale

    def bound(self, view: View) -> float:
        """Return the cost without suppression: coarser cells cost more, suppressed ones most."""
        return self._whole(view)

    def _whole(self, view: View) -> float:
        found = sum(self.base[place][level] for place, level in enumerate(view.levels))
        return found / self.scale


def make_cost(
    cost: GeneralisationCost,
    groups: Groups,
    ladders: Sequence[ColumnLevels],
    weights: Mapping[str, float],
) -> CostModel:
    """Return the measure, ready for the lattice of these ladders."""
    heavy = check_weights(groups.quasi, weights)
    if cost in (GeneralisationCost.DISCERNIBILITY, GeneralisationCost.CLASSES):
        if weights:
            raise InvalidInput(
                f"Weights of columns change nothing where the cost is '{cost.value}'.",
                hint="Leave them out, or choose the cost height, loss or entropy.",
            )
        return Discernibility() if cost is GeneralisationCost.DISCERNIBILITY else AverageClass()
    if cost is GeneralisationCost.HEIGHT:
        return Height(heavy)
    return cell_cost(cost, groups, ladders, heavy)


def check_weights(quasi: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...]:
    """Return a weight for each column, 1 where none was given."""
    for column, weight in weights.items():
        if column not in quasi:
            raise InvalidInput(f"A weight is given for '{column}', which is no quasi-identifier.")
        if not np.isfinite(weight) or weight < 0:
            raise InvalidInput(f"The weight of '{column}' must be zero or above.")
    found = tuple(float(weights.get(column, 1.0)) for column in quasi)
    if not any(found):
        raise InvalidInput("All weights are zero.", hint="Give at least one column a weight.")
    return found


def cell_cost(
    cost: GeneralisationCost,
    groups: Groups,
    ladders: Sequence[ColumnLevels],
    weights: Sequence[float],
) -> CellCost:
    """Return the loss or the entropy measure."""
    total = groups.total
    base: list[tuple[float, ...]] = []
    extra: list[tuple[Numbers, ...]] = []
    scale = 0.0
    for ladder, weight in zip(ladders, weights, strict=True):
        mass = ladder.rungs[0].mass
        if cost is GeneralisationCost.LOSS:
            paid = [weight * float(rung.mass @ rung.share) for rung in ladder.rungs]
            more = [weight * (1.0 - rung.share) for rung in ladder.rungs]
            scale += weight * total
        else:
            full = weight * _bits(mass, total)
            more = [weight * np.log2(total / np.maximum(rung.mass, 1)) for rung in ladder.rungs]
            paid = [full - weight * _bits(rung.mass, total) for rung in ladder.rungs]
            scale += full
        base.append(tuple(max(0.0, amount) for amount in paid))
        extra.append(tuple(more))
    return CellCost(tuple(ladders), tuple(base), tuple(extra), scale or 1.0)


def _bits(mass: Integers, total: int) -> float:
    """Return the bits that labels tell about all rows together."""
    some = mass[mass > 0]
    return float(some @ np.log2(total / some))
