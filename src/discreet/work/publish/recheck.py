"""What `discreet verify` adds to the stand-alone verifier: the price by PLD, and the Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from discreet.base.event import PrivacyEvent
from discreet.base.numbers import Delta, plain
from discreet.errors import InvalidInput
from discreet.privacy.account.batch import batch_epsilon
from discreet.privacy.noise.laws import law_of
from discreet.work.publish import verify as alone
from discreet.work.publish.package import moves
from discreet.work.publish.zip_form import STORED, PackageProblem, local_header

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


LARGEST_PIECE = 1 << 26
"""About how many bytes of a Parquet file are held at once."""
LARGEST_PAGE = 1 << 22
"""The same of each column: a dictionary and a page are each about a fourth of that."""


def verify_package(
    path: str | Path, *, key: str | None = None, max_gb: int = alone.LARGEST
) -> dict[str, Any]:
    """Return what holds of a package: {"valid", "checks", "problems", ...}; reads no data.

    `key` is the owner's public key, as 64 hexadecimal digits or a file that holds them. Without it
    the signature only says that the package is whole, by the key inside. A package that holds more
    than `max_gb` gigabytes, or a manifest of more than a 32nd of that, is not unpacked.
    """
    if type(max_gb) is not int or max_gb < 1:
        raise InvalidInput("max_gb must be a whole number of gigabytes, at least 1.")
    return alone.verify(
        str(path),
        None if key is None else _key(key),
        moves(),
        gigabytes=max_gb,
        checks=(*alone.CHECKS, ("pld", _price), ("parquet", _parquet)),
    )


def _key(text: str) -> bytes:
    try:
        key = alone.key_of(text)
    except (OSError, ValueError):
        key = b""
    if len(key) != 32:
        raise InvalidInput(
            "The key must be 64 hexadecimal digits, or a file that holds them.",
            hint="The owner sees it with: discreet publish --key",
        )
    return key


def _price(package: alone.Package) -> str:
    """Require the claimed epsilon to be at least what the privacy-loss distribution proves."""
    manifest = package.manifest
    privacy = manifest["privacy"]
    claimed, delta = Fraction(privacy["epsilon"]), Fraction(privacy["delta"])
    try:
        proven = batch_epsilon([_event(each) for each in manifest["events"]], Delta.of(delta))
    except InvalidInput as error:
        raise PackageProblem(error.message) from None
    if proven > claimed:
        raise PackageProblem(
            f"epsilon {plain(claimed)} is below the {plain(proven)} that is proven"
        )
    return f"by PLD epsilon {plain(proven)} at delta {plain(delta)}"


def _event(data: dict[str, Any]) -> PrivacyEvent:
    name = moves()[data["law"]]
    moved = Fraction(data[name])
    # A move of length 1 on whole numbers is one coordinate by one.
    coordinates = 1 if moved == 1 else data["coordinates"]
    law = law_of(data["law"], data[alone.SIZES[name]])
    return law.event(l1=lambda: moved, l2_squared=lambda: moved, coordinates=coordinates)


def _parquet(package: alone.Package) -> None:
    """Require each Parquet file to hold the same rows as its CSV file.

    Guarantee: before anything of a Parquet file is unpacked, its columns are those of the CSV file, and
        what its pages take is bounded by what the labels in the manifest take and by the rows; no label
        is repeated in memory that is longer than those.
    """
    for name, table in package.manifest["tables"].items():
        ends = ("", "_low", "_high")
        numbers = [f"{each['name']}{end}" for each in table["measures"] for end in ends]
        longest = {
            key["name"]: 4 * max(map(len, key["values"]), default=0) for key in table["keys"]
        }
        columns = {key: pa.string() for key in longest} | dict.fromkeys(numbers, pa.int64())
        labels = sum(4 + len(v.encode()) for key in table["keys"] for v in key["values"])
        with (
            package.archive.open(f"tables/{name}.csv") as lines,
            package.archive.open(f"tables/{name}.parquet") as packed,
        ):
            found = pq.ParquetFile(packed)
            rows = found.metadata.num_rows
            room = LARGEST_PIECE + 4 * labels + len(columns) * min(LARGEST_PAGE, 64 * rows)
            if (
                not _alike(found.schema_arrow, columns)
                or rows != table["rows"]
                or _held(package, f"tables/{name}.parquet", found.metadata) > room
            ):
                raise PackageProblem(f"{name}.parquet is not the same table as {name}.csv")
            reader = pa_csv.open_csv(
                lines,
                convert_options=pa_csv.ConvertOptions(
                    column_types=columns, strings_can_be_null=False
                ),
                parse_options=pa_csv.ParseOptions(newlines_in_values=True),
            )
            width = sum(longest.values()) + 24 * len(columns)
            piece = max(1, min(1 << 16, LARGEST_PIECE // width))
            # Labels stay places in a dictionary: what stands once in the file is held once.
            found = pq.ParquetFile(packed, read_dictionary=list(longest))
            if not _same(reader, found, piece, longest):
                raise PackageProblem(f"{name}.parquet is not the same table as {name}.csv")


def _held(package: alone.Package, name: str, facts: pq.FileMetaData) -> int:
    """Return how many bytes a reader of a Parquet member holds at once."""
    member, start = package.members[name]
    if member.method == STORED:
        begin = start + len(local_header(member))
        return most_held(package.file, begin, member.size, facts)
    with package.archive.open(name) as unpacked:
        return most_held(unpacked, 0, member.size, facts)


def _alike(schema: pa.Schema, columns: dict[str, pa.DataType]) -> bool:
    """Return whether columns have these names, and hold texts where those do, or else whole numbers."""
    if schema.names != list(columns):
        return False
    for kind, wanted in zip(schema.types, columns.values(), strict=True):
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        text = pa.types.is_string(plain) or pa.types.is_large_string(plain)
        if not (text if pa.types.is_string(wanted) else pa.types.is_integer(kind)):
            return False
    return True


def _same(
    lines: pa_csv.CSVStreamingReader, packed: pq.ParquetFile, rows: int, longest: dict[str, int]
) -> bool:
    """Return whether two files hold the same rows, read side by side piece by piece."""
    pending: list[pa.RecordBatch] = []
    for batch in packed.iter_batches(rows):
        for key, most in longest.items():
            texts = batch.column(key)
            texts = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
            if (pc.max(pc.binary_length(texts)).as_py() or 0) > most:
                return False
        wanted = pa.table(batch).cast(lines.schema).combine_chunks()
        while sum(each.num_rows for each in pending) < wanted.num_rows:
            try:
                pending.append(lines.read_next_batch())
            except StopIteration:
                return False
        found = pa.Table.from_batches(pending)
        if not found.slice(0, wanted.num_rows).combine_chunks().equals(wanted):
            return False
        pending = found.slice(wanted.num_rows).to_batches()
    rest = sum(each.num_rows for each in pending) + sum(each.num_rows for each in lines)
    return bool(rest == 0)
