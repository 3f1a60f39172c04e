"""Rows as files: CSV with cells that no spreadsheet runs, or Parquet with its types."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from discreet.errors import InvalidInput
from discreet.report.csv_text import CsvStyle, write_csv_text
from discreet.report.save import check_target

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
