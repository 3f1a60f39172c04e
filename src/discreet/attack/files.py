"""Files that a user hands to an attack: read as they are, columns found by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from discreet.errors import InvalidInput
from discreet.learn.scored.read_file import rows_as_written


def read_rows(path: str | Path) -> pa.Table:
    """Return the rows of a Parquet or CSV file; cells of a CSV file stay text, as they are written.

    Text keeps the zeros of "02139": two files are compared by what stands in them.
    """
    place = Path(path)
    if not place.is_file():
        raise InvalidInput(f"There is no file '{place}'.")
    try:
        table = rows_as_written(place)
    except (pa.ArrowException, OSError, UnicodeError):
        # The library's own words may quote a cell.
        raise InvalidInput(
            f"The file '{place}' could not be read as CSV or Parquet.",
            hint="Every line must have as many cells as the first.",
        ) from None
    if not table.num_rows:
        raise InvalidInput(f"The file '{place}' has no rows.")
    return table


def named(table: pa.Table, columns: Sequence[str], *, label: str) -> tuple[str, ...]:
    """Return the columns as the table spells them, without regard to case."""
    known = {name.lower(): name for name in table.column_names}
    for column in columns:
        if column.lower() not in known:
            raise InvalidInput(
                f"{label} has no column '{column}'.",
                hint=f"It has: {', '.join(table.column_names)}.",
            )
    return tuple(known[column.lower()] for column in columns)


def as_texts(tables: Sequence[pa.Table], columns: Sequence[str]) -> pa.Table:
    """Return these columns of several files one below the other, as texts."""
    return pa.concat_tables(
        table.select(named(table, columns, label="The file"))
        .rename_columns(list(columns))
        .cast(pa.schema([(name, pa.string()) for name in columns]))
        for table in tables
    )


def common(first: pa.Table, second: pa.Table) -> tuple[str, ...]:
    """Return the columns that both tables have, as the first spells them."""
    theirs = {name.lower() for name in second.column_names}
    shared = tuple(name for name in first.column_names if name.lower() in theirs)
    if not shared:
        raise InvalidInput(
            "The two files have no column in common, so nothing can be linked.",
            hint="Rename the columns that mean the same, or name others with columns.",
        )
    return shared
