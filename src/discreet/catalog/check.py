"""Compare what is declared with the columns that the sources have, before anything is asked."""

from __future__ import annotations

import difflib

from discreet.catalog.catalog import Catalog, engine_name
from discreet.core.schema import Table
from discreet.engine.base import Engine
from discreet.errors import CatalogError


def check_columns(catalog: Catalog, engine: Engine) -> None:
    """Refuse a declared column that its source does not have.

    Reads names only. Without it a misspelt column would be found by a query that has been paid.
    """
    for dataset in catalog.datasets.values():
        for table in dataset.tables:
            found = [name for name, _ in engine.columns(engine_name(dataset, table))]
            _check_table(table, found, place=f"table '{table.name}' of dataset '{dataset.name}'")


def _check_table(table: Table, found: list[str], *, place: str) -> None:
    wanted = [column.name for column in table.columns if not column.hidden]
    if table.unit is not None and table.unit.column is not None:
        wanted.append(table.unit.column)
    for name in wanted:
        if name in found:
            continue
        close = difflib.get_close_matches(name, found, n=1)
        same = [other for other in found if other.lower() == name.lower()]
        guess = (same or close or [""])[0]
        raise CatalogError(
            f"{place}: the source has no column '{name}'.",
            hint=f"Did you mean '{guess}'?" if guess else f"It has: {', '.join(found)}.",
        )
