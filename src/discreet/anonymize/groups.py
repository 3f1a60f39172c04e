"""Groups: the distinct combinations of quasi-identifiers of a table, as small integers with counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.arrays import Integers
from discreet.errors import InvalidInput

CellValue: TypeAlias = str | int | float | bool | date | None

_MOST_KEYS = 1 << 62


@dataclass(frozen=True, slots=True)
class Sensitive:
    """The sensitive column: how often each of its values stands beside each combination.

    Three arrays of the same length: `group[i]` is a combination, `codes[i]` a value, `rows[i]` how
    many rows have both. `values` is in order (numbers by size, texts by letters, missing last).
    """

    column: str
    values: tuple[CellValue, ...] = field(repr=False)
    group: Integers = field(repr=False)
    codes: Integers = field(repr=False)
    rows: Integers = field(repr=False)


@dataclass(frozen=True, slots=True)
class Groups:
    """All rows of a table, as far as quasi-identifiers tell them apart. Private: repr hides it.

    `codes[j, i]` is the value of column j in combination i, an index into `values[j]`, which is in
    order; `rows[i]` is how many rows have combination i.
    """

    quasi: tuple[str, ...]
    values: tuple[tuple[CellValue, ...], ...] = field(repr=False)
    codes: Integers = field(repr=False)
    rows: Integers = field(repr=False)
    sensitive: Sensitive | None = field(default=None, repr=False)

    @property
    def total(self) -> int:
        """Return the number of rows."""
        return int(self.rows.sum())

    @property
    def combinations(self) -> int:
        """Return the number of distinct combinations."""
        return len(self.rows)


def packed(columns: Sequence[Integers], sizes: Sequence[int]) -> tuple[Integers, int]:
    """Return one integer for each position, equal where all columns are, and a limit above all."""
    length = len(columns[0]) if columns else 0
    key, limit = np.zeros(length, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if size <= 1:
            continue
        if limit * size > _MOST_KEYS:
            _, key = np.unique(key, return_inverse=True)
            limit = int(key.max(initial=0)) + 1
        key = key * size + column
        limit *= size
    return key, limit


def group_table(
    table: pa.Table, quasi: Sequence[str], *, sensitive: str | None = None, count: str | None = None
) -> Groups:
    """Return the groups of an Arrow table; `count` names the column that says how often a row is there.

    The table may hold raw rows (no `count`) or the result of a GROUP BY.

    >>> group_table(pa.table({"sex": ["F", "M", "F"]}), ["sex"]).rows.tolist()
    [2, 1]
    """
    _check_columns(table.column_names, quasi, sensitive)
    if table.num_rows == 0:
        raise InvalidInput("There are no rows.", hint="Give a table with at least one row.")
    encoded = [_encode(table.column(name)) for name in quasi]
    weight = (
        np.ones(table.num_rows, dtype=np.int64)
        if count is None
        else numbers_of(table.column(count).combine_chunks())
    )
    columns = [codes for codes, _ in encoded]
    key, _ = packed(columns, [len(values) for _, values in encoded])
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    rows = np.bincount(group, weights=weight).astype(np.int64)
    return Groups(
        tuple(quasi),
        tuple(values for _, values in encoded),
        np.stack([codes[first] for codes in columns]),
        rows,
        None if sensitive is None else _sensitive(table, sensitive, group, weight),
    )


def _sensitive(table: pa.Table, name: str, group: Integers, weight: Integers) -> Sensitive:
    codes, values = _encode(table.column(name))
    key, inverse = np.unique(group * len(values) + codes, return_inverse=True)
    rows = np.bincount(inverse, weights=weight).astype(np.int64)
    return Sensitive(name, values, key // len(values), key % len(values), rows)


def _check_columns(known: Sequence[str], quasi: Sequence[str], sensitive: str | None) -> None:
    if not quasi:
        raise InvalidInput(
            "No quasi-identifier was named.",
            hint="Name the columns that others may know, for example --quasi zip,birth,sex.",
        )
    for name in (*quasi, *(() if sensitive is None else (sensitive,))):
        if name not in known:
            raise InvalidInput(
                f"There is no column '{name}'.", hint=f"The columns are: {', '.join(known)}."
            )
    if len(set(quasi)) < len(quasi):
        raise InvalidInput("A quasi-identifier is named twice.")
    if sensitive in quasi:
        raise InvalidInput(
            f"The column '{sensitive}' is both a quasi-identifier and the sensitive column.",
            hint="A column that others know is a quasi-identifier; name another sensitive one.",
        )


def _encode(column: pa.ChunkedArray) -> tuple[Integers, tuple[CellValue, ...]]:
    """Return codes that follow the order of the values, and the values. NaN counts as missing."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    elif pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    found: list[CellValue] = coded.dictionary.to_pylist()
    order = sorted(range(len(found)), key=lambda index: _order(found[index]))
    place = np.empty(len(found), dtype=np.int64)
    place[order] = np.arange(len(found))
    codes = place[numbers_of(coded.indices)]
    return codes, tuple(found[index] for index in order)


def numbers_of(array: pa.Array) -> Integers:
    """Return an Arrow array of integers, none missing, as numpy.

    Arrow's own `to_numpy` imports pandas where it is installed, which takes longer than the rest.
    """
    whole = array.cast(pa.int64())
    return np.asarray(np.from_dlpack(whole), dtype=np.int64) if len(whole) else np.zeros(0, int)


def _order(value: CellValue) -> tuple[int, float, str]:
    if value is None:
        return (2, 0.0, "")
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value))


def spelled(value: CellValue) -> str:
    """Return a value as hierarchy files write it; a missing one is the empty text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
