"""RELEASE.zip: the members of a package, its manifest, its signature and the key of the owner.

Takes a `Contents` and knows nothing of data, ledgers or engines. Rows are written batch by batch; the bytes
of the zip file follow from its members alone. The manifest is what the owner signs: it names every other
member by its hash. `verify.py` in a package is the stand-alone verifier, with `zip_form` and all laws of the
registry in its place.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.base.files import write_first
from discreet.base.packages import needs
from discreet.errors import InvalidInput
from discreet.privacy.noise.laws.registry import LAWS
from discreet.work.publish.contents import (
    Contents,
    Fact,
    Measurement,
    PriceEvent,
    PublicMapping,
    PublishedRows,
    PublishedTable,
)
from discreet.work.publish.descriptions import codebook, csvw, frictionless, sheet
from discreet.work.publish.verify import FORMAT, SIZES
from discreet.work.publish.zip_form import (
    DEFLATED,
    canonical_member,
    directory_end,
    directory_entry,
    local_header,
)

FILE = "publish.key"
LENGTH = 32


@dataclass(frozen=True, slots=True, repr=False)
class OwnerKey:
    """The owner's secret; it signs, and never prints itself."""

    secret: bytes

    @property
    def public(self) -> bytes:
        """Return the 32 bytes by which anyone can check a signature."""
        found: bytes = _signer(self.secret).public_key().public_bytes_raw()
        return found

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of the signature over `message`."""
        found: bytes = _signer(self.secret).sign(message)
        return found

    def __repr__(self) -> str:
        return f"OwnerKey(public={self.public.hex()})"


def owner_key(folder: Path) -> OwnerKey:
    """Return the key kept in `folder`, made on first use.

    Guarantee: the file is complete before it has its name, and two processes that make one at the
        same time end up with the same key. Nobody but the file's owner may read it.
    """
    path = folder / FILE
    try:
        if not path.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_first(path, os.urandom(LENGTH))  # any 32 bytes are an Ed25519 secret
        secret = path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"The signing key at '{path}' cannot be used: {error.strerror}."
        ) from None
    if len(secret) != LENGTH:
        raise InvalidInput(
            f"The file '{path}' is not a signing key.",
            hint="Restore it from a copy: releases signed by a new key have a new owner.",
        )
    return OwnerKey(secret)


def _signer(secret: bytes) -> Any:
    with needs("cryptography", extra="server"):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    return Ed25519PrivateKey.from_private_bytes(secret)


QUICK = 1
THOROUGH = 6
LARGE = 1 << 24
"""From this many bytes on, members are compressed quickly instead of thoroughly."""


class MemberStream(io.RawIOBase):
    """One member while it is written: packs, counts and hashes what passes."""

    def __init__(self, target: IO[bytes], level: int | None) -> None:
        self._target = target
        self._packer = None if level is None else zlib.compressobj(level, zlib.DEFLATED, -15)
        self._digest, self._packed_digest = hashlib.sha256(), hashlib.sha256()
        self.crc = self.size = self.packed = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write all of `data`."""
        view = memoryview(data).cast("B")
        self._digest.update(view)
        self.crc, self.size = zlib.crc32(view, self.crc), self.size + len(view)
        self._put(view if self._packer is None else self._packer.compress(view))
        return len(view)

    def end(self) -> dict[str, Any]:
        """Write what is left, and return what the manifest says of what has passed."""
        said = {"sha256": self._digest.hexdigest(), "bytes": self.size}
        if self._packer is None:
            return said
        self._put(self._packer.flush())
        return said | {"packed_sha256": self._packed_digest.hexdigest()}

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size

    def _put(self, packed: bytes | memoryview) -> None:
        if self._packer is not None:
            self._packed_digest.update(packed)
        self._target.write(packed)
        self.packed += len(packed)


class Archive:
    """A package that is being written to a file that can seek; `members` are those that are complete."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._entries, self._end = file, list[bytes](), 0
        self.members: dict[str, dict[str, Any]] = {}

    @contextmanager
    def member(self, name: str, *, expected: int = 0) -> Iterator[MemberStream]:
        """Yield a stream for the member `name`.

        `expected` is about how many bytes will come, as far as that is public; it only chooses how
        thoroughly they are compressed.
        """
        empty = canonical_member(name, 0, 0, 0)
        self._file.write(local_header(empty))
        level = QUICK if expected >= LARGE else THOROUGH
        stream = MemberStream(self._file, level if empty.method == DEFLATED else None)
        yield stream
        self.members[name] = stream.end()
        whole = canonical_member(name, stream.crc, stream.size, stream.packed)
        header = local_header(whole)
        self._file.seek(self._end)
        self._file.write(header)
        self._entries.append(directory_entry(whole, self._end))
        self._end += len(header) + whole.packed
        self._file.seek(self._end)

    def add(self, name: str, content: bytes) -> None:
        """Write a small member at once."""
        with self.member(name, expected=len(content)) as stream:
            stream.write(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write the directory."""
        directory = b"".join(self._entries)
        self._file.write(directory)
        self._file.write(directory_end(len(self._entries), len(directory), self._end))


PIECE = 1 << 18
"""How many rows are turned into text at once."""
CHARACTERS = 12
"""About how long a field is; chooses the compression only."""


def add_csv(archive: Archive, name: str, rows: PublishedRows) -> None:
    """Write `rows` as a CSV member: a header, fields quoted where they must be, lines end in LF."""
    expected = rows.num_rows * len(rows.schema) * CHARACTERS
    names = _texts(pa.array(rows.schema.names, pa.string())).to_pylist()
    with archive.member(name, expected=expected) as stream:
        stream.write((",".join(names) + "\n").encode())
        for lines in _lines_ahead(_pieces(rows)):
            stream.write(lines)


def add_parquet(archive: Archive, name: str, rows: PublishedRows) -> None:
    """Write `rows` as a Parquet member, which is compressed by itself."""
    expected = rows.num_rows * len(rows.schema) * CHARACTERS
    with (
        archive.member(name, expected=expected) as stream,
        pq.ParquetWriter(stream, rows.schema, compression="zstd") as writer,
    ):
        for piece in _pieces(rows):
            writer.write_batch(piece)


def _lines_ahead(pieces: Iterator[pa.RecordBatch]) -> Iterator[memoryview]:
    """Yield the lines of each piece, the next ones while the last are being compressed."""
    with ThreadPoolExecutor(1) as pool:
        waiting: Future[memoryview] | None = None
        for piece in pieces:
            following = pool.submit(_lines, piece)
            if waiting is not None:
                yield waiting.result()
            waiting = following
        if waiting is not None:
            yield waiting.result()


def _pieces(rows: PublishedRows) -> Iterator[pa.RecordBatch]:
    for batch in rows.to_batches():
        for start in range(0, batch.num_rows, PIECE):
            yield batch.slice(start, PIECE)


def _lines(piece: pa.RecordBatch) -> memoryview:
    """Return the text of all rows: fields joined by commas, each row with its line end."""
    fields = [_texts(column) for column in piece.columns]
    joined = fields[0]
    if len(fields) > 1:
        joined = pc.binary_join_element_wise(*fields, ",")
    ended = pc.binary_join_element_wise(joined, "\n", "")
    # The texts of a string column lie one after the other: that is the file.
    offsets = memoryview(ended.buffers()[1]).cast("i")
    first, last = offsets[ended.offset], offsets[ended.offset + len(ended)]
    return memoryview(ended.buffers()[2])[first:last]


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        # Quoting a few distinct values is quicker than looking at every row.
        return pc.take(_texts(column.dictionary), column.indices).fill_null("")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        special = pc.match_substring_regex(column, '[",\r\n]|^$')
        if not pc.any(special).as_py():
            return column.cast(pa.string()).fill_null("")
        doubled = pc.replace_substring(column, '"', '""')
        quoted = pc.binary_join_element_wise('"', doubled, '"', "")
        return pc.if_else(special, quoted, column).cast(pa.string()).fill_null("")
    return column.cast(pa.string()).fill_null("")


_TABLE = re.compile(rb"^LAWS = .*$", re.MULTILINE)
_IMPORT = re.compile(
    rb"^from discreet\.work\.publish\.zip_form import \(.*?^\)$", re.MULTILINE | re.DOTALL
)
_HEAD = b"from __future__ import annotations\n"


def moves() -> dict[str, str]:
    """Return the name of what a unit moves at most, law by law, as manifests write it."""
    return {name: "l2_squared" if law.concentrated else "l1" for name, law in sorted(LAWS.items())}


def verifier() -> bytes:
    """Return the file: the source of the verifier, with what it imports from `zip_form` in its place."""
    text, form = (
        files("discreet.work.publish").joinpath(name).read_bytes()
        for name in ("verify.py", "zip_form.py")
    )
    text = _IMPORT.sub(lambda _: form.partition(_HEAD)[2].strip(), text, count=1)
    return _TABLE.sub(f"LAWS = {json.dumps(moves())}".encode(), text, count=1)


def manifest_of(contents: Contents, key: bytes, members: Mapping[str, Any]) -> bytes:
    """Return the manifest as the bytes that are signed.

    Keys, measures, sides and rules are written as they are: their fields are names of the format.
    """
    data = {
        "format": FORMAT,
        "release": contents.name,
        "dataset": contents.dataset,
        "created": contents.created,
        "snapshot": contents.snapshot,
        "key": key.hex(),
        "private": contents.private,
        "privacy": privacy_of(contents),
        "events": [event_json(event) for event in contents.events],
        "tables": {table.name: _table(table) for table in contents.tables},
        "measurements": {
            each.name: {
                "table": each.table,
                "measure": each.measure,
                "keys": each.rows.schema.names[:-2],
                "rows": each.rows.num_rows,
            }
            for each in contents.measurements
        },
        "mappings": {m.name: {"fine": m.fine, "coarse": m.coarse} for m in contents.mappings},
        "agreements": [asdict(each) for each in contents.agreements],
        "facts": [_fact(fact) for fact in contents.facts],
        "rules": [asdict(rule) for rule in contents.rules],
        "members": dict(members),
    }
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def privacy_of(contents: Contents) -> dict[str, str | None]:
    """Return the promise: who is protected from what, at which price, in exact text."""
    return {
        "unit": contents.unit,
        "neighbours": contents.neighbours,
        "epsilon": str(contents.epsilon),
        "delta": str(contents.delta),
        "rho": None if contents.rho is None else str(contents.rho),
    }


def event_json(event: PriceEvent) -> dict[str, Any]:
    """Return one noisy vector under the names by which its law is counted."""
    moved = moves()[event.law]
    return {
        "measurement": event.measurement,
        "law": event.law,
        SIZES[moved]: str(event.scale),
        moved: str(event.sensitivity),
        "cells": event.cells,
        "coordinates": event.coordinates,
    }


def _table(table: PublishedTable) -> dict[str, Any]:
    return {
        "sql": table.sql,
        "keys": [asdict(key) for key in table.keys],
        "measures": [asdict(each) | {"step": str(each.step)} for each in table.measures],
        "rows": table.rows.num_rows,
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "name": fact.name,
        "side": asdict(fact.side),
        "source": fact.source,
        "reason": fact.reason,
        "approver": fact.approver,
    }


FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
LEFT_BEHIND = re.compile(r"\.[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.zip\.([0-9]{1,9})")


def write_package(contents: Contents, out: Path, key: OwnerKey) -> Path:
    """Return `out` after writing the signed package there.

    Guarantee: the same contents and key are the same bytes. `out` gets its name when the package is
        complete, signed and on the disk: nothing unsigned is ever found there, also after a crash.
    """
    _check_names(contents)
    with writing_package(out) as beside:
        _sweep(out)
        with beside.open("wb") as file:
            with Archive(file) as archive:
                _members(contents, archive)
                manifest = manifest_of(contents, key.public, archive.members)
                archive.add("manifest.json", manifest)
                archive.add("signature", key.sign(manifest))
            file.flush()
            os.fsync(file.fileno())
    return out


@contextmanager
def writing_package(out: Path, *, hint: str = "") -> Iterator[Path]:
    """Lend a place beside `out` whose file becomes `out` at the end: whole, or not at all."""
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        yield beside
        beside.replace(out)
    except OSError as error:
        said = f"The package cannot be written to '{out}': {error.strerror}."
        raise InvalidInput(said, hint=hint) from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _sweep(out: Path) -> None:
    """Remove what writers of packages left behind in this folder when they were killed, whatever its name."""
    for left in out.parent.iterdir():
        found = LEFT_BEHIND.fullmatch(left.name)
        if found is not None and not _lives(int(found[1])):
            left.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's
    return True


def _check_names(contents: Contents) -> None:
    """Refuse names that would not be plain files of their own wherever the package is unpacked."""
    for kind in (contents.tables, contents.measurements, contents.mappings, contents.facts):
        names = [each.name for each in kind]
        for name in names:
            if not FILE_NAME.fullmatch(name):
                raise InvalidInput(
                    f"'{name}' cannot be the name of a file in a package.",
                    hint="Use letters, digits, dots, dashes and underscores, at most 100.",
                )
        if len({name.lower() for name in names}) != len(names):
            raise InvalidInput("Two parts of the release have the same name.")
    parts: list[PublishedTable | Measurement | Fact]
    parts = [*contents.tables, *contents.measurements, *contents.facts]
    for part in parts:
        if len(set(part.rows.schema.names)) != len(part.rows.schema.names):
            raise InvalidInput(f"Two columns of '{part.name}' have the same name.")


def _members(contents: Contents, archive: Archive) -> None:
    # What people and other tools read first.
    archive.add("sheet.html", sheet(contents))
    archive.add("codebook.csv", codebook(contents))
    archive.add("datapackage.json", frictionless(contents))
    archive.add("csv-metadata.json", csvw(contents))
    archive.add("ledger.json", (json.dumps(contents.ledger, indent=1) + "\n").encode())
    archive.add("spec.toml", contents.spec.encode())
    archive.add("verify.py", verifier())
    for mapping in contents.mappings:
        add_csv(archive, f"mappings/{mapping.name}.csv", _mapping_rows(mapping))
    for fact in contents.facts:
        add_csv(archive, f"facts/{fact.name}.csv", fact.rows)
    for table in contents.tables:
        add_csv(archive, f"tables/{table.name}.csv", table.rows)
        add_parquet(archive, f"tables/{table.name}.parquet", table.rows)
    for each in contents.measurements:
        add_csv(archive, f"measurements/{each.name}.csv", each.rows)


def _mapping_rows(mapping: PublicMapping) -> pa.Table:
    pairs = mapping.pairs
    columns = [pa.array(list(pairs), pa.string()), pa.array(list(pairs.values()), pa.string())]
    return pa.table(columns, names=[mapping.fine, mapping.coarse])
