"""A privacy model: a condition on equivalence classes, and several at once.

None of these is a guarantee about persons. Every model here is closed under union: two classes that
satisfy it still do when they are put together. Some are also closed under supersets: a class that
satisfies them does so whatever is added. The search relies on both (docs/notes/0025-anonymize.md).

Before a model is asked, it is tied to the order or the hierarchy of the sensitive values that a column has.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.anonymize.groups import Sensitive
from discreet.anonymize.hierarchy import Hierarchy, guess
from discreet.anonymize.privacy_models.measures import Histogram, distinct_values
from discreet.core.arrays import Bits, Integers
from discreet.errors import InternalError, InvalidInput

SLACK = 1e-9
"""Sums of floating-point shares are this close; a class on the very edge counts as satisfying."""


class PrivacyModel(ABC):
    """A condition on classes, closed under union."""

    __slots__ = ()

    needs_sensitive: ClassVar[bool] = True
    """Whether the sensitive column is looked at."""
    superset_closed: ClassVar[bool] = False
    """Whether a class that satisfies it does so whatever is added to it."""

    @property
    @abstractmethod
    def smallest(self) -> int:
        """Return the fewest rows that a class can have and satisfy it.

        Where it is not closed under supersets: also the fewest different sensitive values.
        """

    @property
    def by_hierarchy(self) -> bool:
        """Return whether it measures by the hierarchy of the sensitive column."""
        return False

    def tied(self, sensitive: Sensitive, hierarchy: Hierarchy | None) -> PrivacyModel:  # noqa: ARG002  # for others
        """Return the model as it applies to these values; `hierarchy` is the one that was given."""
        return self

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Bits:  # noqa: ARG002  # for k
        """Return which classes satisfy it."""
        return np.asarray(self.holds(_given(histogram)))

    def holds(self, histogram: Histogram) -> Bits:  # noqa: ARG002  # for others
        """Return which classes satisfy it by their sensitive values; asked unless `satisfied` goes by sizes."""
        raise InternalError(
            f"{type(self).__name__} says neither by sizes nor by values what holds."
        )

    @abstractmethod
    def words(self) -> str:
        """Return the condition in plain words."""


def _given(histogram: Histogram | None) -> Histogram:
    if histogram is None:
        raise InternalError("A model that needs a sensitive column was given none.")
    return histogram


def check_count(number: int, name: str) -> None:
    """Refuse what is no count."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1.")


def whole(number: float) -> int:
    """Return what --l says where it counts values."""
    if not math.isfinite(number) or number != int(number):
        raise InvalidInput("--l counts values, so it is a whole number.")
    return int(number)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which classes satisfy all models, and which a weaker condition closed under supersets."""

    kept: Bits
    possible: Bits


@dataclass(frozen=True, slots=True)
class Conditions:
    """Several models at once."""

    models: tuple[PrivacyModel, ...]

    @property
    def smallest(self) -> int:
        """Return the fewest rows that a class can have."""
        return max((model.smallest for model in self.models), default=1)

    @property
    def needs_sensitive(self) -> bool:
        """Return whether any model looks at the sensitive column."""
        return any(model.needs_sensitive for model in self.models)

    @property
    def superset_closed(self) -> bool:
        """Return whether all models are closed under supersets."""
        return all(model.superset_closed for model in self.models)

    def judge(self, sizes: Integers, histogram: Histogram | None) -> Verdict:
        """Return the verdict over all classes."""
        kept = np.ones(len(sizes), dtype=bool)
        possible = kept.copy()
        for model in self.models:
            satisfied = model.satisfied(sizes, histogram)
            kept &= satisfied
            # What is not closed under supersets needs at least so many different values.
            possible &= (
                satisfied
                if model.superset_closed
                else distinct_values(_given(histogram)) >= model.smallest
            )
        return Verdict(kept, possible)

    def words(self) -> str:
        """Return all conditions in plain words."""
        return "; ".join(model.words() for model in self.models)


_FLAT = 2
"""Levels of a hierarchy that keeps a value or says nothing: any two values are equally far apart."""


def by_hierarchy(models: tuple[PrivacyModel, ...]) -> bool:
    """Return whether any condition measures by the hierarchy of the sensitive column."""
    return any(model.by_hierarchy for model in models)


def tied(
    models: tuple[PrivacyModel, ...], sensitive: Sensitive | None, hierarchy: Hierarchy | None
) -> tuple[PrivacyModel, ...]:
    """Return the models as they apply to these values; `hierarchy` is the one that was given."""
    if sensitive is None:
        return models
    return tuple(model.tied(sensitive, hierarchy) for model in models)


def has_order(sensitive: Sensitive) -> bool:
    """Return whether the order of the values means something: numbers and dates, not words."""
    return not any(isinstance(value, str | bool) for value in sensitive.values)


def heights(sensitive: Sensitive, given: Hierarchy | None) -> tuple[tuple[int, ...], ...]:
    """Return the label of each value at each height below the root, leaves first.

    Where the last level is not one label for all, the root is above it: values without a common
    label are 1 apart.
    """
    column, values = sensitive.column, sensitive.values
    hierarchy = given or guess(column, values)
    if given is None and hierarchy.levels <= _FLAT:
        raise InvalidInput(
            f"The hierarchical distance needs a hierarchy of '{column}': none is in its words.",
            hint=f"Give {column}.csv in the folder of --hierarchies, or use --distance equal.",
        )
    known = hierarchy.paths_of(column, values)
    # By text and by place: a root of another name for a missing value would be one more child.
    rooted = len({path[-1] for path in hierarchy.paths.values()} | {p[-1] for p in known}) == 1
    found = []
    for level in range(hierarchy.levels - rooted):
        names: dict[str, int] = {}
        found.append(tuple(names.setdefault(path[level], len(names)) for path in known))
    return tuple(found)
