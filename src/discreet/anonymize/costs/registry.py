"""All costs by name: adding one is adding a file and a line here.

Words and names only: a cost's own file is imported when it is used, so that help texts are quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.anonymize.costs.cost import CostModel, RecodedCopy
    from discreet.anonymize.groups import Groups
    from discreet.anonymize.hierarchy import ColumnLevels


@dataclass(frozen=True, slots=True)
class GeneralisationCost:
    """What is made as small as possible; `value` is its name, `words` what it is, for people.

    `home`: the module of its `model(groups, ladders, weights)`, a `CostModel` for the search, and its
    `measured(copy)`, what a `RecodedCopy` costs. `shown_as`: what results call that, if not by its name.
    `weighted`: whether columns may have weights.
    """

    value: str
    home: str
    words: str
    shown_as: str = ""
    weighted: bool = True

    @property
    def shown(self) -> str:
        """Return what results call the number."""
        return self.shown_as or self.value

    def model(
        self, groups: Groups, ladders: Sequence[ColumnLevels], weights: Sequence[float]
    ) -> CostModel:
        """Return the measure, ready for the lattice of these ladders."""
        found: CostModel = import_module(self.home).model(groups, ladders, weights)
        return found

    def measured(self, copy: RecodedCopy) -> float | None:
        """Return what a copy costs; None where that is not defined."""
        found: float | None = import_module(self.home).measured(copy)
        return found


COSTS: dict[str, GeneralisationCost] = {
    each.value: each
    for each in (
        GeneralisationCost(
            "discernibility",
            "discreet.anonymize.costs.discernibility",
            "Sum of squared class sizes, and n for each row left out.",
            weighted=False,
        ),
        GeneralisationCost("height", "discreet.anonymize.costs.height", "Sum of levels."),
        GeneralisationCost(
            "classes",
            "discreet.anonymize.costs.classes",
            "Average class size, the rows left out counted as one class.",
            shown_as="average_class_size",
            weighted=False,
        ),
        GeneralisationCost(
            "loss",
            "discreet.anonymize.costs.loss",
            "Share of its column's values that a cell may stand for.",
        ),
        GeneralisationCost("entropy", "discreet.anonymize.costs.entropy", "Share of bits lost."),
    )
}


def choices() -> dict[str, dict[str, Any]]:
    """Return what the names here say in the fields of a request."""
    return {"cost": {"help": f"What is kept small: {', '.join(COSTS)}."}}
