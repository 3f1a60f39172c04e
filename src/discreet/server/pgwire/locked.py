"""An in-memory DuckDB that holds public facts only, locked down, with limits on time and size."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from discreet.errors import DiscreetError
from discreet.server.pgwire.problems import Failure
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
    Column,
    PgType,
)

SECONDS = 5.0
MAX_ROWS = 100_000
MEMORY = "256MB"
_AT_ONCE = 100
"""Rows that are inserted by one statement."""


class Unanswerable(DiscreetError):
    """DuckDB cannot run this; the caller decides what the client hears."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns and rows of a result."""

    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Filled:
    """A table to make: its name, its columns as SQL, and its rows."""

    name: str
    columns: str
    rows: list[tuple[Any, ...]]


class LockedDb:
    """Made-up and public rows, to be browsed freely.

    Guarantee: nothing in it comes from a private row, so whatever a query finds out is public. The
        lock-down keeps queries from files, the network and settings; the limits from hogging.
    """

    def __init__(self, tables: Sequence[Filled], macros: Sequence[str] = ()) -> None:
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "threads": "1",
                "memory_limit": MEMORY,
                "max_temp_directory_size": "0KB",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "python_enable_replacements": "false",
            },
        )
        for filled in tables:
            self._fill(filled)
        for macro in macros:
            self._connection.execute(macro)
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def _fill(self, filled: Filled) -> None:
        self._connection.execute(f"CREATE TABLE {quoted(filled.name)} ({filled.columns})")
        # Plain parameters: handing over Arrow tables would import several heavy packages.
        for first in range(0, len(filled.rows), _AT_ONCE):
            rows = filled.rows[first : first + _AT_ONCE]
            marks = ", ".join("(" + ", ".join("?" for _ in row) + ")" for row in rows)
            self._connection.execute(
                f"INSERT INTO {quoted(filled.name)} VALUES {marks}",
                [cell for row in rows for cell in row],
            )

    def run(self, sql: str, *, seconds: float = SECONDS, limit: int = MAX_ROWS) -> Rows:
        """Return the result of one SELECT that we generated."""
        cursor = self._connection.cursor()
        timer = threading.Timer(seconds, cursor.interrupt)
        timer.daemon = True
        timer.start()
        try:
            cursor.execute(sql)
            described = cursor.description or []
            rows = cursor.fetchmany(limit + 1)
        except duckdb.InterruptException:
            raise Failure("57014", "The query took too long.", hint="Ask for less.") from None
        except duckdb.OutOfMemoryException:
            raise Failure(
                "53200", "The query needs too much memory.", hint="Ask for less."
            ) from None
        except duckdb.Error:
            raise Unanswerable("This query cannot be answered here.") from None
        finally:
            timer.cancel()
            cursor.close()
        if len(rows) > limit:
            raise Failure("54000", "The result has too many rows.", hint="Add a LIMIT.")
        return Rows(tuple(Column(name, pg_type(kind)) for name, kind, *_ in described), rows)

    def close(self) -> None:
        """Forget everything."""
        self._connection.close()


def quoted(name: str) -> str:
    """Return a name as SQL."""
    return '"' + name.replace('"', '""') + '"'


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
