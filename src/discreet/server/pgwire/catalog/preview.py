"""Made-up rows: what browsing tools see. Drawn from the declared domains, never from the data."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    IdentifierDomain,
    TextDomain,
)
from discreet.engine.dialect.names import quoted
from discreet.server.pgwire.catalog.locked import Filled
from discreet.server.pgwire.catalog.visible import PREVIEW, VisibleTable
from discreet.server.pgwire.protocol.types import BOOL, DATE, FLOAT8, INT4, INT8

ROWS = 100
MOST_ROWS = 1000

_NAMES = {BOOL: "BOOLEAN", INT4: "INTEGER", INT8: "BIGINT", FLOAT8: "DOUBLE", DATE: "DATE"}


def rows_of(seen: VisibleTable) -> list[tuple[Any, ...]]:
    """Return made-up rows of a table: always the same, and every short list of values complete.

    Guarantee: a function of the declared names and domains only. Domains that wait for the owner's
        review are not declared yet, so their columns are empty.
    """
    lists = [
        column.domain.size
        for column, _ in seen.columns
        if isinstance(column.domain, CategoryDomain) and column.reviewed
    ]
    count = min(max([ROWS, *lists]), MOST_ROWS)
    columns = [
        [_cell(seen.table.name, column, row) for row in range(count)] for column, _ in seen.columns
    ]
    return list(zip(*columns, strict=True)) if columns else []


def _cell(table: str, column: Column, row: int) -> Any:
    if not column.reviewed:
        return None
    dice = _dice(f"{table}.{column.name}.{column.fingerprint}.{row}")
    if column.missing and dice % 10 == 3:
        return None
    domain = column.by_day().domain
    if isinstance(domain, IdentifierDomain | TextDomain):
        return f"made-up {row + 1}"
    listed = isinstance(domain, CategoryDomain | BooleanDomain)
    place = row if listed and row < domain.size else dice // 10 % domain.size
    value = domain.value(place)
    return float(value) if isinstance(value, Fraction) else value


def _dice(seed: str) -> int:
    # No privacy hangs on these: they only have to look varied and stay the same.
    return int.from_bytes(hashlib.sha256(seed.encode("utf-8", "replace")).digest()[:12], "big")


def previews(tables: tuple[VisibleTable, ...]) -> list[Filled]:
    """Return the preview tables with their rows."""
    found = []
    for seen in tables:
        if seen.schema == PREVIEW and seen.columns:
            columns = [
                f"{quoted(c.name)} {_NAMES.get(kind, 'VARCHAR')}" for c, kind in seen.columns
            ]
            found.append(Filled(stored_name(seen.name), ", ".join(columns), rows_of(seen)))
    return found


def stored_name(table: str) -> str:
    """Return the name under which a preview table is kept."""
    return f"preview {table.lower()}"
