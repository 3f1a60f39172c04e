"""Privacy models: k-anonymity, l-diversity (distinct, entropy, recursive) and t-closeness, and several at once.

A model is a condition on equivalence classes. None of these is a guarantee about persons. Every model here is closed under
union: two classes that satisfy it still do when they are put together. Some are also closed under supersets: a class that
satisfies them does so whatever is added. The search relies on both (docs/notes/0025-anonymize.md).

Before a model is asked, it is tied to the order or the hierarchy of the sensitive values that a column has.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import ClassVar

import numpy as np

from discreet.anonymize.diversity import (
    Histogram,
    distinct_values,
    entropies,
    equal_distances,
    hierarchical_distances,
    ordered_distances,
    tops_and_tails,
)
from discreet.anonymize.groups import Sensitive
from discreet.anonymize.hierarchy import Hierarchy, guess
from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.requests.fields import named
from discreet.base.requests.unpaid import LocalAnonymizeFields
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


@dataclass(frozen=True, slots=True)
class KAnonymity(PrivacyModel):
    """At least k rows in every class."""

    k: int
    needs_sensitive = False
    superset_closed = True

    def __post_init__(self) -> None:
        check_count(self.k, "k")

    @property
    def smallest(self) -> int:
        """Return k."""
        return self.k

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Bits:  # noqa: ARG002 protocol
        """Return which classes have k rows."""
        return np.asarray(sizes >= self.k)

    def words(self) -> str:
        """Return the condition in plain words."""
        return f"every class has at least {self.k} rows"

    @staticmethod
    def asked(fields: LocalAnonymizeFields) -> KAnonymity | None:
        """Return the model that a request asks for."""
        return None if fields.k is None else KAnonymity(fields.k)


@dataclass(frozen=True, slots=True)
class DistinctDiversity(PrivacyModel):
    """At least l different sensitive values in every class."""

    l: int  # noqa: E741 the model's own name
    superset_closed = True

    def __post_init__(self) -> None:
        check_count(self.l, "l of distinct diversity")

    @property
    def smallest(self) -> int:
        """Return l: each value needs a row."""
        return self.l

    def holds(self, histogram: Histogram) -> Bits:
        """Return which classes have l values."""
        return distinct_values(histogram) >= self.l

    def words(self) -> str:
        """Return the condition in plain words."""
        return f"every class has at least {self.l} different sensitive values"

    @staticmethod
    def asked(fields: LocalAnonymizeFields) -> DistinctDiversity | None:
        """Return the model that a request asks for."""
        return None if fields.l is None else DistinctDiversity(whole(fields.l))


@dataclass(frozen=True, slots=True)
class EntropyDiversity(PrivacyModel):
    """Sensitive values of every class at least as uncertain as l equally likely ones."""

    l: float  # noqa: E741 the model's own name

    def __post_init__(self) -> None:
        if not math.isfinite(self.l) or self.l < 1:
            raise InvalidInput("l of entropy diversity must be a number of at least 1.")

    @property
    def smallest(self) -> int:
        """Return l rounded up: so many values are needed."""
        return math.ceil(self.l - SLACK)

    def holds(self, histogram: Histogram) -> Bits:
        """Return which classes have an entropy of at least log l."""
        return entropies(histogram) >= math.log(self.l) - SLACK

    def words(self) -> str:
        """Return the condition in plain words."""
        return (
            "the sensitive values of every class are at least as uncertain as "
            f"{self.l:g} equally likely ones"
        )

    @staticmethod
    def asked(fields: LocalAnonymizeFields) -> EntropyDiversity | None:
        """Return the model that a request asks for."""
        return None if fields.l is None else EntropyDiversity(fields.l)


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(PrivacyModel):
    """Recursive (c, l): the most frequent value is rarer than c times all from the l-th on."""

    c: float
    l: int  # noqa: E741 the model's own name

    def __post_init__(self) -> None:
        check_count(self.l, "l of recursive diversity")
        if not math.isfinite(self.c) or self.c <= 0:
            raise InvalidInput("c of recursive diversity must be above 0.")

    @property
    def smallest(self) -> int:
        """Return l: the l-th value must be there."""
        return self.l

    def holds(self, histogram: Histogram) -> Bits:
        """Return which classes have r_1 < c (r_l + ... + r_m)."""
        top, tail = tops_and_tails(histogram, self.l)
        return top < self.c * tail

    def words(self) -> str:
        """Return the condition in plain words."""
        return (
            f"the most frequent sensitive value of a class is rarer than {self.c:g} times all "
            f"values from the {self.l}. on together"
        )

    @staticmethod
    def asked(fields: LocalAnonymizeFields) -> RecursiveDiversity | None:
        """Return the model that a request asks for."""
        return None if fields.l is None else RecursiveDiversity(fields.c, whole(fields.l))


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

    @staticmethod
    def asked(fields: LocalAnonymizeFields) -> Closeness | None:
        """Return the model that a request asks for."""
        apart = named({each.value: each for each in Distance}, fields.distance, "distance")
        if fields.t is not None:
            return Closeness(fields.t, apart)
        if apart is not Distance.EQUAL:
            raise InvalidInput("--distance says how --t is measured: give --t as well.")
        return None
