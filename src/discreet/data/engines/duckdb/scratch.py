"""A database for what comes after the noise: noisy results and public tables, and nothing else.

It is made in memory for one statement, reaches no file, no network and no extension, and is thrown away.
Nothing private ever enters it, so whatever runs in it is post-processing.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.base.answer import OutputType
from discreet.data.engines.child_limits import CLOSED
from discreet.errors import QueryRefused

if TYPE_CHECKING:
    import duckdb

SECONDS = 20.0
MEMORY_MB = 512
MOST_ROWS = 1_000_000
"""Rows of an outcome: as many as an answer may have groups."""

_ARROW = {
    OutputType.INTEGER: pa.int64(),
    OutputType.NUMBER: pa.float64(),
    OutputType.TEXT: pa.string(),
    OutputType.BOOLEAN: pa.bool_(),
    OutputType.DATE: pa.date32(),
    OutputType.TIMESTAMP: pa.timestamp("us"),
}
_TYPES = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), OutputType.INTEGER),
    **dict.fromkeys(("DOUBLE", "FLOAT"), OutputType.NUMBER),
    "BOOLEAN": OutputType.BOOLEAN,
    "DATE": OutputType.DATE,
    "TIMESTAMP": OutputType.TIMESTAMP,
}


@dataclass(frozen=True, slots=True)
class ScratchTable:
    """A small table: the type of each column and its rows; `more` names the last columns.

    The others are called c0, c1, ...
    """

    types: tuple[OutputType, ...]
    rows: Sequence[Sequence[Any]] = ()
    more: tuple[str, ...] = ()


def outcome_types(
    sql: str, tables: Mapping[str, ScratchTable]
) -> tuple[tuple[str, OutputType], ...]:
    """Return names and types of what `sql` gives over tables of these types; reads no row."""
    empty = {name: ScratchTable(table.types, (), table.more) for name, table in tables.items()}
    with _opened(empty) as database:
        found = _run(database, sql).description or []
    return tuple((str(column[0]), _type(str(column[1]))) for column in found)


def outcome(sql: str, tables: Mapping[str, ScratchTable]) -> list[tuple[Any, ...]]:
    """Return the rows of `sql` over these tables and nothing else."""
    import duckdb

    with _opened(tables) as database:
        clock = threading.Timer(SECONDS, database.interrupt)
        clock.start()
        try:
            rows = _run(database, sql).fetchmany(MOST_ROWS + 1)
        except duckdb.Error as error:
            raise _failed(error) from None
        finally:
            clock.cancel()
    if len(rows) > MOST_ROWS:
        raise QueryRefused(
            f"The outcome would have more than {MOST_ROWS:,} rows.", hint="Add LIMIT."
        )
    return [tuple(row) for row in rows]


def _opened(tables: Mapping[str, ScratchTable]) -> duckdb.DuckDBPyConnection:
    import duckdb

    config = {**CLOSED, "memory_limit": f"{MEMORY_MB}MiB", "threads": "1"}
    database = duckdb.connect(":memory:", config=config)
    database.execute("SET TimeZone = 'UTC'; SET temp_directory = ''")
    for name, table in tables.items():
        database.register("incoming", _arrow(table))
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")
        database.unregister("incoming")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database


def _arrow(table: ScratchTable) -> pa.Table:
    columns = {}
    numbered = len(table.types) - len(table.more)
    names = (*(f"c{i}" for i in range(numbered)), *table.more)
    for i, kind in enumerate(table.types):
        values = [row[i] for row in table.rows]
        wide = kind is OutputType.INTEGER and any(
            value is not None and (type(value) is not int or abs(value) >= 2**63)
            for value in values
        )
        columns[names[i]] = pa.array(values, type=pa.float64() if wide else _ARROW[kind])
    columns["_row"] = pa.array(range(len(table.rows)), type=pa.int64())
    return pa.table(columns)


def _run(database: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyConnection:
    import duckdb

    try:
        return database.execute(sql)
    except duckdb.Error as error:
        raise _failed(error) from None


def _failed(error: duckdb.Error) -> QueryRefused:
    # Only results and public tables are in there, so what the database says tells nothing else.
    said = str(error).splitlines()[0].partition("Error: ")[2][:160]
    return QueryRefused(
        f"What comes after the noise cannot be computed: {said or 'it takes too long'}",
        hint="Simplify the outer part; the inner results cost nothing when asked again.",
        construct="afterwards",
    )


def _type(name: str) -> OutputType:
    if name.startswith("DECIMAL"):
        return OutputType.NUMBER
    return _TYPES.get(name, OutputType.TEXT)
