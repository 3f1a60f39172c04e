"""All costs of a copy, and the one that was asked for, ready for the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.anonymize.classes import Recoding
from discreet.anonymize.costs.cost import CostModel, RecodedCopy
from discreet.anonymize.costs.registry import COSTS, GeneralisationCost
from discreet.anonymize.groups import Groups
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.core.arrays import Integers
from discreet.core.requests.fields import one_of
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Costs:
    """All measures of one copy, each an attribute under the name that results have for it."""

    shown: Mapping[str, float | None]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.shown[name]
        except KeyError:
            raise AttributeError(name) from None


def measure(
    groups: Groups,
    recoding: Recoding,
    *,
    weights: Sequence[float],
    levels: Sequence[int] | None,
    hidden_among: Integers | None = None,
) -> Costs:
    """Return what a recoding costs by every measure.

    `hidden_among` replaces the sizes of the classes where missing values match everything.
    """
    among = recoding.sizes if hidden_among is None else hidden_among
    copy = RecodedCopy(groups, recoding, weights, levels, among)
    return Costs({cost.shown: cost.measured(copy) for cost in COSTS.values()})


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


def make_cost(
    cost: GeneralisationCost,
    groups: Groups,
    ladders: Sequence[ColumnLevels],
    weights: Mapping[str, float],
) -> CostModel:
    """Return the measure of the search; refuse weights that make no sense or change nothing."""
    heavy = check_weights(groups.quasi, weights)
    if weights and not cost.weighted:
        able = one_of([name for name, each in COSTS.items() if each.weighted])
        raise InvalidInput(
            f"Weights of columns change nothing where the cost is '{cost.value}'.",
            hint=f"Leave them out, or choose the cost {able}",
        )
    return cost.model(groups, ladders, heavy)
