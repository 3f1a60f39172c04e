"""What a class must be like to be published: k-anonymity, l-diversity, t-closeness.

None of these is a guarantee about persons. Every model here is closed under union: two classes that
satisfy it still do when they are put together. Some are also closed under supersets: a class that
satisfies them does so whatever is added. The search relies on both (docs/notes/0025-anonymize.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np

from discreet.anonymize.criteria.measures import (
    Histogram,
    distinct_values,
    entropies,
    equal_distances,
    hierarchical_distances,
    ordered_distances,
    tops_and_tails,
)
from discreet.anonymize.groups import Integers, Mask, Numbers
from discreet.errors import InternalError, InvalidInput

_SLACK = 1e-9
"""Sums of floating-point shares are this close; a class on the very edge counts as satisfying."""


class PrivacyModel(Protocol):
    """A condition on classes, closed under union."""

    @property
    def smallest(self) -> int:
        """Return the fewest rows that a class can have and satisfy it.

        Where it is not closed under supersets: also the fewest different sensitive values.
        """
        ...

    @property
    def needs_sensitive(self) -> bool:
        """Return whether the sensitive column is looked at."""
        ...

    @property
    def superset_closed(self) -> bool:
        """Return whether a class that satisfies it does so whatever is added to it."""
        ...

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Mask:
        """Return which classes satisfy it."""
        ...

    def words(self) -> str:
        """Return the condition in plain words."""
        ...


def _given(histogram: Histogram | None) -> Histogram:
    if histogram is None:
        raise InternalError("A model that needs a sensitive column was given none.")
    return histogram


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """At least k rows in every class."""

    k: int
    needs_sensitive = False
    superset_closed = True

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise InvalidInput("k must be a whole number of at least 1.")

    @property
    def smallest(self) -> int:
        """Return k."""
        return self.k

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Mask:  # noqa: ARG002 protocol
        """Return which classes have k rows."""
        return np.asarray(sizes >= self.k)

    def words(self) -> str:
        """Return the condition in plain words."""
        return f"every class has at least {self.k} rows"


@dataclass(frozen=True, slots=True)
class DistinctDiversity:
    """At least l different sensitive values in every class."""

    l: int  # noqa: E741 the model's own name
    needs_sensitive = True
    superset_closed = True

    def __post_init__(self) -> None:
        if isinstance(self.l, bool) or not isinstance(self.l, int) or self.l < 1:
            raise InvalidInput("l of distinct diversity must be a whole number of at least 1.")

    @property
    def smallest(self) -> int:
        """Return l: each value needs a row."""
        return self.l

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Mask:  # noqa: ARG002 protocol
        """Return which classes have l values."""
        return np.asarray(distinct_values(_given(histogram)) >= self.l)

    def words(self) -> str:
        """Return the condition in plain words."""
        return f"every class has at least {self.l} different sensitive values"


@dataclass(frozen=True, slots=True)
class EntropyDiversity:
    """Sensitive values of every class at least as uncertain as l equally likely ones."""

    l: float  # noqa: E741 the model's own name
    needs_sensitive = True
    superset_closed = False

    def __post_init__(self) -> None:
        if not math.isfinite(self.l) or self.l < 1:
            raise InvalidInput("l of entropy diversity must be a number of at least 1.")

    @property
    def smallest(self) -> int:
        """Return l rounded up: so many values are needed."""
        return math.ceil(self.l - _SLACK)

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Mask:  # noqa: ARG002 protocol
        """Return which classes have an entropy of at least log l."""
        return np.asarray(entropies(_given(histogram)) >= math.log(self.l) - _SLACK)

    def words(self) -> str:
        """Return the condition in plain words."""
        return (
            "the sensitive values of every class are at least as uncertain as "
            f"{self.l:g} equally likely ones"
        )


@dataclass(frozen=True, slots=True)
class RecursiveDiversity:
    """Recursive (c, l): the most frequent value is rarer than c times all from the l-th on."""

    c: float
    l: int  # noqa: E741 the model's own name
    needs_sensitive = True
    superset_closed = False

    def __post_init__(self) -> None:
        if isinstance(self.l, bool) or not isinstance(self.l, int) or self.l < 1:
            raise InvalidInput("l of recursive diversity must be a whole number of at least 1.")
        if not math.isfinite(self.c) or self.c <= 0:
            raise InvalidInput("c of recursive diversity must be above 0.")

    @property
    def smallest(self) -> int:
        """Return l: the l-th value must be there."""
        return self.l

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Mask:  # noqa: ARG002 protocol
        """Return which classes have r_1 < c (r_l + ... + r_m)."""
        top, tail = tops_and_tails(_given(histogram), self.l)
        return np.asarray(top < self.c * tail)

    def words(self) -> str:
        """Return the condition in plain words."""
        return (
            f"the most frequent sensitive value of a class is rarer than {self.c:g} times all "
            f"values from the {self.l}. on together"
        )


class Distance(Enum):
    """How far apart two sensitive values are."""

    EQUAL = "equal"
    ORDERED = "ordered"
    """By their ranks: neighbours are near, the ends are 1 apart."""
    HIERARCHICAL = "hierarchical"
    """By the height of their lowest common label in a hierarchy; the root's is 1."""


@dataclass(frozen=True, slots=True)
class Closeness:
    """Sensitive values of every class distributed almost as in the whole table (t-closeness)."""

    t: float
    distance: Distance = Distance.EQUAL
    levels: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """Of the hierarchical distance: the label of each value at each height below the root."""
    needs_sensitive = True
    superset_closed = False
    smallest = 1

    def __post_init__(self) -> None:
        if not math.isfinite(self.t) or not 0 <= self.t <= 1:
            raise InvalidInput("t must lie between 0 and 1.")

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Mask:  # noqa: ARG002 protocol
        """Return which classes are within t of the whole table."""
        return np.asarray(self._distances(_given(histogram)) <= self.t + _SLACK)

    def _distances(self, histogram: Histogram) -> Numbers:
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which classes satisfy all models, and which a weaker condition closed under supersets."""

    kept: Mask
    possible: Mask


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
