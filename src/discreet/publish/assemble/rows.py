"""Published rows: keys as text in the order of the SELECT, then numbers; dictionaries, not strings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.publish.contents import KeyColumn
from discreet.publish.families.find import Member
from discreet.publish.reconcile.problem import Integers

Places = npt.NDArray[np.int64]


class Layout:
    """The order of a member's cells in its published table: first key slowest."""

    def __init__(self, member: Member) -> None:
        self._member = member
        first = [key.dimension for key in member.keys]
        self._axes = list(dict.fromkeys(first))
        self._axes += [axis for axis in range(len(member.shape)) if axis not in self._axes]
        adjacent = [d for d, e in zip([-1, *first], first, strict=False) if d != e]
        self._order = None
        if len(adjacent) != len(set(first)):
            # Two keys of one dimension with another between them: no order of axes will do.
            codes = [self._codes(key) for key in range(len(member.keys))]
            self._order = np.lexsort(codes[::-1])

    def flat(self, cells: Integers) -> Integers:
        """Return numbers in the order of the rows."""
        found = np.transpose(cells, self._axes).reshape(-1)
        return found if self._order is None else found[self._order]

    def _codes(self, place: int) -> Places:
        """Return the label of each row, before any sorting."""
        key = self._member.keys[place]
        shape = [self._member.shape[axis] for axis in self._axes]
        axis = self._axes.index(key.dimension)
        codes = key.codes.reshape([-1 if d == axis else 1 for d in range(len(shape))])
        return np.broadcast_to(codes, shape).reshape(-1)

    def key(self, place: int) -> pa.DictionaryArray:
        """Return one key of every row."""
        codes = self._codes(place).astype(np.int32)
        if self._order is not None:
            codes = codes[self._order]
        labels = pa.array(self._member.keys[place].labels, pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(codes), labels)


def key_columns(member: Member, meanings: dict[str, str]) -> tuple[KeyColumn, ...]:
    """Return the grouped columns of a member with all of their values."""
    return tuple(
        KeyColumn(key.name, meanings.get(key.name, ""), tuple(key.labels)) for key in member.keys
    )
