"""How the columns of a source of several files are read: by their declarations and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from discreet.core.schema import (
    BooleanDomain,
    Column,
    Dataset,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.engine.declared import HERE, DeclaredCell, Texts
from discreet.engine.dialect.names import quoted
from discreet.engine.dialect.storage import ColumnKind, Storage
from discreet.engine.dialect.types import read_as, type_name
from discreet.engine.dialects import DIALECTS
from discreet.engine.kinds import kind_of
from discreet.kernel.canonical.cells import number_cell, person_text
from discreet.kernel.canonical.source import unit_column
from discreet.kernel.canonical.spelled import plain_cell, present_cell

_KINDS = {
    IntegerDomain: ColumnKind.INTEGER,
    NumberDomain: ColumnKind.NUMBER,
    BooleanDomain: ColumnKind.BOOLEAN,
    DateDomain: ColumnKind.DATE,
}
"""Everything else stays the text that it is: also a moment, which has a day and a second."""
STORED = {
    Storage.INTEGER: "hugeint",
    Storage.DECIMAL: "decimal(38,0)",
    Storage.NUMBER: "float",
    Storage.BOOLEAN: "boolean",
    Storage.DATE: "date",
    Storage.TIMESTAMP: "timestamp",
    Storage.TEXT: "varchar",
    Storage.OTHER: "blob",
}
"""One type for each storage: how a cell is read depends on nothing else (engine/dialect/types.py)."""


def declared_cells(
    datasets: Iterable[Dataset], engine_url: str
) -> dict[str, tuple[DeclaredCell, ...]]:
    """Return by the engine's name how the columns of every table are read where it is many files.

    Guarantee: each text is total, and a function of the cell, of its storage and of what is declared.
    """
    kind = kind_of(engine_url)
    if not kind.files:
        return {}
    dialect = kind.dialect.name
    found = {}
    for dataset in datasets:
        ways = _way_columns(dataset)
        for table in dataset.tables:
            keys = {name.lower(): name for name in ways.get(table.name.lower(), ())}
            unit = unit_column(table)
            if unit is not None and table.path is None:
                keys[unit.name.lower()] = unit.name
            found[f"{dataset.name}.{table.name}"] = tuple(
                _cell(column, dialect, key=column.name.lower() in keys)
                for column in _columns(table, keys.values())
            )
    return found


def _way_columns(dataset: Dataset) -> dict[str, list[str]]:
    """Return the columns by which paths lead from table to table, by table in small letters."""
    found: dict[str, list[str]] = {}
    for table in dataset.tables:
        if table.path is None:
            continue
        at = table.name.lower()
        for step in table.path.steps:
            found.setdefault(at, []).append(step.column)
            at = step.table.lower()
            found.setdefault(at, []).append(step.key)
        found.setdefault(at, []).append(table.path.column)
    return found


def _columns(table: Table, others: Iterable[str]) -> list[Column]:
    """Return the columns that somebody may read, each once; what is hidden is read by nobody."""
    reached = "" if table.path is None else table.path.column.lower()
    found = {
        column.name.lower(): column
        for column in table.columns
        if not column.hidden and column.name.lower() != reached
    }
    for name in others:
        declared = next((c for c in table.columns if c.name.lower() == name.lower()), None)
        found.setdefault(name.lower(), declared or Column(name, IdentifierDomain()))
    return list(found.values())


def _cell(column: Column, dialect: str, *, key: bool) -> DeclaredCell:
    """Return how a column is read; a `key` names people or leads to them, and goes by its text.

    It is the text of its own canonical rows (`person_text`), in one file of several as in one alone.
    """
    bare = f"{HERE}.{quoted(column.name, dialect)}"
    kind = _KINDS.get(type(column.domain), ColumnKind.TEXT)
    if key and kind is not ColumnKind.INTEGER:
        kind = ColumnKind.TEXT
    return DeclaredCell(
        column.name,
        type_name(kind, dialect),
        _texts(lambda stored: _read(column, kind, bare, stored, dialect, key=key)),
        _texts(lambda stored: present_cell(column, bare, stored, dialect)),
    )


def _texts(text: Callable[[str], str]) -> Texts:
    return tuple((way.value, text(stored)) for way, stored in STORED.items())


def _read(
    column: Column, kind: ColumnKind, bare: str, stored: str, dialect: str, *, key: bool
) -> str:
    if kind is ColumnKind.TEXT:
        # In the owner's spelling still: whoever reads a text file does the rest.
        if key:
            return person_text(bare, stored, dialect)
        return read_as(kind, bare, engine_type=stored, dialect=dialect)
    plain, now = plain_cell(replace(column, moment=None), bare, stored, dialect)
    if kind is ColumnKind.NUMBER:
        return f"CAST({number_cell(plain, now, dialect)} AS {DIALECTS[dialect].double})"
    return read_as(kind, plain, engine_type=now, dialect=dialect)
