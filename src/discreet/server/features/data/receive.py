"""One upload: received as it comes, examined, and kept as one clean Parquet file or refused with nothing left."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

import pyarrow.parquet as pq
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from discreet.data.catalog.sources import check_file
from discreet.data.engines.files import PARQUET_FILES, READABLE, column_names, delimiter
from discreet.errors import CatalogError, DiscreetError, InvalidInput, TooLarge
from discreet.server.features.data.examiner import MAX_NAME
from discreet.server.features.data.uploads import (
    TABLE,
    Upload,
    UploadBounds,
    UploadStore,
    examined,
    plain_upload,
)


async def take_in(stream: AsyncIterator[bytes], *, content_type: str, store: UploadStore) -> Upload:
    """Return the upload that the body of a request holds, kept for review."""
    with store.receiving() as place:
        received = place / "received"
        try:
            file, digest = await receive_file(
                stream, content_type=content_type, target=received, bounds=store.bounds
            )
        except ClientDisconnect:
            raise InvalidInput("The upload was broken off.") from None
        return await run_in_threadpool(_examined, store, received, file, digest)


def _examined(store: UploadStore, received: Path, file: str, digest: str) -> Upload:
    work = received.with_name("work")
    work.mkdir()
    # Of the sender's name only endings that we know, which say how the file is read.
    known = [s.lower() for s in Path(file).suffixes[-2:] if s.lower() in READABLE]
    ours = work / f"upload{''.join(known)}"
    received.rename(ours)
    plain = plain_upload(ours, file=file, bounds=store.bounds)
    columns = clean_copy(plain.path, work / TABLE, file=file, bounds=store.bounds)
    place = received.parent
    (work / TABLE).rename(place / TABLE)
    shutil.rmtree(work)
    return store.keep(place, file=file, columns=columns, digest=digest, plain=plain)


def clean_copy(received: Path, target: Path, *, file: str, bounds: UploadBounds) -> tuple[str, ...]:
    """Return the columns of the clean copy of `received`, now at `target`.

    `file` is its name for people. What `received` holds is told by that name's ending.

    Guarantee: this process only reads the first line of a CSV file. Everything else is done by a
    child with bounds on memory, on time and on the size of every file that it writes.
    """
    parquet = ending(file) in PARQUET_FILES
    setup = {
        "path": str(received),
        "target": str(target),
        "parquet": parquet,
        "temporary": str(target.parent / "spill"),
        "memory_mb": bounds.memory_mb,
        "threads": 1,
        "rows": bounds.rows,
        "columns": bounds.columns,
        "cell": bounds.cell,
        "unpacked": bounds.unpacked,
    }
    if not parquet:
        setup |= _heading(received, file, bounds)
    problem = examined(setup, f"Reading '{file}'", bounds)
    if problem is not None:
        raise _refusal(problem, file, bounds)
    return tuple(pq.read_schema(target).names)


def _heading(received: Path, file: str, bounds: UploadBounds) -> dict[str, object]:
    """Return separator and column names of a CSV file, or refuse its first line."""
    with received.open("rb") as opened:
        line = opened.readline(bounds.heading + 1)
    if len(line) > bounds.heading:
        raise TooLarge(
            f"The first line of '{file}' is longer than {bounds.heading:,} bytes.",
            hint=f"It must hold the names of at most {bounds.columns:,} columns.",
        )
    try:
        check_file(received)
        return {"delimiter": delimiter(received), "names": column_names("", received)}
    except (InvalidInput, CatalogError) as error:
        said = error.message.replace(received.name, file)
        raise InvalidInput(said, hint=error.hint) from None
    except csv.Error:
        raise InvalidInput(f"The first line of '{file}' cannot be read as CSV.") from None


def _refusal(word: str, file: str, bounds: UploadBounds) -> DiscreetError:
    large = {
        "rows": f"'{file}' has more than {bounds.rows:,} rows.",
        "columns": f"'{file}' has more than {bounds.columns:,} columns.",
        "unpacked": f"'{file}' unpacks to more than {bounds.unpacked >> 20:,} MB.",
        "cell": f"'{file}' has a cell of more than {bounds.cell:,} bytes.",
    }
    wrong = {
        "empty": f"'{file}' has no columns.",
        "norows": f"'{file}' has column names but no rows.",
        "names": f"'{file}' has a column whose name is empty, longer than {MAX_NAME} letters or "
        "does not print.",
        "twins": f"'{file}' has two columns of the same name, or that differ only in case.",
    }
    if word in large:
        return TooLarge(large[word], hint="Send less, or name the file in discreet.toml.")
    if word in wrong:
        return InvalidInput(wrong[word], hint="Rename or add columns and send it again.")
    return InvalidInput(
        f"'{file}' cannot be read.",
        hint="Check that the file is whole, and that every line of a CSV file has as many cells as "
        "the first.",
    )


FIELD = "file"
"""The name of the part that holds the file."""

OVERHEAD = 64 << 10
"""Bytes that a multipart envelope may add to its file."""

_HEADER = 8 << 10
_PARTS = 10
_PARQUET = b"PAR1"
_PACKED = {b"\xfd7zX": "xz", b"7z\xbc\xaf": "7z", b"Rar!": "rar", b"BZh": "bzip2"}


async def receive_file(
    stream: AsyncIterator[bytes], *, content_type: str, target: Path, bounds: UploadBounds
) -> tuple[str, str]:
    """Return the sender's name for the file and a hash of its bytes, now written to `target`.

    Guarantee: the name is only returned, never used as a path; at most `bounds.size` bytes are
    written; what surely cannot be read is refused at its first byte that shows it.
    """
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidInput(
            f"Send the file as multipart/form-data, in a part named '{FIELD}'.",
            hint=f"For example: curl -F {FIELD}=@people.csv ...",
        )
    try:
        with target.open("xb") as file:
            envelope = _Envelope(boundary, file, bounds)
            async with asyncio.timeout(bounds.seconds):
                async for block in stream:
                    envelope.feed(block)
        return envelope.finish()
    except TimeoutError:
        raise InvalidInput(f"The upload took longer than {bounds.seconds:,g} seconds.") from None
    except FormParserError:
        raise InvalidInput("The multipart envelope of the upload is broken.") from None
    except OSError:
        raise InvalidInput("The server could not store the file; its disk may be full.") from None


class _Envelope:
    """Follows the parts of a multipart body; only the bytes of the one file go to disk."""

    def __init__(self, boundary: bytes, file: IO[bytes], bounds: UploadBounds) -> None:
        self._file, self._bounds = file, bounds
        self._received = 0
        self._parts = 0
        self._header: list[bytes] = [b"", b""]
        self._options: dict[bytes, bytes] = {}
        self._name: str | None = None
        self._content: _Content | None = None
        self._inside = self._ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._part_begins,
                "on_header_field": lambda data, i, j: self._header_bytes(0, data[i:j]),
                "on_header_value": lambda data, i, j: self._header_bytes(1, data[i:j]),
                "on_header_end": self._header_ends,
                "on_headers_finished": self._headers_end,
                "on_part_data": lambda data, i, j: self._bytes(data[i:j]),
                "on_end": self._all_ended,
            },
        )

    def feed(self, block: bytes) -> None:
        """Take the next bytes of the body."""
        self._received += len(block)
        if self._received > self._bounds.size + OVERHEAD:
            raise self._bounds.too_large()
        if block:
            self._parser.write(block)

    def finish(self) -> tuple[str, str]:
        """Return the file's name and hash after the last byte of the body."""
        self._parser.finalize()
        if self._content is None or self._name is None:
            raise InvalidInput(f"The upload has no file in a part named '{FIELD}'.")
        if not self._ended:
            raise InvalidInput("The upload ended before its file did.")
        return self._name, self._content.finish()

    def _part_begins(self) -> None:
        self._parts += 1
        self._options, self._header = {}, [b"", b""]
        if self._parts > _PARTS:
            raise InvalidInput("The upload has too many parts.")

    def _header_bytes(self, which: int, data: bytes) -> None:
        self._header[which] += data
        if len(self._header[which]) > _HEADER:
            raise InvalidInput("A part of the upload has too long a header.")

    def _header_ends(self) -> None:
        field, value = self._header
        if field.lower() == b"content-disposition":
            self._options = parse_options_header(value)[1]
        self._header = [b"", b""]

    def _headers_end(self) -> None:
        self._inside = self._options.get(b"name") == FIELD.encode()
        if not self._inside:
            return
        if self._content is not None:
            raise InvalidInput("Send one file at a time.")
        if b"filename" not in self._options:
            raise InvalidInput(f"The part named '{FIELD}' holds no file.")
        self._name = shown_name(self._options[b"filename"])
        self._content = _Content(self._name, self._file, self._bounds)

    def _bytes(self, data: bytes) -> None:
        if self._inside and self._content is not None:
            self._content.write(data)

    def _all_ended(self) -> None:
        self._ended = True


class _Content:
    """The bytes of the file: counted, and judged by their beginning."""

    def __init__(self, name: str, file: IO[bytes], bounds: UploadBounds) -> None:
        self._name, self._file, self._bounds = name, file, bounds
        self._parquet = ending(name) in PARQUET_FILES
        self._start = b""
        self._size = 0
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._bounds.size:
            raise self._bounds.too_large()
        if len(self._start) < 4:
            self._start = (self._start + data)[:4]
            self._judge_start()
        self._digest.update(data)
        self._file.write(data)

    def finish(self) -> str:
        """Return the hash of all bytes; refuse what shows only at the end."""
        if not self._size:
            raise InvalidInput(f"The file '{self._name}' is empty.")
        if self._parquet and self._start != _PARQUET:
            raise InvalidInput(f"The content of '{self._name}' is not Parquet.")
        return self._digest.hexdigest()

    def _judge_start(self) -> None:
        for magic, what in _PACKED.items():
            if self._start.startswith(magic) and not self._parquet:
                raise InvalidInput(
                    f"'{self._name}' is a {what} archive.",
                    hint="Unpack it, or pack it as .gz, .zst or .zip.",
                )
        if self._parquet and not _PARQUET.startswith(self._start):
            raise InvalidInput(f"The content of '{self._name}' is not Parquet.")
        if not self._parquet and self._start == _PARQUET:
            raise InvalidInput(
                f"The content of '{self._name}' is Parquet.", hint="Let its name end in .parquet."
            )


def ending(name: str) -> str:
    """Return the last ending of a name in lower case, with its dot."""
    return Path(name).suffix.lower()


def shown_name(raw: bytes) -> str:
    """Return a file's name for people to read: its last part, printable and short.

    Refuses names that do not say how the file is read.
    """
    text = raw.decode("utf-8", errors="replace").replace("\\", "/").rpartition("/")[2]
    clean = "".join(letter for letter in text if letter.isprintable()).strip()
    name = clean if len(clean) <= 100 else clean[:80] + clean[-20:]
    if ending(name) not in READABLE:
        raise InvalidInput(
            "The name of the file must end in .csv, .tsv, .txt, .jsonl, .xlsx, .sqlite or .parquet; "
            "text may be packed as .gz, .zst or .zip.",
            hint="Export the data as CSV (column names in the first line) or Parquet.",
        )
    return name
