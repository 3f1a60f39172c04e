"""Packed files opened as what is inside: gzip, Zstandard, or a zip archive of one file."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa

from discreet.errors import InvalidInput

GZIP, ZSTD, ZIP = b"\x1f\x8b", b"(\xb5/\xfd", b"PK\3\4"
_WORKBOOK = "xl/workbook.xml"
BROKEN = (gzip.BadGzipFile, EOFError, zlib.error, zipfile.BadZipFile, pa.ArrowException, OSError)
"""What the readers raise when a file is not what its first bytes say."""


def start_of(path: Path, size: int = 4) -> bytes:
    """Return the first bytes of a file as it lies on disk."""
    with path.open("rb") as file:
        return file.read(size)


def is_workbook(path: Path) -> bool:
    """Return whether a file is a spreadsheet (.xlsx): a zip archive with a workbook in it."""
    if start_of(path) != ZIP:
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except zipfile.BadZipFile:
        raise broken(path) from None


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open the bytes inside a file, packed or not."""
    start = start_of(path)
    try:
        if start.startswith(GZIP):
            with gzip.open(path) as packed:
                yield packed  # type: ignore[misc]  # it reads as any binary file
        elif start == ZSTD:
            with pa.input_stream(str(path), compression="zstd") as stream:
                yield io.BufferedReader(HeadAndRest(b"", stream), 1 << 20)
        elif start == ZIP:
            with zipfile.ZipFile(path) as archive, archive.open(_member(archive, path)) as inside:
                yield inside
        else:
            with path.open("rb") as inside:
                yield inside
    except BROKEN:
        raise broken(path) from None


def broken(path: Path) -> InvalidInput:
    """Return the refusal of a packed file that does not unpack."""
    return InvalidInput(
        f"'{path.name}' begins like a packed file, but cannot be unpacked.",
        hint="Export it again, as plain CSV or packed as a whole.",
    )


def _member(archive: zipfile.ZipFile, path: Path) -> str:
    names = [
        info.filename
        for info in archive.infolist()
        if not info.is_dir() and not info.filename.startswith(("__MACOSX/", "."))
    ]
    if len(names) != 1:
        raise InvalidInput(
            f"'{path.name}' holds {len(names)} files; one archive holds one table.",
            hint="Unpack it, and name the folder with the files.",
        )
    return names[0]


class HeadAndRest(io.RawIOBase):
    """Bytes that were read already, then the rest of their file, or of a stream of pyarrow."""

    def __init__(self, head: bytes, rest: IO[bytes] | pa.NativeFile) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """Return that it may be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Return how many bytes were put into `buffer`."""
        data = self._head[: len(buffer)] if self._head else self._rest.read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)
