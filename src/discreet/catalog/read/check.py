"""Compare what is declared with the columns that the sources have, before anything is asked.

Reads the names and types that a source states about itself, never a row.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from discreet.catalog.catalog import Catalog, engine_name
from discreet.core.schema import (
    BooleanDomain,
    Dataset,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    Table,
    TimestampDomain,
)
from discreet.engine.base import Engine
from discreet.engine.dialect.storage import ColumnKind
from discreet.engine.dialect.types import readable
from discreet.errors import CatalogError

_KINDS: dict[type[Domain], ColumnKind] = {
    IntegerDomain: ColumnKind.INTEGER,
    NumberDomain: ColumnKind.NUMBER,
    BooleanDomain: ColumnKind.BOOLEAN,
    DateDomain: ColumnKind.DATE,
    TimestampDomain: ColumnKind.DATE,
}


def check_table(dataset: Dataset, table: Table, engine: Engine) -> None:
    """Refuse a declared column that the table's source does not have.

    Guarantee: depends on the names of the source's columns only. Without it a misspelt column reads
        as NULL in every row, and is found by whoever has paid for that. A hidden column may be
        absent, but not be spelled differently: what is hidden by a wrong name is shown.
    """
    found = engine.names(engine_name(dataset, table))
    for name in _wanted(table, found):
        if name in found:
            continue
        close = difflib.get_close_matches(name, found, n=1)
        guess = (_same(name, found) or close or [""])[0]
        raise CatalogError(
            f"{_place(dataset, table)}: the source has no column '{name}'.",
            # Not the others: in a file without its first line they are somebody's cells.
            hint=f"Did you mean '{guess}'?" if guess else "Compare discreet.toml with its columns.",
        )


def type_warnings(catalog: Catalog, engine: Engine) -> tuple[str, ...]:
    """Return a sentence for each column whose source can hold no value of the declared type, or lacks it.

    For the owner only: the columns of several files follow from the files, and the type of a text
    file's column may follow its rows.
    """
    return tuple(
        sentence
        for dataset in catalog.datasets.values()
        for table in dataset.tables
        for sentence in _table_warnings(dataset, table, engine)
    )


def _table_warnings(dataset: Dataset, table: Table, engine: Engine) -> Iterator[str]:
    place, missing = _place(dataset, table), "so every row counts as missing."
    try:
        found = engine.columns(engine_name(dataset, table))
    except (
        CatalogError
    ) as error:  # a question reads it as declared, or is refused with the same words
        yield f"{place}: {error.message}"
        return
    names = {name.lower() for name, _ in found}
    for column in table.columns:
        if not column.hidden and column.name.lower() not in names:
            yield f"{place}: the source has no column '{column.name}' now, {missing}"
    for name, kind in found:
        wanted = _declared(table, name)
        if wanted is not None and not readable(wanted, kind):
            yield (
                f"{place}: the source keeps '{name}' as {kind}, which never holds "
                f"{_one(wanted)}, {missing}"
            )


def _wanted(table: Table, found: list[str]) -> list[str]:
    wanted = [c.name for c in table.columns if not c.hidden or _same(c.name, found)]
    if table.unit is not None and table.unit.column is not None:
        wanted.append(table.unit.column)
    return wanted


def _same(name: str, found: list[str]) -> list[str]:
    return [other for other in found if other.lower() == name.lower()]


def _declared(table: Table, name: str) -> ColumnKind | None:
    column = next((c for c in table.columns if c.name == name and not c.hidden), None)
    return None if column is None else _KINDS.get(type(column.domain))


def _one(kind: ColumnKind) -> str:
    return f"an {kind.value}" if kind is ColumnKind.INTEGER else f"a {kind.value}"


def _place(dataset: Dataset, table: Table) -> str:
    return f"table '{table.name}' of dataset '{dataset.name}'"
