"""Public facts to be queried freely: a locked DuckDB in a child process, and simulated rows as previews."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.base.schema import BooleanDomain, CategoryDomain, Column, IdentifierDomain, TextDomain
from discreet.data.engines.child import Child, Unreadable
from discreet.data.engines.dialects import quoted
from discreet.errors import DiscreetError, EngineFailed
from discreet.server.pgwire.catalog.locked_worker import carried, restored
from discreet.server.pgwire.catalog.tables import PREVIEW, VisibleTable
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.types import (
    ALL,
    ARRAYS,
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    OID,
    TEXT,
    TIMESTAMP,
    PgType,
    WireColumn,
)

SECONDS = 5.0
MAX_ROWS = 100_000
MAX_BYTES = 16 << 20
MEMORY_MB = 256


class Unanswerable(DiscreetError):
    """DuckDB cannot run this; the caller decides what the client hears."""


@dataclass(frozen=True, slots=True)
class PublicRows:
    """Columns and rows of a result."""

    columns: tuple[WireColumn, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Filled:
    """A table to make: its name, its columns as SQL, and its rows."""

    name: str
    columns: str
    rows: list[tuple[Any, ...]]


class LockedDb:
    """Made-up and public rows, to be browsed freely, in a process of their own.

    Guarantee: nothing in it comes from a private row, so whatever a query finds out is public. The
        lock-down keeps queries from files, the network and settings. A query takes `SECONDS` of time,
        `MEMORY_MB` of memory and `MAX_BYTES` of result at most: beyond that it is stopped, and its
        process, which serves this caller only, is killed where it does not stop. (Note 0033.)
    """

    def __init__(self, tables: Sequence[Filled], macros: Sequence[str] = ()) -> None:
        self._setup = {
            "tables": [
                (quoted(each.name), each.columns, [carried(row) for row in each.rows])
                for each in tables
            ],
            "macros": list(macros),
            "memory_mb": MEMORY_MB,
            "rows": MAX_ROWS,
            "bytes": MAX_BYTES,
            "temporary": tempfile.gettempdir(),
        }
        self._lock = threading.Lock()
        self._child: Child | None = None

    def run(self, sql: str, *, seconds: float = SECONDS) -> PublicRows:
        """Return the result of one SELECT that we generated."""
        with self._lock:
            began, reply = time.monotonic(), b""
            try:
                child = self._started()
                began = time.monotonic()
                reply = child.ask(b"Q" + sql.encode("utf-8", "replace"), seconds)
            except (EngineFailed, Unreadable):
                late = time.monotonic() - began >= seconds
                reply = b"I" if late else b"M"  # a child that is gone has outgrown its limit
            if reply == b"M" and self._child is not None and self._child.alive:
                self._child.kill()  # what it has grown to, it would not give back
        if reply[:1] != b"T":
            refusal = _REFUSALS[reply]
            raise refusal()
        described, rows = json.loads(reply[1:])
        columns = tuple(WireColumn(name, pg_type(kind)) for name, kind in described)
        return PublicRows(columns, [tuple(restored(row)) for row in rows])

    def _started(self) -> Child:
        if self._child is None or not self._child.alive:
            self._child = Child("discreet.server.pgwire.catalog.locked_worker", self._setup)
        self._child.wait_ready()
        return self._child

    def close(self) -> None:
        """End the process; a later query would start another."""
        with self._lock:
            if self._child is not None:
                self._child.close()
                self._child = None


_REFUSALS: dict[bytes, Callable[[], DiscreetError]] = {
    b"I": lambda: Failure("57014", "The query took too long.", hint="Ask for less."),
    b"M": lambda: Failure("53200", "The query needs too much memory.", hint="Ask for less."),
    b"L": lambda: Failure("54000", "The result is too large.", hint="Add a LIMIT."),
    b"U": lambda: Unanswerable("This query cannot be answered here."),
}


_TYPES: dict[str, PgType] = {
    "BOOLEAN": BOOL,
    "TINYINT": INT2,
    "SMALLINT": INT2,
    "UTINYINT": INT2,
    "USMALLINT": INT4,
    "INTEGER": INT4,
    "UINTEGER": OID,
    "BIGINT": INT8,
    "UBIGINT": NUMERIC,
    "HUGEINT": NUMERIC,
    "FLOAT": FLOAT4,
    "DOUBLE": FLOAT8,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
}


def pg_type(duckdb_type: object) -> PgType:
    """Return PostgreSQL's type for one of DuckDB's; text where there is no better one."""
    name = str(duckdb_type).upper()
    if name.endswith("[]"):
        return ARRAYS.get(pg_type(name[:-2]).oid, ALL[1009])
    if name.startswith("DECIMAL"):
        return NUMERIC
    return _TYPES.get(name, TEXT)


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
