"""The canonical relations, as the catalog declares them: where every derivation starts.

A canonical relation holds the declared columns as c0, c1, ... (each value inside its domain, or NULL;
numbers as whole steps), for people also the unit `u`, never NULL, and where it is stored the rank `r`
of a row among its unit's rows. Columns declared constant carry one value for each unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.core.region import EVERYONE, Region
from discreet.core.schema import (
    BooleanDomain,
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
from discreet.kernel.derive import Axis, Rows
from discreet.kernel.facts import Facts
from discreet.kernel.scalars import Kind, Value
from discreet.kernel.tree import Derived, Name, Select, Stored, Unfit

SCHEMA = "canon"
"""Where an engine keeps canonical relations; no user can write this name into generated SQL."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One table of the catalog, and whether the engine keeps its canonical relation.

    `view` makes the tree of the canonical view with these columns, for engines that keep none.
    """

    dataset: Dataset
    table: Table
    view: Callable[[tuple[int, ...]], Select] | None = None


@dataclass(frozen=True, slots=True)
class CatalogScans:
    """Judges scans by the catalog. `tables` is by the engine's names."""

    tables: Mapping[str, Declared]

    def stored(self, source: Stored) -> Rows:
        """Return what holds of a canonical relation that the engine keeps."""
        if len(source.path) != 2 or source.path[0] != SCHEMA:
            raise Unfit("a table that is no canonical relation")
        declared = self.tables.get(source.path[1])
        if declared is None or declared.view is not None:
            raise Unfit("a table that the catalog does not declare as kept")
        places = tuple(i for i, _ in _readable(declared.table))
        return _rows(source.path[1], declared, source.alias, places, ranked=True)

    def view(self, source: Derived) -> Rows | None:
        """Return what holds of a canonical view; None where the subquery is not exactly that."""
        inner = source.select.source
        if not isinstance(inner, Stored) or inner.path[:1] == (SCHEMA,):
            return None
        places = tuple(
            int(name[1:])
            for name, _ in source.select.outputs
            if name[:1] == "c" and name[1:].isdigit()
        )
        for name, declared in self.tables.items():
            if declared.view is not None and declared.view(places) == source.select:
                return _rows(name, declared, source.alias, places, ranked=False)
        raise Unfit("a table read otherwise than by its canonical view")


def _readable(table: Table) -> list[tuple[int, Domain]]:
    unit = table.unit.column if table.unit is not None else None
    return [
        (i, column.by_day().domain)
        for i, column in enumerate(table.columns)
        if (not column.hidden and column.reviewed) or column.name == unit
    ]


def _rows(
    name: str, declared: Declared, alias: str, places: tuple[int, ...], *, ranked: bool
) -> Rows:
    table = declared.table
    domains = dict(_readable(table))
    if not set(places) <= domains.keys():
        raise Unfit("a column that may not be read")
    values = {Name(alias, f"c{i}"): canonical_value(domains[i]) for i in places}
    if table.unit is None:
        return Rows(values, rows=None)
    axes = {
        Name(alias, f"c{i}"): Axis((name, i), domain)
        for i in places
        if (table.unit.is_row or table.columns[i].constant)
        and (domain := finite(domains[i])) is not None
    }
    if table.unit.is_row:
        return Rows(values, private=(name,), axes=axes)
    unit, rank = Name(alias, "u"), Name(alias, "r")
    values[unit] = Value(Kind.UNIT)
    numbers = {}
    if ranked:
        values[rank] = Value(Kind.INTEGER, 1, 2**62, wide=True)
        numbers[rank] = frozenset({unit})
    return Rows(
        values,
        private=(name,),
        unit=unit,
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
            return Value(Kind.INTEGER, lower, upper, wide=True, canonical=True)
        case NumberDomain(lower=lower, upper=upper, step=step):
            low, high = int(lower / step), int(upper / step)
            return Value(Kind.INTEGER, low, high, wide=True, canonical=True)
        case BooleanDomain():
            return Value(Kind.BOOLEAN)
        case DateDomain():
            return Value(Kind.DATE)
        case _:
            return Value(Kind.TEXT)


def billed(
    facts: Facts,
    tables: Mapping[str, Declared],
    axis: Callable[[Dataset, Table, int], str | None],
    home: Callable[[Dataset, Table], Region],
) -> tuple[Dataset, Region]:
    """Return the dataset that is read and the region that is billed, from the SQL's own filters.

    Guarantee: a unit outside the region contributes no row: each restriction is a filter in the final
        relation, over a column that is constant for the unit.
    """
    datasets = {tables[name].dataset.name: tables[name].dataset for name in facts.private}
    if len(datasets) != 1:
        raise Unfit("private tables of two datasets in one statement")
    (dataset,) = datasets.values()
    region = EVERYONE
    for name in facts.private:
        region &= home(dataset, tables[name].table)
    for (name, place), positions in facts.region.items():
        found = axis(dataset, tables[name].table, place)
        if found is not None:
            region &= Region.of({found: positions})
    return dataset, region
