"""From codes back to values: numbers, days, words and made-up names, and how a copy is written as CSV."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TimestampDomain,
)
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.files import FileKind, delimiter, find_files, is_open, quoted_names
from discreet.errors import DiscreetError
from discreet.measure.columns import Coded, Encoding, MadeUpIdentifier, day_domain
from discreet.measure.shape import Codes
from discreet.show.rows import CsvStyle

Places = Integers
"""Rows by coded columns: the position of each value in its column's domain, -1 for NULL."""

NULL = -1


def day_number(day: dt.date) -> int:
    """Return a day as so many days since 1970."""
    return (day - dt.date(1970, 1, 1)).days


def places_of(
    codes: Codes,
    encoding: Encoding,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> Places:
    """Return the position of every cell: uniform on the lattice inside its bin, -1 for missing."""
    found = np.empty(codes.shape, dtype=np.int64, order="F")  # read and written by column
    for i, column in enumerate(encoding.coded):
        found[:, i] = _places(codes[:, i].astype(np.int64), column, dice)
    return found


def _places(
    codes: Integers,
    column: Coded,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> Integers:
    missing = codes >= column.values
    known = np.where(missing, 0, codes) if column.missing else codes
    if column.edges is not None:
        spans = np.array([column.span(code) for code in range(column.values)], dtype=np.int64)
        known = dice.integers(spans[known, 0], spans[known, 1])
    return np.where(missing, NULL, known) if column.missing else known


def to_table(
    places: Places,
    encoding: Encoding,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
    *,
    first: int = 1,
    rows: int | None = None,
) -> pa.Table:
    """Return the rows with the types of the real table; identifiers are made up, from `first` on.

    `rows` is how many there are in all, of which these may be a part.
    """
    most = len(places) if rows is None else rows
    columns: dict[str, pa.Array] = {}
    at = 0
    for column in encoding.columns:
        if isinstance(column, MadeUpIdentifier):
            numbers = np.arange(first, first + len(places), dtype=np.int64)
            columns[column.name] = made_up_values(numbers, column, most)
            continue
        columns[column.name] = _values(places[:, at], column, dice)
        at += 1
    return pa.table(columns)


def made_up_values(numbers: Integers, column: MadeUpIdentifier, most: int) -> pa.Array:
    """Return identifiers with these numbers, as wide as the greatest of them needs."""
    if column.whole:
        return _array(numbers.astype(np.int64), pa.int64())
    digits = len(str(most))
    return text_array([f"id-{number:0{digits}}" for number in numbers.tolist()])


def text_array(texts: Sequence[str]) -> pa.Array:
    """Return an Arrow array of texts. Not pa.array(): that imports pandas, which takes seconds."""
    parts = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(parts))]
    return pa.Array.from_buffers(pa.large_string(), len(parts), buffers).cast(pa.string())


def _array(values: npt.NDArray[Any], kind: pa.DataType, gaps: Bits | None = None) -> pa.Array:
    """Return an Arrow array over these numbers; like `text_array` without pandas."""
    data = np.packbits(values, bitorder="little") if kind == pa.bool_() else values
    valid = None
    if gaps is not None and gaps.any():
        valid = pa.py_buffer(np.packbits(~gaps, bitorder="little"))
    buffers = [valid, pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def _values(
    places: Integers,
    column: Coded,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> pa.Array:
    gaps = places == NULL if column.missing else None
    known = places if gaps is None else np.where(gaps, 0, places)
    match column.domain:
        case IntegerDomain(lower=lower):
            return _array(known + lower, pa.int64(), gaps)
        case NumberDomain(lower=lower, step=step):
            return _array(_numbers(known + int(lower / step), step), pa.float64(), gaps)
        case CategoryDomain(values=values):
            indices = _array(known.astype(np.int32), pa.int32(), gaps)
            return text_array(values).take(indices)
        case BooleanDomain():
            return _array(known.astype(bool), pa.bool_(), gaps)
        case DateDomain(lower=first):
            days = known + day_number(first)
            return _array(days.astype(np.int32), pa.date32(), gaps)
        case TimestampDomain() as domain:
            return _array(_seconds(known, domain, dice), pa.timestamp("s"), gaps)


def _numbers(steps: Integers, step: Fraction) -> Floats:
    # A whole number divided by a whole number rounds once, so 10.07 is written as 10.07.
    return steps.astype(np.float64) * step.numerator / step.denominator


def _seconds(
    days: Integers,
    domain: TimestampDomain,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> Integers:
    """Return a second of each day, uniform, inside the declared first and last moment."""
    zero = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # declared moments have no zone
    low = (domain.lower - zero) // dt.timedelta(seconds=1)
    high = (domain.upper - zero) // dt.timedelta(seconds=1)
    start = (day_number(domain.lower.date()) + days) * 86_400
    return dice.integers(np.maximum(start, low), np.minimum(start + 86_399, high), endpoint=True)


def value_at(column: Coded, place: int) -> Any:
    """Return the value at one position as rules see it: a timestamp is its day, NULL is None."""
    return None if place == NULL else day_domain(column.domain).value(place)


MOST_DECIMALS = 12


def decimals_of(columns: Sequence[Coded | MadeUpIdentifier]) -> dict[str, int]:
    """Return how many digits follow the point in each column of numbers, by its step."""
    found = {}
    for column in columns:
        if isinstance(column, Coded) and isinstance(column.domain, NumberDomain):
            digits = _digits(column.domain.step)
            if digits is not None:
                found[column.name] = digits
    return found


def _digits(step: Fraction) -> int | None:
    """Return how many decimals the multiples of a step have, None where they never end.

    >>> _digits(Fraction(1, 4)), _digits(Fraction(5)), _digits(Fraction(1, 3))
    (2, 0, None)
    """
    return next((d for d in range(MOST_DECIMALS + 1) if (step * 10**d).denominator == 1), None)


def source_style(catalog: Catalog, table: Table) -> dict[str, Any]:
    """Return how the source of a table separates and quotes, where it is a CSV file.

    Guarantee: reads the first line alone, which names the columns and is public; of several files none,
        since which is the first may depend on a person.
    """
    if is_open(table.source, catalog.base):
        return {}
    try:
        files = find_files(table.name, table.source, catalog.base, table.encoding)
        if files.kind is not FileKind.CSV:
            return {}
        first = files.paths[0]
        quoted = quoted_names(first, files.encoding, files.part)
        return CsvStyle(delimiter(first, files.encoding, files.part), quoted).to_json()
    except (DiscreetError, OSError, ValueError):
        return {}  # a table on a server, or a file in another form
