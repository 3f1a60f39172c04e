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
from contextlib import suppress
from pathlib import Path

import duckdb

from discreet.engine.dialect.names import quoted, text_constant
from discreet.engine.formats.plain_csv import SHORT_DECIMAL, CsvFile, Misfit, store_plain

UNAMBIGUOUS = ("BIGINT", "BOOLEAN")
"""Types whose texts say the same in every spelling; 1.234 and 2024-03-04 do not."""
_SAMPLE = 2000
_FIRST = "temp.discreet_first_rows"
_AT_ONCE = 64
_FEW = 200
_DICTIONARY = 1_000
"""Columns of more values are written as they are: a dictionary of them costs more than it saves."""
_escaped = SHORT_DECIMAL.replace("{", "{{").replace("}", "}}")
_TESTS: Mapping[str, str] = {
    "BIGINT": "CAST({read} AS VARCHAR) = {cell} AND length({cell}) <= 18",
    "DOUBLE": (
        f"CASE WHEN regexp_full_match({{cell}}, '{_escaped}') THEN true ELSE "
        "CAST({read} AS VARCHAR) = {cell} AND {cell} <> '-0.0' "
        # No exponent: other readers of the text spell those differently. No inf and no nan.
        "AND length({cell}) <= 25 AND contains({cell}, '.') "
        "AND NOT contains({cell}, 'e') AND NOT contains({cell}, 'n') END"
    ),
    "DATE": "CAST({read} AS VARCHAR) = {cell} AND length({cell}) = 10",
    "BOOLEAN": "CAST({read} AS VARCHAR) = {cell}",
}
"""Whether the text of a cell comes back from what was read of it."""
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


def _every(kind: str, column: str) -> str:
    name = quoted(column)
    holds = _holding(kind, name, f"TRY_CAST({name} AS {kind})")
    return f"bool_and({holds}) FILTER (WHERE {name} IS NOT NULL)"


def _holding(kind: str, cell: str, read: str) -> str:
    return f"coalesce({_TESTS[kind].format(cell=cell, read=read)}, {cell} IS NULL)"


def store_typed(
    connection: duckdb.DuckDBPyConnection,
    select: str,
    *,
    target: str,
    kinds: Collection[str] = EVERY,
    compression: str = "snappy",
    file: CsvFile | None = None,
) -> None:
    """Write the texts of a SELECT as Parquet, each column in the type that spells it alike.

    `kinds` are the types that may be chosen: where a spelling is declared later, only those that
    have one text for each value in every spelling (see UNAMBIGUOUS). What is read a few times and
    thrown away need not be compressed, which takes longer than it saves. `file`: the SELECT is of all
    of this file as it stands, which is read without DuckDB if it is plain.
    """
    columns = [row[0] for row in connection.execute(f"DESCRIBE {select}").fetchall()]
    # The first rows by themselves: a file of thousands of columns is not read again for each few tests.
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_FIRST} AS SELECT * FROM ({select}) LIMIT {_SAMPLE}"
    )
    found = likely_encodings(connection, columns, _FIRST, kinds)
    few = _of_few(connection, columns)
    connection.execute(f"DROP TABLE {_FIRST}")
    if file is not None and file.plain:
        with suppress(Misfit):
            store_plain(file, Path(target), kinds=found, repeating=few, compression=compression)
            return
    if _stored(connection, select, columns, found, target, compression=compression):
        return
    # A later row contradicts the first ones: only now all rows are read to find out where.
    tests = [_every(kind, column) for column, kind in found.items()]
    sure = _holds(connection, tests, f"({select})")
    held = {c: k for (c, k), holds in zip(found.items(), sure, strict=True) if holds}
    if not _stored(connection, select, columns, held, target, compression=compression):
        raise duckdb.InvalidInputException("the texts changed while they were read")


def _of_few(connection: duckdb.DuckDBPyConnection, columns: list[str]) -> set[str]:
    """Return the columns that have few different texts in the first rows."""
    tests = [f"count(DISTINCT {quoted(column)}) <= {_FEW}" for column in columns]
    found = _holds(connection, tests, _FIRST)
    return {column for column, few in zip(columns, found, strict=True) if few}


def likely_encodings(
    connection: duckdb.DuckDBPyConnection,
    columns: list[str],
    rows: str,
    kinds: Collection[str] = EVERY,
) -> dict[str, str]:
    """Return the columns of some rows whose every text survives another type, with that type."""
    tries = [(column, kind) for column in columns for kind in _TESTS if kind in kinds]
    tests = [_every(kind, column) for column, kind in tries]
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
    *,
    compression: str,
) -> bool:
    """Return whether every text survives its type; the file is whole only then."""
    # Each text is read once, below: reading it is what takes the time.
    texts = [f"s.{quoted(column)} AS t{i}" for i, column in enumerate(columns)]
    reads = [
        f"TRY_CAST(s.{quoted(column)} AS {kinds[column]}) AS r{i}"
        for i, column in enumerate(columns)
        if column in kinds
    ]
    below = f"SELECT {', '.join([*texts, *reads])} FROM ({select}) AS s"
    cells = ", ".join(
        f"{'r' if column in kinds else 't'}{i} AS {quoted(column)}"
        for i, column in enumerate(columns)
    )
    alike = [
        _holding(kinds[column], f"t{i}", f"r{i}")
        for i, column in enumerate(columns)
        if column in kinds
    ]
    # error() ends the whole statement: a text that is not spelled alike must not be stored so.
    where = f"CASE WHEN {' AND '.join(alike) or 'true'} THEN true ELSE error('misfit') END"
    how = f"FORMAT parquet, COMPRESSION {compression}, DICTIONARY_SIZE_LIMIT {_DICTIONARY}"
    order = f"COPY (SELECT {cells} FROM ({below}) AS b WHERE {where}) TO {text_constant(target)} ({how})"
    try:
        connection.execute(order)
    except duckdb.InvalidInputException:
        if kinds:
            return False
        raise
    return True
