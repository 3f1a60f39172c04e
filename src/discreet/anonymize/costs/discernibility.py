"""Discernibility: the sum of squared class sizes, and n for each suppressed row (n rows in all)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymize.costs.cost import NodeView, RecodedCopy


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


def model(*_lattice: object) -> Discernibility:
    """Return the measure of the search."""
    return Discernibility()


def measured(copy: RecodedCopy) -> int:
    """Return what a copy costs."""
    recoding = copy.recoding
    return int(recoding.sizes @ copy.among) + copy.groups.total * recoding.suppressed
