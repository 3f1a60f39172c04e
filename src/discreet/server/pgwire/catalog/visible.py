"""What one caller may see of the catalog, as tables with PostgreSQL types."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.api import Curator
from discreet.core.schema import (
    BooleanDomain,
    Column,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.server.pgwire.protocol.types import BOOL, DATE, FLOAT8, INT4, INT8, TEXT, PgType

PREVIEW = "preview"


@dataclass(frozen=True, slots=True)
class VisibleTable:
    """A table under the schema and name that clients see."""

    schema: str
    name: str
    table: Table
    columns: tuple[tuple[Column, PgType], ...]

    @property
    def words(self) -> str:
        """Return whose rows it holds, in words."""
        if self.schema == PREVIEW:
            return "Made-up rows from the declared domains; free to browse."
        if self.table.unit is None:
            return "Public facts."
        return f"Private ({self.table.unit} is protected): ask for aggregates."


def seen_by(curator: Curator, analyst: str | None) -> tuple[VisibleTable, ...]:
    """Return the tables of the caller's datasets, and beside each a preview of made-up rows."""
    found: list[VisibleTable] = []
    datasets = [curator.catalog.datasets[name] for name in curator.visible(analyst)]
    for dataset in datasets:
        for table in dataset.tables:
            shown = [c for c in table.columns if not c.hidden]
            columns = tuple((c, type_of(c.by_day().domain)) for c in shown)
            found.append(VisibleTable(dataset.name, table.name, table, columns))
    names = [seen.name.lower() for seen in found]
    for seen in tuple(found):
        single = names.count(seen.name.lower()) == 1
        name = seen.name if single else f"{seen.schema}_{seen.name}"
        found.append(VisibleTable(PREVIEW, name, seen.table, seen.columns))
    return tuple(found)


def type_of(domain: Domain) -> PgType:
    """Return the PostgreSQL type of a declared domain."""
    if isinstance(domain, IntegerDomain):
        small = domain.lower >= -(2**31) and domain.upper < 2**31
        return INT4 if small else INT8
    if isinstance(domain, NumberDomain):
        return FLOAT8
    if isinstance(domain, BooleanDomain):
        return BOOL
    return DATE if isinstance(domain, DateDomain) else TEXT
