"""Height: the sum of levels, each times the weight of its column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.anonymize.costs.cost import NodeView, RecodedCopy


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


def model(_groups: object, _ladders: object, weights: Sequence[float]) -> Height:
    """Return the measure of the search."""
    return Height(tuple(weights))


def measured(copy: RecodedCopy) -> float | None:
    """Return what a copy costs; nothing where classes have levels of their own."""
    if copy.levels is None:
        return None
    return float(sum(w * level for w, level in zip(copy.weights, copy.levels, strict=True)))
