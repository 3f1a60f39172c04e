"""A CSV file as the owner's own tools see it: Parquet with the types that its texts fit.

For proposals and anonymization only. Questions read canonical snapshots, which are made from the
texts themselves: no type that follows from rows ever reaches the SQL of a question.

Every cell is read as text. A column is then *stored* as an integer, a number, a date or a boolean
only if each of its texts comes back letter by letter from that type. So the storage type is an
encoding, never a meaning: a row with an odd cell can make its column text again, and still every
other cell says exactly what it said (see docs/notes/0012-engines.md).
"""

from __future__ import annotations

from collections.abc import Collection

import duckdb

from discreet.engine.names import quoted

EVERY = ("BIGINT", "DOUBLE", "DATE", "BOOLEAN")
UNAMBIGUOUS = ("BIGINT", "BOOLEAN")
"""Types whose texts say the same in every spelling; 1.234 and 2024-03-04 do not."""
_SAMPLE = 2000
_AT_ONCE = 64
# No exponent: other readers of the text spell those differently.
_PLAIN_NUMBER = r"-?(0|[1-9][0-9]*)[.][0-9]+"
_CELL = "CELL"
_ENCODINGS: tuple[tuple[str, str], ...] = (
    ("BIGINT", "CAST(TRY_CAST(CELL AS BIGINT) AS VARCHAR) = CELL AND length(CELL) <= 18"),
    (
        "DOUBLE",
        (
            "CAST(TRY_CAST(CELL AS DOUBLE) AS VARCHAR) = CELL AND CELL <> '-0.0' "
            f"AND length(CELL) <= 25 AND regexp_full_match(CELL, '{_PLAIN_NUMBER}')"
        ),
    ),
    ("DATE", "CAST(TRY_CAST(CELL AS DATE) AS VARCHAR) = CELL AND length(CELL) = 10"),
    ("BOOLEAN", "CAST(TRY_CAST(CELL AS BOOLEAN) AS VARCHAR) = CELL"),
)


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


def encodings(
    connection: duckdb.DuckDBPyConnection,
    columns: list[str],
    table: str,
    kinds: Collection[str],
) -> dict[str, str]:
    """Return the columns of `table` whose every text survives another type, with that type."""
    tries = [
        (column, kind, test) for column in columns for kind, test in _ENCODINGS if kind in kinds
    ]
    few = f"(SELECT * FROM {table} LIMIT {_SAMPLE})"
    # The sample only saves time: what it suggests is checked on every row below.
    found = _holds(connection, [_every(test, column) for column, _, test in tries], few)
    likely: dict[str, tuple[str, str]] = {}
    for (column, kind, test), holds in zip(tries, found, strict=True):
        if holds:
            likely.setdefault(column, (kind, test))
    tests = [_every(test, column) for column, (_, test) in likely.items()]
    sure = _holds(connection, tests, table)
    return {
        column: kind
        for (column, (kind, _)), holds in zip(likely.items(), sure, strict=True)
        if holds
    }


def store_typed(
    connection: duckdb.DuckDBPyConnection,
    select: str,
    *,
    rough: str,
    target: str,
    kinds: Collection[str] = EVERY,
) -> None:
    """Write the texts of a SELECT as Parquet, each column in the type that spells it alike.

    `kinds` are the types that may be chosen: where a spelling is declared later, only those that
    have one text for each value in every spelling (see UNAMBIGUOUS).
    """
    texts = f"read_parquet({literal(rough)})"
    connection.execute(f"COPY ({select}) TO {literal(rough)} (FORMAT parquet)")
    columns = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {texts}").fetchall()]
    found = encodings(connection, columns, texts, kinds)
    cells = ", ".join(
        f"CAST({quoted(c)} AS {found[c]}) AS {quoted(c)}" if c in found else quoted(c)
        for c in columns
    )
    connection.execute(f"COPY (SELECT {cells} FROM {texts}) TO {literal(target)} (FORMAT parquet)")


def literal(text: str) -> str:
    """Return `text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"
