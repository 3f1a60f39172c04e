"""From codes back to values: a place inside each bin, then numbers, days, words and made-up names."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.synth.columns import Coded, Encoding, MadeUp
from discreet.synth.shape import Codes

Places = npt.NDArray[np.int64]
"""Rows by coded columns: the position of each value in its column's domain, -1 for NULL."""

NULL = -1
_EPOCH = dt.date(1970, 1, 1)


def places_of(
    codes: Codes,
    encoding: Encoding,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> Places:
    """Return the position of every cell: uniform on the lattice inside its bin, -1 for missing."""
    found = np.empty(codes.shape, dtype=np.int64)
    for i, column in enumerate(encoding.coded):
        found[:, i] = _places(codes[:, i].astype(np.int64), column, dice)
    return found


def _places(
    codes: npt.NDArray[np.int64],
    column: Coded,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> npt.NDArray[np.int64]:
    missing = codes >= column.values
    known = np.where(missing, 0, codes)
    if column.edges is not None:
        spans = np.array([column.span(code) for code in range(column.values)], dtype=np.int64)
        known = dice.integers(spans[known, 0], spans[known, 1])
    return np.where(missing, NULL, known)


def to_table(
    places: Places,
    encoding: Encoding,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> pa.Table:
    """Return the rows with the types of the real table; identifiers are made up."""
    columns: dict[str, pa.Array] = {}
    at = 0
    for column in encoding.columns:
        if isinstance(column, MadeUp):
            columns[column.name] = _made_up(len(places), whole=column.whole)
            continue
        columns[column.name] = _values(places[:, at], column, dice)
        at += 1
    return pa.table(columns)


def _made_up(rows: int, *, whole: bool) -> pa.Array:
    numbers = np.arange(1, rows + 1, dtype=np.int64)
    if whole:
        return pa.array(numbers)
    width = len(str(rows))
    return pa.array([f"id-{number:0{width}}" for number in numbers.tolist()], pa.string())


def _values(
    places: npt.NDArray[np.int64],
    column: Coded,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> pa.Array:
    gaps = places == NULL
    known = np.where(gaps, 0, places)
    match column.domain:
        case IntegerDomain(lower=lower):
            return pa.array(known + lower, mask=gaps)
        case NumberDomain(lower=lower, step=step):
            return pa.array(_numbers(known + int(lower / step), step), mask=gaps)
        case CategoryDomain(values=values):
            indices = pa.array(known.astype(np.int32), mask=gaps)
            return pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string())).cast(
                pa.string()
            )
        case BooleanDomain():
            return pa.array(known.astype(bool), mask=gaps)
        case DateDomain(lower=first):
            days = known + (first - _EPOCH).days
            return pa.array(days.astype(np.int32), pa.int32(), mask=gaps).cast(pa.date32())
        case TimestampDomain() as domain:
            seconds = _seconds(known, domain, dice)
            return pa.array(seconds, pa.int64(), mask=gaps).cast(pa.timestamp("s"))


def _numbers(steps: npt.NDArray[np.int64], step: Fraction) -> npt.NDArray[np.float64]:
    # A whole number divided by a whole number rounds once, so 10.07 is written as 10.07.
    return steps.astype(np.float64) * step.numerator / step.denominator


def _seconds(
    days: npt.NDArray[np.int64],
    domain: TimestampDomain,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the codes are paid for
) -> npt.NDArray[np.int64]:
    """Return a second of each day, uniform, inside the declared first and last moment."""
    zero = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # declared moments have no zone
    low = (domain.lower - zero) // dt.timedelta(seconds=1)
    high = (domain.upper - zero) // dt.timedelta(seconds=1)
    start = ((domain.lower.date() - _EPOCH).days + days) * 86_400
    return dice.integers(np.maximum(start, low), np.minimum(start + 86_399, high), endpoint=True)


def value_at(column: Coded, place: int) -> Any:
    """Return the value at one position as rules see it: a timestamp is its day, NULL is None."""
    if place == NULL:
        return None
    if isinstance(column.domain, TimestampDomain):
        return column.domain.lower.date() + dt.timedelta(days=place)
    return column.domain.value(place)
