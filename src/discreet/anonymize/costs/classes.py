"""The average class size: rows over the number of classes, the suppressed counted as one."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.anonymize.costs.cost import NodeView, RecodedCopy


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


def model(*_lattice: object) -> AverageClass:
    """Return the measure of the search."""
    return AverageClass()


def measured(copy: RecodedCopy) -> float:
    """Return what a copy costs."""
    classes = copy.recoding.classes + (copy.recoding.suppressed > 0)
    return copy.groups.total / max(1, classes)
