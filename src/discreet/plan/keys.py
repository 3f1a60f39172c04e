"""Which groups an answer shows: a public list, or whatever passes a threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from discreet.core.region import NULL, Positions
from discreet.core.schema import (
    MAX_PUBLIC_KEYS,
    CategoryDomain,
    Domain,
    IntegerDomain,
    TimestampDomain,
)
from discreet.errors import QueryRefused
from discreet.plan import expr as e
from discreet.plan.ir import Key, Relation
from discreet.plan.lattices import is_finite, points
from discreet.plan.regions import box_positions, domains_of, narrowed_domains
from discreet.plan.tabulate import tabulated
from discreet.plan.values import infer

MAX_GROUPS = 1_000_000
"""An answer never lists more public groups than this."""


@dataclass(frozen=True, slots=True)
class PublicGroups:
    """The values of each key; every combination appears in the answer, empty or not."""

    values: tuple[tuple[Any, ...], ...]

    @property
    def count(self) -> int:
        """Return how many groups there are."""
        return math.prod(len(values) for values in self.values)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return product(*self.values)


@dataclass(frozen=True, slots=True)
class PrivateGroups:
    """Groups that nobody declared: each appears only if enough units stand behind it."""


def groups_of(keys: tuple[Key, ...], source: Relation) -> PublicGroups | PrivateGroups:
    """Return the public list of groups, or say that they must be thresholded."""
    possible = box_positions(source)
    domains = domains_of(source)
    narrowed = narrowed_domains(source)
    listed = [_values(key, domains, narrowed, possible) for key in keys]
    if any(values is None for values in listed):
        return PrivateGroups()
    groups = PublicGroups(tuple(values for values in listed if values is not None))
    if groups.count > MAX_GROUPS:
        raise QueryRefused(
            f"The groups would be {groups.count:,} in number, more than {MAX_GROUPS:,}.",
            hint="Group by fewer columns, or restrict them with WHERE.",
            construct="too many keys",
        )
    return groups


def _values(
    key: Key,
    domains: Mapping[str, Domain],
    narrowed: Mapping[str, Domain],
    possible: Mapping[str, Positions],
) -> tuple[Any, ...] | None:
    names = e.columns_of(key.value)
    if len(names) == 1:
        found = _values_of_one_column(key, next(iter(names)), domains, possible)
        if found is not None:
            return found
    domain = key.domain
    if not is_finite(domain):
        return None
    if isinstance(domain, IntegerDomain | TimestampDomain):
        # What WHERE leaves possible; it is enforced, so no row has another key.
        domain = infer(key.value, narrowed)
    if not isinstance(domain, CategoryDomain) and domain.size > MAX_PUBLIC_KEYS:  # type: ignore[union-attr]  # finite
        return None
    return (*((None,) if key.missing else ()), *points(domain))  # type: ignore[arg-type]  # finite


def _values_of_one_column(
    key: Key, name: str, domains: Mapping[str, Domain], possible: Mapping[str, Positions]
) -> tuple[Any, ...] | None:
    allowed = possible.get(name)
    if isinstance(key.value, e.ColumnRef):
        domain = domains[name]
        if not is_finite(domain) or allowed is None:
            return None
        if len(allowed) > MAX_PUBLIC_KEYS and not isinstance(domain, CategoryDomain):
            return None
        listed = [p for low, high in allowed.spans for p in range(low, high + 1)]
        found = [domain.value(p) for p in listed if p != NULL]  # type: ignore[union-attr]  # finite
        return (*((None,) if NULL in allowed and (key.missing or not found) else ()), *found)
    table = tabulated(key.value, domains)
    if table is None:
        return None
    kept = [value for i, value in enumerate(table) if allowed is None or (i + NULL) in allowed]
    present = {value for value in kept if value is not None}
    return (*((None,) if key.missing and None in kept else ()), *sorted(present))
