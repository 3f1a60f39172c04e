"""From outputs of any kind to numbers and words that an event can be made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Outputs = npt.NDArray[Any] | list[Any]
Column = npt.NDArray[Any]
MOST_PARTS = 64
"""Coordinates or keys of one output that are looked at."""
ABSENT = -1.7e308
"""Stands for a number that an output does not have."""
_ZERO = 5_000.0  # the grain of zero: coarser than that of any other number


@dataclass(frozen=True, slots=True)
class OutputPart:
    """What of an output is looked at: all of it, one coordinate, one key; and how."""

    words: str
    key: Any = None
    view: str = "value"


def parts_of(outputs: Outputs) -> list[OutputPart]:
    """Return what can be looked at, decided from these outputs alone."""
    if isinstance(outputs, np.ndarray):
        if outputs.ndim == 1:
            return _views("the output", None, outputs)
        columns = outputs.reshape(len(outputs), -1)[:, :MOST_PARTS]
        return [p for i in range(columns.shape[1]) for p in _views(f"number {i}", i, columns[:, i])]
    if all(isinstance(one, Mapping) for one in outputs):
        keys = sorted({key for one in outputs for key in one}, key=repr)[:MOST_PARTS]
        shown = [OutputPart(f"whether {key!r} is shown", key, "present") for key in keys]
        return shown + [
            part
            for key in keys
            if all(_is_number(one.get(key, 0)) for one in outputs)
            for part in _views(f"the number of {key!r}", key, _of_key(outputs, key))
        ]
    return [OutputPart("the output", None, "text")]


def _views(words: str, key: Any, values: Column) -> list[OutputPart]:
    if values.dtype.kind in "iub":
        return [OutputPart(words, key)]
    if values.dtype.kind == "f":
        # Which floating-point numbers are reachable at all can give the input away.
        return [OutputPart(words, key), OutputPart(f"the lowest bit of {words}", key, "grain")]
    return [OutputPart(words, key, "text")]


def column(outputs: Outputs, part: OutputPart) -> Column:
    """Return one number or word for each output."""
    if part.view == "present":
        return np.array([part.key in one for one in outputs], dtype=np.int64)
    if isinstance(outputs, np.ndarray):
        values = outputs if part.key is None else outputs.reshape(len(outputs), -1)[:, part.key]
    elif part.key is not None:
        values = _of_key(outputs, part.key)
    else:
        values = np.array([repr(one) for one in outputs], dtype=object)
    if part.view == "grain":
        return grain(values)
    return values.astype(object) if part.view == "text" else values


def grain(values: Column) -> npt.NDArray[np.float64]:
    """Return the exponent of the lowest bit that is set: 3.5 is a multiple of 2^-1.

    >>> grain(np.array([3.5, 1.0, 0.1])).tolist()
    [-1.0, 0.0, -55.0]
    """
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    exponent = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
    fraction = bits & np.uint64((1 << 52) - 1)
    whole = np.where(exponent > 0, fraction | np.uint64(1 << 52), fraction)
    lowest = whole & (~whole + np.uint64(1))
    with np.errstate(divide="ignore"):
        place = np.log2(lowest.astype(np.float64))
    found = np.maximum(exponent, 1) - 1075 + place
    return np.where(whole == 0, _ZERO, found)


def as_outputs(many: Sequence[Any] | Column) -> Outputs:
    """Return outputs as an array where they are numbers or vectors of one length, else as a list."""
    if isinstance(many, np.ndarray) and many.dtype.kind in "iubf":
        return many
    if all(_is_number(one) for one in many):
        return np.array(many)
    vectors = [one for one in many if isinstance(one, np.ndarray | list | tuple)]
    if len(vectors) == len(many) and len({np.shape(one) for one in vectors}) == 1:
        found = np.array([np.asarray(one) for one in vectors])
        if found.dtype.kind in "iubf":
            return found
    return list(many)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating | np.bool_)


def _of_key(outputs: Outputs, key: Any) -> Column:
    return np.array([one.get(key, ABSENT) for one in outputs], dtype=np.float64)
