"""Synthetic rows as files: CSV with harmless cells, or Parquet with types."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from discreet.errors import InvalidInput
from discreet.synth.decode import text_array

# Spreadsheets run cells that begin with these as formulas.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
SUFFIXES = (".csv", ".parquet")


def check_out(path: Path) -> Path:
    """Return `path` if rows can be written there; refuse it before anything is paid."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(
            f"'{path.name}' is neither a .csv nor a .parquet file.",
            hint="Write --out NAME.csv or --out NAME.parquet.",
        )
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder '{path.parent}' to write to.")
    return path


def write_rows(table: pa.Table, path: Path) -> None:
    """Write the rows to `path`, as CSV or Parquet by its ending."""
    check_out(path)
    try:
        if path.suffix.lower() == ".parquet":
            pq.write_table(table, path)
        else:
            arrow_csv.write_csv(harmless(table), path)
    except OSError:
        raise InvalidInput(f"The file '{path}' cannot be written.") from None


def harmless(table: pa.Table) -> pa.Table:
    """Return the table as text safe for spreadsheets: a word that begins a formula gets an apostrophe."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        safe = _safe(name)
        columns[safe] = _safe_words(column) if pa.types.is_string(column.type) else column
    return pa.table(columns)


def _safe_words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    words = text_array([_safe(word) for word in coded.dictionary.to_pylist()])
    return pa.chunked_array([words.take(coded.indices)])


def _safe(word: str) -> str:
    return f"'{word}" if word.startswith(_FORMULA_STARTS) else word
