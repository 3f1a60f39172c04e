"""Loss: the mean share of its column's values that a cell may stand for, 1 where it is suppressed."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.anonymize.costs.cost import CellCost, ColumnCost, RecodedCopy, mean_over
from discreet.anonymize.groups import Groups
from discreet.anonymize.hierarchy import ColumnLevels


def model(groups: Groups, ladders: Sequence[ColumnLevels], weights: Sequence[float]) -> CellCost:
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


def measured(copy: RecodedCopy) -> float:
    """Return what a copy costs."""
    recoding, weights = copy.recoding, copy.weights
    sizes = recoding.sizes
    paid = sum(
        weight * float(sizes @ labels.share[recoding.cells[place]])
        for place, (weight, labels) in enumerate(zip(weights, recoding.labels, strict=True))
    )
    return (paid + recoding.suppressed * sum(weights)) / (copy.groups.total * sum(weights))
