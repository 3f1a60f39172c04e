"""The canonical relations, as the catalog declares them: where every derivation starts.

A canonical relation holds the declared columns as c0, c1, ... (each value inside its domain, or NULL;
numbers as whole steps), for people also the unit `u`, never NULL, and where it is stored the rank `r`
of a row among its unit's rows. `w` is never below `r`, and `g3` is the text
of the category `c3`, or the number `c3` in 8 bits. Columns declared constant carry one value for each unit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from discreet.core.region import EVERYONE, Positions, Region
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Dataset,
    DateDomain,
    Domain,
    FiniteDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
)
from discreet.kernel.canonical.cells import LONGEST_CELL
from discreet.kernel.canonical.select import grouped_columns, stored_columns
from discreet.kernel.derive.rows import Base, BilledAxis, Rows
from discreet.kernel.derive.values import Value, ValueKind, integer
from discreet.kernel.trees.nodes import Derived, Name, SelectNode, StoredScan, Unfit

_OWN = re.compile("c[0-9]*|u|r")
SCHEMA = "canon"
"""Where an engine keeps canonical relations; no user can write this name into generated SQL."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One table of the catalog, and whether the engine keeps its canonical relation.

    `view` makes the tree of the canonical view with these columns, with or without a rank, for engines
    that keep no canonical relation.
    """

    dataset: Dataset
    table: Table
    view: Callable[[tuple[int, ...], bool], SelectNode] | None = None


@dataclass(frozen=True, slots=True)
class CatalogScans:
    """Judges scans by the catalog. `tables` is by the engine's names."""

    tables: Mapping[str, Declared]

    def stored(self, source: StoredScan) -> Rows:
        """Return what holds of a canonical relation that the engine keeps."""
        if len(source.path) != 2 or source.path[0] != SCHEMA:
            raise Unfit("a table that is no canonical relation")
        declared = self.tables.get(source.path[1])
        if declared is None or declared.view is not None:
            raise Unfit("a table that the catalog does not declare as kept")
        columns = stored_columns(declared.table)
        found = _rows(source.path[1], declared, source.alias, tuple(columns), ranked=True)
        values, axes, numbers = dict(found.values), dict(found.axes), dict(found.numbers)
        for rank in found.numbers if declared.table.bounded else ():
            within = Name(source.alias, "w")
            # No row has a w below its r, so w <= m leaves no more rows of a unit than r <= m.
            values[within], numbers[within] = values[rank], numbers[rank]
        for i in grouped_columns(declared.table):
            own, grouped = Name(source.alias, f"c{i}"), Name(source.alias, f"g{i}")
            values[grouped] = values[own]  # a category as its text
            if values[own].kind is ValueKind.INTEGER:
                values[grouped] = integer(*values[own].bounded, wide=False, narrow=True)
            if own in axes:
                axes[grouped] = axes[own]
        for i, column in columns.items():
            if isinstance(column.domain, CategoryDomain):
                # Stored as one of its declared list, in that order.
                values[Name(source.alias, f"c{i}")] = _listed(column.domain)
        return replace(found, values=values, axes=axes, numbers=numbers)

    def view(self, source: Derived) -> Rows | None:
        """Return what holds of a canonical view; None where the subquery is not exactly that."""
        names = [name for name, _ in source.select.outputs]
        if not all(_OWN.fullmatch(name) for name in names):
            return None
        places = tuple(int(name[1:]) for name in names if name[1:])
        for name, declared in self.tables.items():
            readable = set(places) <= stored_columns(declared.table).keys()
            if declared.view is None or not readable:
                continue
            if declared.view(places, "r" in names) == source.select:
                return _rows(name, declared, source.alias, places, ranked="r" in names)
        return None


def _rows(
    name: str, declared: Declared, alias: str, places: tuple[int, ...], *, ranked: bool
) -> Rows:
    table = declared.table
    columns = stored_columns(table)
    domains = {i: column.by_day().domain for i, column in columns.items()}
    values = {Name(alias, f"c{i}"): canonical_value(domains[i]) for i in places}
    if table.unit is None:
        return Rows(values, rows=None)
    axes = {
        Name(alias, f"c{i}"): BilledAxis((name, i), domain)
        for i in places
        if (table.unit.is_row or columns[i].constant)
        and columns[i].moment is None  # a time of day splits no bill
        and (domain := finite(domains[i])) is not None
    }
    if table.unit.is_row:
        return Rows(values, private=(name,), axes=axes)
    unit, rank = Name(alias, "u"), Name(alias, "r")
    values[unit] = Value(ValueKind.UNIT)
    numbers = {}
    if ranked:
        values[rank] = Value(ValueKind.INTEGER, 1, 2**62)  # 32 bits on some engines
        numbers[rank] = frozenset({unit})
    return Rows(
        values,
        private=(name,),
        units=frozenset({unit}),
        rows=None,
        rank=frozenset({rank}) if ranked else None,
        axes=axes,
        numbers=numbers,
    )


def finite(domain: Domain) -> FiniteDomain | None:
    """Return a domain that has positions, None for identifiers and free text."""
    return None if isinstance(domain, IdentifierDomain | TextDomain) else domain


def canonical_value(domain: Domain) -> Value:
    """Return what is known of a canonical column: its kind, and the range of whole numbers."""
    match domain:
        case IntegerDomain(lower=lower, upper=upper):
            return Value(ValueKind.INTEGER, lower, upper, wide=True, canonical=True)
        case NumberDomain(lower=lower, upper=upper, step=step):
            low, high = int(lower / step), int(upper / step)
            return Value(ValueKind.INTEGER, low, high, wide=True, canonical=True)
        case BooleanDomain():
            return Value(ValueKind.BOOLEAN)
        case DateDomain():
            return Value(ValueKind.DATE)
        case CategoryDomain(values=values):
            return Value(ValueKind.TEXT, length=max(map(len, values), default=0))
        case _:
            return Value(ValueKind.TEXT, length=LONGEST_CELL)


def _listed(domain: CategoryDomain) -> Value:
    return replace(canonical_value(domain), low=0, high=domain.size - 1)


class ReadScope(Protocol):
    """What a statement was found to read."""

    @property
    def private(self) -> tuple[str, ...]:
        """Return the private tables."""
        ...

    @property
    def region(self) -> Mapping[Base, Positions]:
        """Return where units with rows in it must sit."""
        ...


def dataset_of(facts: ReadScope, tables: Mapping[str, Declared]) -> Dataset:
    """Return the one dataset whose people a statement reads."""
    datasets = {tables[name].dataset.name: tables[name].dataset for name in facts.private}
    if len(datasets) != 1:
        raise Unfit("private tables of two datasets in one statement")
    (dataset,) = datasets.values()
    return dataset


def region_of(
    facts: ReadScope,
    tables: Mapping[str, Declared],
    axis: Callable[[Dataset, Table, int], str | None],
    home: Callable[[Dataset, Table], Region],
) -> Region:
    """Return the region that is billed, from the SQL's own filters.

    Guarantee: a unit outside the region contributes no row: each restriction is a filter in the final
        relation, over a column that is constant for the unit.
    """
    dataset = dataset_of(facts, tables)
    region = EVERYONE
    for name in facts.private:
        region &= home(dataset, tables[name].table)
    for (name, place), positions in facts.region.items():
        found = axis(dataset, tables[name].table, place)
        if found is not None:
            region &= Region.of({found: positions})
    return region
