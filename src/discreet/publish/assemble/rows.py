"""Published rows: keys as text in the order of the SELECT, then numbers; made a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Integers
from discreet.errors import InternalError
from discreet.publish.families.find import Member

PIECE = 1 << 18
"""Rows that are made at once."""


class Layout:
    """The order of a member's cells in its published table: first key slowest."""

    def __init__(self, member: Member) -> None:
        self.member = member
        first = [key.dimension for key in member.keys]
        self._axes = list(dict.fromkeys(first))
        self._axes += [axis for axis in range(len(member.shape)) if axis not in self._axes]
        self._shape = [member.shape[axis] for axis in self._axes]
        adjacent = [d for d, e in zip([-1, *first], first, strict=False) if d != e]
        self._order: Integers | None = None
        if len(adjacent) != len(set(first)):
            # Two keys of one dimension with another between them: no order of axes will do.
            every = np.arange(member.cells)
            codes = [self._codes(place, every) for place in range(len(member.keys))]
            self._order = np.lexsort(codes[::-1])

    def flat(self, cells: Integers) -> Integers:
        """Return numbers in the order of the rows."""
        found = np.transpose(cells, self._axes).reshape(-1)
        return found if self._order is None else found[self._order]

    def _codes(self, place: int, rows: Integers) -> Integers:
        """Return the labels of some rows, by their place before any sorting."""
        key = self.member.keys[place]
        axis = self._axes.index(key.dimension)
        behind = int(np.prod(self._shape[axis + 1 :], dtype=np.int64))
        found: Integers = key.codes[(rows // behind) % self._shape[axis]]
        return found

    def key(self, place: int, start: int = 0, end: int | None = None) -> pa.DictionaryArray:
        """Return one key of the rows from `start` to before `end`, or to the last one."""
        last = self.member.cells if end is None else end
        rows = np.arange(start, last) if self._order is None else self._order[start:last]
        codes = pa.array(self._codes(place, rows).astype(np.int32))
        labels = pa.array(self.member.keys[place].labels, pa.string())
        return pa.DictionaryArray.from_arrays(codes, labels)


class GridRows:
    """Rows of a member: its keys, columns of whole numbers, and numbers that are the same in all rows.

    A table may have millions of rows: only its numbers are held, keys are written as rows are asked
    for. See `discreet.publish.contents.Rows`.
    """

    def __init__(
        self,
        layout: Layout,
        numbers: Mapping[str, Integers],
        constants: Mapping[str, float] | None = None,
    ) -> None:
        self._layout = layout
        self._numbers = dict(numbers)
        self._constants = dict(constants or {})
        self._names = [key.name for key in layout.member.keys]
        if {*self._numbers, *self._constants} & {*self._names}:
            raise InternalError("a number of a table has the name of a key")

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return self._layout.member.cells

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._piece(0, 0).schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows in their order, in pieces."""
        flat = {name: self._layout.flat(cells) for name, cells in self._numbers.items()}
        for start in range(0, self.num_rows, PIECE):
            yield self._piece(start, min(start + PIECE, self.num_rows), flat)

    def _piece(
        self, start: int, end: int, flat: Mapping[str, Integers] | None = None
    ) -> pa.RecordBatch:
        columns: dict[str, pa.Array] = {
            name: self._layout.key(place, start, end) for place, name in enumerate(self._names)
        }
        for name in self._numbers:
            part = np.zeros(0, dtype=np.int64) if flat is None else flat[name][start:end]
            columns[name] = pa.array(np.ascontiguousarray(part), pa.int64())
        same = pa.array(np.zeros(end - start, dtype=np.int8))
        for name, value in self._constants.items():
            columns[name] = pa.DictionaryArray.from_arrays(same, pa.array([value]))
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
