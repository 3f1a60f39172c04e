"""A release with its people and as many control strangers, and which rows are nearest to each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.anonymize.hierarchy.levels import read_hierarchies
from discreet.attack.release_risk.cells import NOTHING, Gaps, ReleaseColumn, column_of
from discreet.core.arrays import Bits, Integers
from discreet.errors import InvalidInput

_TARGETS_A_CHUNK = 256


@dataclass(frozen=True, slots=True, eq=False)
class ComparedPeople:
    """A release beside people: places 0 to `size` - 1 are its own, the next `size` are strangers."""

    columns: Mapping[str, ReleaseColumn]
    rows: int
    size: int

    def nearest(self, names: Sequence[str], people: Integers) -> Iterator[tuple[int, Bits]]:
        """Yield each person with the rows of the release that are nearest in these columns."""
        for start in range(0, len(people), _TARGETS_A_CHUNK):
            some = people[start : start + _TARGETS_A_CHUNK]
            total: Gaps = np.zeros((len(some), self.rows), dtype=np.float32)
            for name in names:
                total += self.columns[name].gaps(some)
            near = total <= total.min(1, keepdims=True) + 1e-6
            yield from zip(some.tolist(), near, strict=True)


def parties_of(
    released: pa.Table,
    original: pa.Table,
    control: pa.Table,
    *,
    rng: np.random.Generator,
    columns: Sequence[str] = (),
    hierarchies: Path | None = None,
) -> ComparedPeople:
    """Return the three groups over their common columns, original and control of the same size.

    The larger of the two is sampled down: a control of another size would bias every risk. The
    folder of `hierarchies` says what the words of a coarsened column stand for.
    """
    names = _common(released, original, control, columns)
    levels = {} if hierarchies is None else read_hierarchies(hierarchies, names)
    coarser = {name: each.paths for name, each in levels.items()}
    size = min(original.num_rows, control.num_rows)
    if not size or not released.num_rows:
        raise InvalidInput("The release, its original and the control must each have rows.")
    ours, strangers = (_some(table.select(names), size, rng) for table in (original, control))
    compared = {
        name: column_of(
            released[name], _joined(ours[name], strangers[name]), coarser.get(name, NOTHING)
        )
        for name in names
    }
    return ComparedPeople(compared, released.num_rows, size)


def _joined(first: pa.ChunkedArray, second: pa.ChunkedArray) -> pa.ChunkedArray:
    """Two files may store the same thing differently: then both are read as they are written."""
    if first.type != second.type:
        first, second = first.cast(pa.string()), second.cast(pa.string())
    return pa.chunked_array([*first.chunks, *second.chunks], type=first.type)


def _some(table: pa.Table, size: int, rng: np.random.Generator) -> pa.Table:
    if table.num_rows == size:
        return table
    return table.take(pa.array(np.sort(rng.permutation(table.num_rows)[:size])))


def _common(
    released: pa.Table, original: pa.Table, control: pa.Table, wanted: Sequence[str]
) -> list[str]:
    shared = [
        name
        for name in original.column_names
        if name in released.column_names and name in control.column_names
    ]
    missing = [name for name in wanted if name not in shared]
    if missing:
        raise InvalidInput(
            f"The column '{missing[0]}' is not in all three files.",
            hint=f"They share: {', '.join(shared) or 'none'}.",
        )
    if not shared:
        raise InvalidInput("The release, its original and the control share no column.")
    return list(dict.fromkeys(wanted)) or shared
