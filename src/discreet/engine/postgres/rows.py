"""PostgreSQL's rows as Arrow, with the types kept exact."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa

from discreet.core.system.extras import needs
from discreet.engine.arrow import WIDE

with needs("psycopg", extra="postgres"):
    import psycopg

_TYPES: dict[int, pa.DataType] = {
    16: pa.bool_(),
    17: pa.binary(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    700: pa.float64(),
    701: pa.float64(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"),
}
_NUMERIC = 1700
_TEXTS = frozenset({18, 19, 25, 1042, 1043})


def fetch_table(session: psycopg.Connection[Any], sql: str) -> pa.Table:
    """Return the rows of one SELECT.

    Binary results go through the extended protocol, which takes a single statement.
    """
    with session.cursor(binary=True) as cursor:
        cursor.execute(sql.encode())
        rows = cursor.fetchall()
        columns = cursor.description or []
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        arrays = [_array(column, list(found)) for column, found in zip(columns, cells, strict=True)]
        return pa.table(arrays, names=[column.name for column in columns])


def _array(column: psycopg.Column, cells: list[Any]) -> pa.Array:
    if column.type_code == _NUMERIC:
        return _decimals(column.scale if column.precision else None, cells)
    if column.type_code in _TYPES:
        return pa.array(cells, type=_TYPES[column.type_code])
    if column.type_code not in _TEXTS:
        cells = [None if cell is None else str(cell) for cell in cells]
    return pa.array(cells, type=pa.string())


def _decimals(scale: int | None, cells: list[Decimal | None]) -> pa.Array:
    """Return exact decimals; where the type does not say its scale, the longest fraction does."""
    if scale is None:
        exponents = [cell.as_tuple().exponent for cell in cells if cell is not None]
        scale = max((-e for e in exponents if isinstance(e, int)), default=0)
    return pa.array(cells, type=pa.decimal128(WIDE.precision, max(0, scale)))
