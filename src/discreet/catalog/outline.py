"""The catalog for callers of the API: names, types and domains in words, nothing from a row."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    Domain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
    TimestampDomain,
)

MAX_VALUES = 200
"""A longer list of categories is told by its number and its first values only."""

_TYPES: dict[type[Domain], str] = {
    BooleanDomain: "boolean",
    CategoryDomain: "category",
    DateDomain: "date",
    IdentifierDomain: "identifier",
    IntegerDomain: "integer",
    NumberDomain: "number",
    TextDomain: "text",
    TimestampDomain: "timestamp",
}


def outline(catalog: Catalog, datasets: Collection[str]) -> dict[str, Any]:
    """Return tables, columns, types, domains and units of the named datasets."""
    return {
        name: {
            "tables": {table.name: _table(table) for table in dataset.tables},
            "protects": _protects(dataset),
            "neighbours": dataset.neighbours.value,
            "budget": dataset.budget,
            "accepted": dataset.accepted,
            "public_rows": dataset.public_rows,
        }
        for name, dataset in catalog.datasets.items()
        if name in datasets
    }


def _protects(dataset: Dataset) -> str:
    units = [str(table.unit) for table in dataset.tables if table.unit is not None]
    return units[0] if units else "nobody: all tables are public"


def _table(table: Table) -> dict[str, Any]:
    return {
        "public": table.public,
        "unit": "public" if table.unit is None else str(table.unit),
        "max_rows": table.max_rows,
        "columns": {column.name: _column(column) for column in table.columns if not column.hidden},
    }


def _column(column: Column) -> dict[str, Any]:
    domain = column.domain
    facts: dict[str, Any] = {
        "type": _TYPES[type(domain)],
        "domain": domain.words(),
        "missing": column.missing,
        "reviewed": column.reviewed,
    }
    if column.complete:
        facts["complete"] = True
    if not column.reviewed:
        # What was only read from the data is not public until the owner says so.
        return facts | {"domain": "waits for the owner's review"}
    if isinstance(domain, CategoryDomain):
        facts["values"] = list(domain.values[:MAX_VALUES])
        facts["size"] = domain.size
    elif isinstance(domain, IntegerDomain):
        facts |= {"lower": domain.lower, "upper": domain.upper}
    elif isinstance(domain, NumberDomain):
        facts |= {
            "lower": float(domain.lower),
            "upper": float(domain.upper),
            "step": float(domain.step),
        }
    elif isinstance(domain, DateDomain | TimestampDomain):
        facts |= {"lower": domain.lower.isoformat(), "upper": domain.upper.isoformat()}
    return facts
