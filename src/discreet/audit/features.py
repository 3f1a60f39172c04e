"""From outputs of any kind (numbers, vectors, tables within tables, words) to columns that an event is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Floats, Integers

Outputs = npt.NDArray[Any] | list[Any]
"""Many outputs: an array of numbers (or rows of numbers), or any objects in a list."""
OutputValues = npt.NDArray[Any]
Path = tuple[Any, ...]
"""Where in an output a number or word stands: keys and places, from the outside in."""
MOST_PARTS = 64
"""Coordinates or keys of one output that are looked at."""
MOST_PATTERNS = 4_096
"""Outputs with at most so many different forms are looked at as a whole, too."""
ABSENT = -1.7e308
"""Stands for a number that an output does not have."""
_ZERO = 5_000.0  # the grain of zero: coarser than that of any other number
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class OutputPart:
    """What of an output is looked at: all of it, or what stands at a path; and how."""

    words: str
    path: Path = ()
    view: str = "value"


@dataclass(frozen=True, slots=True, eq=False)
class PathValues:
    """What stands at one path: in which outputs, and the values there."""

    rows: Integers
    values: list[Any]

    def numbers(self, total: int) -> Floats:
        """Return a number for each output; ABSENT where there is none."""
        column = np.full(total, ABSENT)
        column[self.rows] = [float(x) if _is_number(x) else ABSENT for x in self.values]
        return column

    def texts(self, total: int) -> OutputValues:
        """Return a word for each output."""
        column = np.full(total, "nothing", dtype=object)
        column[self.rows] = [_said(value) for value in self.values]
        return column

    def present(self, total: int) -> OutputValues:
        """Return 1 for each output that has something here."""
        return np.bincount(self.rows, minlength=total)


_NOWHERE = PathValues(np.empty(0, dtype=np.int64), [])


class OpenedOutputs:
    """Outputs, opened once: what stands at each path, path by path."""

    def __init__(self, outputs: Outputs) -> None:
        self.outputs = outputs

    def __len__(self) -> int:
        return len(self.outputs)

    def every_second(self, first: int) -> OpenedOutputs:
        """Return half of the outputs."""
        return OpenedOutputs(self.outputs[first::2])

    @cached_property
    def opened(self) -> Mapping[Path, PathValues]:
        """What stands at each path; lengths of lists stand under their own."""
        rows: dict[Path, list[int]] = {}
        values: dict[Path, list[Any]] = {}
        for row, one in enumerate(self.outputs):
            for path, value in _leaves(one, ()):
                rows.setdefault(path, []).append(row)
                values.setdefault(path, []).append(value)
        return {p: PathValues(np.array(rows[p]), values[p]) for p in rows}

    @cached_property
    def whole(self) -> list[str]:
        """Each output as a word."""
        return [_said(one) for one in self.outputs]

    def column(self, part: OutputPart) -> OutputValues:
        """Return one number or word for each output."""
        if isinstance(self.outputs, np.ndarray) and part.view in ("value", "grain"):
            values = _of_array(self.outputs, part.path)
            if values is not None:
                return grain(values) if part.view == "grain" else values
        if part.view == "whole":
            return np.array(self.whole, dtype=object)
        found = self.opened.get(part.path, _NOWHERE)
        if part.view == "present":
            return found.present(len(self))
        if part.view == "text":
            return found.texts(len(self))
        numbers = found.numbers(len(self))
        return grain(numbers) if part.view == "grain" else numbers


class _Length:
    """The last step of a path to how long something is."""

    def __repr__(self) -> str:
        return "length"


LENGTH = _Length()


def _leaves(one: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(one, np.ndarray):
        one = one.tolist()
    if len(path) < _DEEPEST and isinstance(one, Mapping):
        for key, value in one.items():
            yield from _leaves(value, (*path, key))
    elif len(path) < _DEEPEST and isinstance(one, list | tuple):
        yield (*path, LENGTH), len(one)
        for place, value in enumerate(one[:MOST_PARTS]):
            yield from _leaves(value, (*path, place))
    else:
        yield path, one


def _of_array(outputs: npt.NDArray[Any], path: Path) -> OutputValues | None:
    if outputs.ndim == 1:
        return outputs if path == () else None
    flat = outputs.reshape(len(outputs), -1)
    if len(path) != outputs.ndim - 1 or LENGTH in path:
        return None
    try:
        place = int(np.ravel_multi_index(path, outputs.shape[1:]))
    except (ValueError, TypeError):
        return None
    return np.asarray(flat[:, place])


def parts_of(outputs: Outputs) -> list[OutputPart]:
    """Return what can be looked at, decided from these outputs alone."""
    seen = OpenedOutputs(outputs)
    whole = _whole(seen)
    if isinstance(seen.outputs, np.ndarray):
        return [*_parts_of_array(seen.outputs), *whole]
    opened = seen.opened
    common = sorted(opened, key=lambda path: (-len(opened[path].values), repr(path)))[:MOST_PARTS]
    found = [part for path in common for part in _parts_at(opened[path], path, len(seen))]
    # What is shown at all comes first: it is soon looked at, and tells most.
    form = [part for part in found if part.view == "present" or LENGTH in part.path]
    return [*form, *whole, *(part for part in found if part not in form)]


def _parts_of_array(outputs: npt.NDArray[Any]) -> list[OutputPart]:
    if outputs.ndim == 1:
        return _views("the output", (), outputs)
    shape = outputs.shape[1:]
    size = int(np.prod(shape))
    flat = outputs.reshape(len(outputs), -1)
    paths = [
        tuple(int(i) for i in np.unravel_index(k, shape)) for k in range(min(size, MOST_PARTS))
    ]
    return [p for i, path in enumerate(paths) for p in _views(_at(path), path, flat[:, i])]


def _parts_at(found: PathValues, path: Path, total: int) -> list[OutputPart]:
    words = _at(path)
    parts = []
    if len(found.values) < total:
        parts.append(OutputPart(f"whether {words} is shown", path, "present"))
    numbers = [value for value in found.values if _is_number(value)]
    if numbers:
        parts += _views(words, path, np.array(numbers))
    if len(numbers) < len(found.values):
        parts.append(OutputPart(words, path, "text"))
    return parts


def _whole(seen: OpenedOutputs) -> list[OutputPart]:
    """Return the part that is the whole output, where outputs of several numbers come again."""
    outputs = seen.outputs
    if isinstance(outputs, np.ndarray):
        if outputs.ndim == 1 or outputs.dtype.kind == "f":
            return []
        forms = len(np.unique(outputs.reshape(len(outputs), -1), axis=0))
    else:
        if set(seen.opened) == {()}:
            return []
        forms = len(set(seen.whole))
    few = forms <= min(MOST_PATTERNS, max(len(seen) // 4, 2))
    return [OutputPart("the whole output", (), "whole")] if few else []


def _views(words: str, path: Path, values: OutputValues) -> list[OutputPart]:
    if values.dtype.kind in "iub":
        return [OutputPart(words, path)]
    # Which floating-point numbers are reachable at all can give the input away.
    return [OutputPart(words, path), OutputPart(f"the lowest bit of {words}", path, "grain")]


def _at(path: Path) -> str:
    if path == ():
        return "the output"
    if path[-1] is LENGTH:
        return "the length" if len(path) == 1 else f"the length of {_at(path[:-1])}"
    steps = [f"number {step}" if isinstance(step, int) else f"{step!r}" for step in path]
    return " of ".join(reversed(steps))


def _said(one: Any) -> str:
    if isinstance(one, np.ndarray):
        return repr(one.tolist())
    return repr(one)


def grain(values: OutputValues) -> Floats:
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


def as_outputs(many: Sequence[Any] | OutputValues) -> Outputs:
    """Return outputs as an array where they are numbers or vectors of one length, else as a list."""
    if isinstance(many, np.ndarray) and many.dtype.kind in "iubf":
        return many
    if all(_is_number(one) for one in many):
        return np.array(many)
    vectors = [one for one in many if isinstance(one, np.ndarray | list | tuple)]
    if len(vectors) == len(many) and _one_shape(vectors):
        found = np.array([np.asarray(one) for one in vectors])
        if found.dtype.kind in "iubf":
            return found
    return list(many)


def _one_shape(vectors: Sequence[Any]) -> bool:
    try:
        return len({np.shape(one) for one in vectors}) == 1
    except ValueError:  # a vector of vectors of several lengths
        return False


def gathered(parts: Iterable[Outputs]) -> Outputs:
    """Return outputs that came in several calls as one: an array only where all of them have one form."""
    found = list(parts)
    arrays = [part for part in found if isinstance(part, np.ndarray)]
    if len(arrays) == len(found) and len({(a.shape[1:], a.dtype.kind) for a in arrays}) == 1:
        return np.concatenate(arrays)
    return [one for part in found for one in part]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating | np.bool_)
