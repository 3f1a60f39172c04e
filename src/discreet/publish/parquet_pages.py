"""How much memory a Parquet file takes to read, from the headers of its pages alone: nothing is unpacked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

import pyarrow.parquet as pq

from discreet.publish.zip_form import PackageProblem

PLAIN_ENCODINGS = frozenset({0, 2, 3, 8})
"""Values as they are, and places in a dictionary: nothing in a page is longer than what it unpacks to."""
LONGEST_HEADER = 1 << 14
"""Bytes of the header of a page; it may hold the least and the greatest value."""
DATA, DICTIONARY, DATA_2 = 0, 2, 3
DETAILS = {DATA: 5, DICTIONARY: 7, DATA_2: 8}
"""In which field a header says more of a page of each kind."""
BOOLEANS, INTEGERS, DOUBLE, BINARY, STRUCT = (1, 2), (3, 4, 5, 6), 7, 8, 12
DEEPEST = 4

Struct = dict[int, Any]


class Page(NamedTuple):
    """A page as its header describes it: `unpacked` is what a reader takes memory for."""

    kind: int
    unpacked: int


@dataclass(slots=True)
class _Header:
    """A header in Thrift's compact form, as far as headers of pages use it; anything else is refused."""

    data: bytes
    place: int = 0

    def struct(self, depth: int = 0) -> Struct:
        found: Struct = {}
        last = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            name = last + step if step else self._integer()
            if name <= last or depth > DEEPEST:
                raise _odd()
            found[name] = self._value(kind, depth)
            last = name
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in BOOLEANS:
            return kind == BOOLEANS[0]
        if kind in INTEGERS:
            return self._byte() if kind == INTEGERS[0] else self._integer()
        if kind in {DOUBLE, BINARY}:
            skipped = 8 if kind == DOUBLE else self._varint()
            self.place += skipped
            return 0
        if kind != STRUCT:
            raise _odd()
        return self.struct(depth + 1)

    def _integer(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)

    def _varint(self) -> int:
        found = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
        raise _odd()

    def _byte(self) -> int:
        if self.place >= len(self.data):
            raise _odd()
        self.place += 1
        return self.data[self.place - 1]


def _odd() -> PackageProblem:
    return PackageProblem("a Parquet file is not as the owner's program writes it")


def pages(file: IO[bytes], start: int, size: int) -> Iterator[Page]:
    """Yield the pages that lie in `size` bytes from `start` on: those and nothing else."""
    place, end = start, start + size
    while place < end:
        file.seek(place)
        header = _Header(file.read(min(LONGEST_HEADER, end - place)))
        fields = header.struct()
        kind, unpacked, packed = (fields.get(name, -1) for name in (1, 2, 3))
        told = fields.get(DETAILS.get(kind, 0))
        encoding = told.get(4 if kind == DATA_2 else 2) if isinstance(told, dict) else None
        if encoding not in PLAIN_ENCODINGS or unpacked < 0 or packed < 0:
            raise _odd()
        yield Page(kind, unpacked)
        place += header.place + packed
    if place != end:
        raise _odd()


def most_held(file: IO[bytes], begin: int, length: int, facts: pq.FileMetaData) -> int:
    """Return how many bytes the pages take that a reader holds at once: of each column a dictionary and a page.

    The Parquet file is the `length` bytes of `file` from `begin` on.

    Guarantee: no page that a reader comes to is left out, and no byte is looked at for two columns.
    """
    if not str(facts.created_by).startswith("parquet-cpp-arrow"):
        raise _odd()
    most = left = 0
    for number in range(facts.num_row_groups):
        group, held = facts.row_group(number), 0
        for place in range(group.num_columns):
            column = group.column(place)
            start, size = column.data_page_offset, column.total_compressed_size
            if column.has_dictionary_page and 0 < column.dictionary_page_offset < start:
                start = column.dictionary_page_offset
            left += size
            if start < 0 or size < 0 or left > length:
                raise _odd()
            largest = {DICTIONARY: 0}
            for page in pages(file, begin + start, size):
                largest[page.kind] = max(page.unpacked, largest.get(page.kind, 0))
            held += sum(largest.values())
        most = max(most, held)
    return most
