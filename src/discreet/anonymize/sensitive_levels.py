"""The order or the hierarchy of sensitive values, and models tied to the values that a column has."""

from __future__ import annotations

from discreet.anonymize.groups import Sensitive
from discreet.anonymize.hierarchy.build import guess
from discreet.anonymize.hierarchy.levels import Hierarchy
from discreet.anonymize.privacy_models.model import PrivacyModel
from discreet.errors import InvalidInput

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
