"""A CSV file as the owner's own tools see it: Parquet with the types that its texts fit.

For proposals and anonymization only. Questions read canonical snapshots, which are made from the
texts themselves: no type that follows from rows ever reaches the SQL of a question.

Every cell is read as text. A column is then *stored* as an integer, a number, a date or a boolean
only if each of its texts comes back letter by letter from that type. So the storage type is an
encoding, never a meaning: a row with an odd cell can make its column text again, and still every
other cell says exactly what it said (see docs/notes/0012-engines.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import duckdb

from discreet.engine.names import quoted

UNAMBIGUOUS = ("BIGINT", "BOOLEAN")
"""Types whose texts say the same in every spelling; 1.234 and 2024-03-04 do not."""
_SAMPLE = 2000
_AT_ONCE = 64
_DICTIONARY = 1_000
"""Columns of more values are written as they are: a dictionary of them costs more than it saves."""
_CELL = "CELL"
_TESTS: Mapping[str, str] = {
    "BIGINT": "CAST(TRY_CAST(CELL AS BIGINT) AS VARCHAR) = CELL AND length(CELL) <= 18",
    "DOUBLE": (
        "CAST(TRY_CAST(CELL AS DOUBLE) AS VARCHAR) = CELL AND CELL <> '-0.0' "
        # No exponent: other readers of the text spell those differently. No inf and no nan.
        "AND length(CELL) <= 25 AND contains(CELL, '.') "
        "AND NOT contains(CELL, 'e') AND NOT contains(CELL, 'n')"
    ),
    "DATE": "CAST(TRY_CAST(CELL AS DATE) AS VARCHAR) = CELL AND length(CELL) = 10",
    "BOOLEAN": "CAST(TRY_CAST(CELL AS BOOLEAN) AS VARCHAR) = CELL",
}
EVERY = tuple(_TESTS)


def _holds(connection: duckdb.DuckDBPyConnection, tests: list[str], table: str) -> list[bool]:
    """Return for each test whether some cell is there and none fails it."""
    found: list[bool] = []
    # A few at a time: planning one SELECT of thousands takes minutes, and columns are read once.
    for start in range(0, len(tests), _AT_ONCE):
        some = ", ".join(tests[start : start + _AT_ONCE])
        row = connection.execute(f"SELECT {some} FROM {table}").fetchone()
        found += [bool(cell) for cell in row or ()]
    return found


def _every(test: str, column: str) -> str:
    name = quoted(column)
    holds = test.replace(_CELL, name)
    return f"bool_and(coalesce({holds}, false)) FILTER (WHERE {name} IS NOT NULL)"


def store_typed(
    connection: duckdb.DuckDBPyConnection,
    select: str,
    *,
    target: str,
    kinds: Collection[str] = EVERY,
) -> None:
    """Write the texts of a SELECT as Parquet, each column in the type that spells it alike.

    `kinds` are the types that may be chosen: where a spelling is declared later, only those that
    have one text for each value in every spelling (see UNAMBIGUOUS).
    """
    columns = [row[0] for row in connection.execute(f"DESCRIBE {select}").fetchall()]
    found = likely_encodings(connection, columns, f"({select} LIMIT {_SAMPLE})", kinds)
    if _stored(connection, select, columns, found, target):
        return
    # A later row contradicts the first ones: only now all rows are read to find out where.
    tests = [_every(_TESTS[kind], column) for column, kind in found.items()]
    sure = _holds(connection, tests, f"({select})")
    held = {c: k for (c, k), holds in zip(found.items(), sure, strict=True) if holds}
    if not _stored(connection, select, columns, held, target):
        raise duckdb.InvalidInputException("the texts changed while they were read")


def likely_encodings(
    connection: duckdb.DuckDBPyConnection,
    columns: list[str],
    rows: str,
    kinds: Collection[str] = EVERY,
) -> dict[str, str]:
    """Return the columns of some rows whose every text survives another type, with that type."""
    tries = [(column, kind) for column in columns for kind in _TESTS if kind in kinds]
    tests = [_every(_TESTS[kind], column) for column, kind in tries]
    likely: dict[str, str] = {}
    for (column, kind), holds in zip(tries, _holds(connection, tests, rows), strict=True):
        if holds:
            likely.setdefault(column, kind)
    return likely


def _stored(
    connection: duckdb.DuckDBPyConnection,
    select: str,
    columns: list[str],
    kinds: Mapping[str, str],
    target: str,
) -> bool:
    """Return whether every text survives its type; the file is whole only then."""
    cells = ", ".join(
        f"{_cell(c, kinds[c]) if c in kinds else quoted(c)} AS {quoted(c)}" for c in columns
    )
    how = f"FORMAT parquet, DICTIONARY_SIZE_LIMIT {_DICTIONARY}"
    order = f"COPY (SELECT {cells} FROM ({select}) AS s) TO {literal(target)} ({how})"
    try:
        connection.execute(order)
    except duckdb.InvalidInputException:
        if kinds:
            return False
        raise
    return True


def _cell(column: str, kind: str) -> str:
    name = quoted(column)
    holds = _TESTS[kind].replace(_CELL, name)
    # error() ends the whole statement: a text that is not spelled alike must not be stored so.
    return (
        f"CASE WHEN {name} IS NULL THEN NULL WHEN coalesce({holds}, false) "
        f"THEN TRY_CAST({name} AS {kind}) ELSE error('misfit') END"
    )


def literal(text: str) -> str:
    """Return `text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"
