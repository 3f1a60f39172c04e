"""Columns of two tables as common codes: what links people, and whom it singles out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.anonymize.groups import packed
from discreet.core.arrays import Integers

MISSING = -1
MOST_SUBSETS = 255
"""All subsets of eight columns; of more columns only the smaller subsets are tried."""
MOST_ROWS = 40_000_000
"""Rows that are looked at for all subsets together; each subset takes a pass over the table."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyColumn:
    """One column of both tables in common codes, MISSING where nothing is known.

    For dates the code is a number of days; for everything else `values` has the texts.
    """

    name: str
    first: Integers
    second: Integers
    values: tuple[str, ...] | None

    @property
    def is_date(self) -> bool:
        """Return whether codes are days, which can be near each other."""
        return self.values is None


def coded(name: str, first: pa.ChunkedArray, second: pa.ChunkedArray) -> KeyColumn:
    """Return a column of two tables in common codes; text is compared without outer blanks."""
    days, more = _days(first), _days(second)
    if days is not None and more is not None:
        return KeyColumn(name, days, more, None)
    texts = [pc.utf8_trim_whitespace(part.cast(pa.string())) for part in (first, second)]
    texts = [pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text) for text in texts]
    values = pc.drop_null(pc.unique(pa.chunked_array([*texts[0].chunks, *texts[1].chunks])))
    codes = [
        pc.fill_null(pc.index_in(text, values), MISSING).to_numpy().astype(np.int64)
        for text in texts
    ]
    return KeyColumn(name, codes[0], codes[1], tuple(values.to_pylist()))


def _days(column: pa.ChunkedArray) -> Integers | None:
    """Return days since 1970 where every known cell is a date, otherwise None."""
    if not (pa.types.is_date(column.type) or pa.types.is_string(column.type)):
        return None
    try:
        found = column.cast(pa.date32()).cast(pa.int32())
    except pa.ArrowException:
        return None
    if len(found) and found.null_count == len(found):
        return None
    # Days before 1970 are negative, and a negative code means "missing".
    shifted = pc.add(found.cast(pa.int64()), _EPOCH)
    days: Integers = pc.fill_null(shifted, MISSING).to_numpy().astype(np.int64)
    return days


_EPOCH = 800_000
"""Days from before the year 1 to 1970."""


def keys(columns: Sequence[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    """Return one number for each combination of codes, the same in both tables; MISSING if any is.

    >>> first, second = keys([(np.array([0, 1, -1]), np.array([1])), (np.array([0, 2, 0]), np.array([2]))])
    >>> bool(first[1] == second[0]), int(first[2])
    (True, -1)
    """
    codes = np.stack([np.concatenate(pair) for pair in columns])
    known = np.maximum(codes, 0)
    total, _ = packed(list(known), [int(column.max(initial=0)) + 1 for column in known])
    total[(codes < 0).any(axis=0)] = MISSING
    cut = len(columns[0][0])
    return total[:cut], total[cut:]


def singled_out(key: Integers) -> float:
    """Return the share of rows whose key nobody else has; a row with a missing value hides."""
    if not len(key):
        return 0.0
    _, counts = np.unique(key[key != MISSING], return_counts=True)
    return float((counts == 1).sum()) / len(key)


def subsets(columns: Sequence[str], *, most: int = MOST_SUBSETS) -> list[tuple[str, ...]]:
    """Return the subsets of the columns, small ones first, at most `most`; all columns are the last.

    >>> subsets(["zip", "sex"])
    [('zip',), ('sex',), ('zip', 'sex')]
    """
    smaller = chain.from_iterable(combinations(columns, n) for n in range(1, len(columns)))
    return [*islice(smaller, max(0, most - 1)), tuple(columns)]


def uniqueness(
    table: pa.Table, columns: Sequence[str], *, largest: int | None = None
) -> dict[tuple[str, ...], float]:
    """Return for subsets of columns the share of rows that each singles out.

    All subsets of at most `largest` columns, or fewer of them where the table is long; and always all
    columns together.
    """
    empty = table.slice(0, 0)
    found = {name: coded(name, table[name], empty[name]).first for name in columns}
    nothing = np.empty(0, dtype=np.int64)
    most = min(MOST_SUBSETS, max(len(columns) + 1, MOST_ROWS // max(1, table.num_rows)))
    return {
        subset: singled_out(keys([(found[name], nothing) for name in subset])[0])
        for subset in subsets(columns, most=most)
        if largest is None or len(subset) <= largest or len(subset) == len(columns)
    }


def narrowed(table: pa.Table, row: int, columns: Sequence[str]) -> list[int]:
    """Return how many rows equal this one in the first column, in the first two, and so on."""
    same = np.ones(table.num_rows, dtype=np.bool_)
    counts = []
    for name in columns:
        equal = pc.fill_null(pc.equal(table[name], table[name][row]), fill_value=False)
        same &= np.asarray(equal.to_numpy(), dtype=np.bool_)
        counts.append(int(same.sum()))
    return counts
