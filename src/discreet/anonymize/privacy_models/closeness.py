"""t-closeness: sensitive values of every class distributed almost as in the whole table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from discreet.anonymize.groups import Sensitive
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.privacy_models.measures import (
    Histogram,
    equal_distances,
    hierarchical_distances,
    ordered_distances,
)
from discreet.anonymize.privacy_models.model import SLACK, PrivacyModel, has_order, heights
from discreet.core.arrays import Bits, Floats
from discreet.core.requests.fields import named
from discreet.core.requests.unpaid import LocalAnonymizeFields
from discreet.errors import InternalError, InvalidInput


class Distance(Enum):
    """How far apart two sensitive values are."""

    EQUAL = "equal"
    ORDERED = "ordered"
    """By their ranks: neighbours are near, the ends are 1 apart."""
    HIERARCHICAL = "hierarchical"
    """By the height of their lowest common label in a hierarchy; the root's is 1."""


@dataclass(frozen=True, slots=True)
class Closeness(PrivacyModel):
    """Sensitive values of every class distributed almost as in the whole table (t-closeness)."""

    t: float
    distance: Distance = Distance.EQUAL
    levels: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """Of the hierarchical distance: the label of each value at each height below the root."""
    smallest = 1

    def __post_init__(self) -> None:
        if not math.isfinite(self.t) or not 0 <= self.t <= 1:
            raise InvalidInput("t must lie between 0 and 1.")

    @property
    def by_hierarchy(self) -> bool:
        """Return whether it measures by the hierarchy of the sensitive column."""
        return self.distance is Distance.HIERARCHICAL

    def tied(self, sensitive: Sensitive, hierarchy: Hierarchy | None) -> Closeness:
        """Return the model with the heights of these values, where it measures by them."""
        if self.distance is Distance.ORDERED and not has_order(sensitive):
            raise InvalidInput(
                f"The values of '{sensitive.column}' have no order: they are words.",
                hint="Use --distance equal, or hierarchical with a file for the column.",
            )
        return replace(self, levels=heights(sensitive, hierarchy)) if self.by_hierarchy else self

    def holds(self, histogram: Histogram) -> Bits:
        """Return which classes are within t of the whole table."""
        return self._distances(histogram) <= self.t + SLACK

    def _distances(self, histogram: Histogram) -> Floats:
        if self.distance is Distance.EQUAL:
            return equal_distances(histogram)
        if self.distance is Distance.ORDERED:
            return ordered_distances(histogram)
        if not self.levels:
            raise InternalError("The hierarchical distance was given no hierarchy.")
        return hierarchical_distances(histogram, [np.array(level) for level in self.levels])

    def words(self) -> str:
        """Return the condition in plain words."""
        return (
            "the sensitive values of every class are distributed as in the whole table, up to "
            f"{self.t:g} ({self.distance.value} distance)"
        )


def asked(fields: LocalAnonymizeFields) -> Closeness | None:
    """Return the model that a request asks for."""
    apart = named({each.value: each for each in Distance}, fields.distance, "distance")
    if fields.t is not None:
        return Closeness(fields.t, apart)
    if apart is not Distance.EQUAL:
        raise InvalidInput("--distance says how --t is measured: give --t as well.")
    return None
