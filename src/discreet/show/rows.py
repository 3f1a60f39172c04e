"""Rows as files: Parquet with its types, or CSV that no spreadsheet runs, or written as its source writes it.

Arrow's own writer puts every text and every name into quotes and drops trailing zeros.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from discreet.errors import InvalidInput
from discreet.show.document import check_target

ROW_FILES = (".csv", ".parquet")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_FORMULA = r"\A[=+\-@\t\r]"  # the same as a pattern: an array of them would import pandas


def write_rows(
    table: pa.Table, path: Path, *, delimiter: str = ",", style: CsvStyle | None = None
) -> None:
    """Write the rows to `path`, as CSV or Parquet by its ending; CSV in a `style` if one is given."""
    check_target(path, ROW_FILES)
    try:
        if path.suffix.lower() == ".parquet":
            pq.write_table(table, path)
        elif style is not None:
            write_csv_text(harmless(table), path, style)
        elif table.num_columns == 1 and table.column(0).null_count:
            write_csv_text(harmless(table), path, CsvStyle(delimiter, quoted=True))
        else:
            options = arrow_csv.WriteOptions(delimiter=delimiter)
            arrow_csv.write_csv(harmless(table), path, write_options=options)
    except OSError:
        raise InvalidInput(f"The file '{path}' cannot be written.") from None


def harmless(table: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before every text that a spreadsheet would run."""
    columns = [_safe_words(column) for column in table.columns]
    return pa.table(columns, names=[_safe(name) for name in table.column_names])


def _safe_words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    risky = pc.match_substring_regex(column, _FORMULA)
    if not pc.any(risky).as_py():
        return column
    return pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)


def _safe(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


AT_ONCE = 1 << 16
_DIGITS = 28
"""Digits of a number with fixed decimals: more than a float has."""


@dataclass(frozen=True, slots=True)
class CsvStyle:
    """How a CSV file is written: its separator, whether all names and texts stand in quotes.

    `decimals` has, by column, how many digits follow the point.
    """

    delimiter: str = ","
    quoted: bool = False
    decimals: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return separator and quotes as plain facts; decimals follow from the columns."""
        return {"delimiter": self.delimiter, "quoted": self.quoted}


def style_from(facts: object, decimals: Mapping[str, int]) -> CsvStyle:
    """Return the style that plain facts say; the usual one where they say nothing sensible."""
    found = facts if isinstance(facts, dict) else {}
    mark = found.get("delimiter")
    delimiter = mark if mark in {",", ";", "\t", "|"} else ","
    return CsvStyle(delimiter, found.get("quoted") is True, decimals)


def write_csv_text(table: pa.Table, path: Path, style: CsvStyle) -> None:
    """Write a table; gaps are empty, an empty text is two quotes.

    A gap of a single column is two quotes, too: a blank line is no row to those who read it.
    """
    with path.open("wb") as file:
        names = pa.array(table.column_names, pa.string())
        file.write(style.delimiter.join(_words(names, style).to_pylist()).encode() + b"\n")
        for batch in table.to_batches(max_chunksize=AT_ONCE):
            if batch.num_rows:
                file.write(_text(batch, style))


def _text(batch: pa.RecordBatch, style: CsvStyle) -> bytes:
    cells = [
        _cells(batch.column(i), style, style.decimals.get(name))
        for i, name in enumerate(batch.schema.names)
    ]
    mark = pa.scalar(style.delimiter, pa.large_string())
    gap = '""' if len(cells) == 1 else ""
    lines = pc.binary_join_element_wise(*cells, mark, null_handling="replace", null_replacement=gap)
    return ("\n".join(lines.to_pylist()) + "\n").encode()


def _cells(column: pa.Array, style: CsvStyle, decimals: int | None) -> pa.Array:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _words(column.cast(pa.large_string()), style)
    if decimals is not None and pa.types.is_floating(kind):
        column = column.cast(pa.decimal128(_DIGITS, decimals))
    return column.cast(pa.string()).cast(pa.large_string())


def _words(column: pa.Array, style: CsvStyle) -> pa.Array:
    column = column.cast(pa.large_string())
    inner = pc.replace_substring(column, '"', '""')
    quote, nothing = (pa.scalar(text, pa.large_string()) for text in ('"', ""))
    quoted = pc.binary_join_element_wise(quote, inner, quote, nothing)
    if style.quoted:
        return quoted
    # A text of spaces, or an empty one, would be read as a gap.
    needed = pc.match_substring_regex(column, rf'["\r\n{re.escape(style.delimiter)}]|^\s|\s$|^$')
    return pc.if_else(needed, quoted, column)
