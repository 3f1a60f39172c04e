"""Public files, read by a model's declarations: each row becomes codes, in the order of the file.

For test files that the owner has declared public, and for rows to be predicted. Nothing here is private.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Integers
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.data.engines.files import delimiter
from discreet.errors import InvalidInput
from discreet.measure.columns import Coded, day_domain
from discreet.measure.shape import Codes

_TRUE, _FALSE = {"true", "t", "yes", "1"}, {"false", "f", "no", "0"}


def read_table(path: Path) -> pa.Table:
    """Return the rows of a CSV or Parquet file; a CSV is read as text."""
    if not path.is_file():
        raise InvalidInput(f"There is no file '{path}'.")
    with _readable(path):
        return rows_as_written(path)


def check_columns(path: Path, needed: Iterable[str]) -> None:
    """Refuse a file that lacks a column, from its header alone."""
    with _readable(path):
        known = {name.lower() for name in _names(path)}
    wanted = list(needed)
    for name in wanted:
        if name.lower() not in known:
            raise InvalidInput(
                f"'{path.name}' has no column '{name}', which the model needs.",
                hint=f"It needs: {', '.join(wanted)}. Nothing was charged.",
            )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError):
        raise InvalidInput(
            f"'{path.name}' cannot be read.", hint="It must be a CSV or a Parquet file."
        ) from None


def rows_as_written(path: Path) -> pa.Table:
    """Return the rows of a file, cells of a CSV as text; errors are the library's, and may quote a cell.

    Text keeps the zeros of "02139".
    """
    from pyarrow import csv, parquet

    if _is_parquet(path):
        return parquet.read_table(path)
    texts = dict.fromkeys(_names(path), pa.string())
    convert = csv.ConvertOptions(column_types=texts, null_values=[""], strings_can_be_null=True)
    return csv.read_csv(path, parse_options=_parsing(path), convert_options=convert)


def _names(path: Path) -> list[str]:
    from pyarrow import csv, parquet

    if _is_parquet(path):
        return list(parquet.read_schema(path).names)
    with csv.open_csv(path, parse_options=_parsing(path)) as reader:
        return list(reader.schema.names)


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _parsing(path: Path) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter=delimiter(path), newlines_in_values=True)


def codes_of_table(table: pa.Table, columns: tuple[Coded, ...]) -> Codes:
    """Return the code of every cell; -1 for a gap in a column that has no code for gaps."""
    place = {name.lower(): i for i, name in enumerate(table.column_names)}
    found = np.empty((table.num_rows, len(columns)), dtype=np.int32, order="F")
    for i, column in enumerate(columns):
        if column.name.lower() not in place:
            raise InvalidInput(
                f"The file has no column '{column.name}', which the model needs.",
                hint=f"It needs: {', '.join(each.name for each in columns)}.",
            )
        found[:, i] = codes_of_column(table.column(place[column.name.lower()]), column)
    return found


def codes_of_column(values: pa.ChunkedArray, column: Coded) -> Integers:
    """Return the codes of one column; each different value is looked at once."""
    encoded = values.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    gap = column.values if column.missing else -1
    place = _PLACES[type(day_domain(column.domain))]
    known = [
        _code(place(value, day_domain(column.domain)), column, gap)
        for value in encoded.dictionary.to_pylist()
    ]
    table = np.array([*known, gap], dtype=np.int64)
    indices = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    return np.asarray(table[indices.astype(np.int64)])


def _code(place: int | None, column: Coded, gap: int) -> int:
    if place is None:
        return gap
    if not 0 <= place < column.positions:
        if not column.open_ends:
            return gap
        place = min(max(place, 0), column.positions - 1)
    if column.edges is None:
        return place
    return int(np.searchsorted(np.array(column.edges), place, side="right")) - 1


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _whole_place(value: Any, domain: Any) -> int | None:
    found = _number(value)
    return None if found is None or found != int(found) else int(found) - int(domain.lower)


def _number_place(value: Any, domain: Any) -> int | None:
    found = _number(value)
    if found is None:
        return None
    # To the nearest step, ties upwards, as the engine reads it.
    lower, step = Fraction(domain.lower), Fraction(domain.step)
    return math.floor(Fraction(found) / step + Fraction(1, 2)) - int(lower / step)


def _word_place(value: Any, domain: Any) -> int | None:
    text = value if isinstance(value, str) else str(value)
    found: int | None = domain.position(text)
    return found


def _truth_place(value: Any, _domain: Any) -> int | None:
    word = str(value).strip().lower()
    return 1 if word in _TRUE else 0 if word in _FALSE else None


def _day_place(value: Any, domain: Any) -> int | None:
    try:
        day = value if isinstance(value, dt.date) else dt.date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
    day = day.date() if isinstance(day, dt.datetime) else day
    lower: dt.date = domain.lower
    return (day - lower).days


_PLACES: dict[type, Callable[[Any, Any], int | None]] = {
    IntegerDomain: _whole_place,
    NumberDomain: _number_place,
    CategoryDomain: _word_place,
    BooleanDomain: _truth_place,
    DateDomain: _day_place,
}
