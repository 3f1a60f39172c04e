"""Packed files opened as what is inside: gzip, Zstandard, or a zip archive of one file."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa

from discreet.core.system.regular_file import open_regular
from discreet.errors import DiscreetError, InvalidInput

GZIP, ZSTD, ZIP = b"\x1f\x8b", b"(\xb5/\xfd", b"PK\3\4"
_WORKBOOK = "xl/workbook.xml"
BROKEN = (
    *(gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, struct.error, OSError),
    *(zipfile.BadZipFile, NotImplementedError, pa.ArrowException),
)
"""What the readers raise when a file is not what its first bytes say."""


def start_of(path: Path, size: int = 4) -> bytes:
    """Return the first bytes of a file as it lies on disk."""
    with open_regular(path) as file:
        return file.read(size)


def is_workbook(path: Path) -> bool:
    """Return whether a file is a spreadsheet (.xlsx): a zip archive with a workbook in it."""
    if start_of(path) != ZIP:
        return False
    with _damage_in_words(path), zipfile.ZipFile(path) as archive:
        return _WORKBOOK in archive.namelist()


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
            with _archive(path) as archive, _inside(archive, path) as inside:
                yield io.BufferedReader(_Member(inside, path), 1 << 20)
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


@contextmanager
def _damage_in_words(path: Path) -> Iterator[None]:
    """Refuse a damaged archive: `zipfile` raises whatever a wrong byte leads it to."""
    try:
        yield
    except (DiscreetError, MemoryError):
        raise
    except Exception:  # noqa: BLE001  # no list of them is whole
        raise broken(path) from None


def _archive(path: Path) -> zipfile.ZipFile:
    with _damage_in_words(path):
        return zipfile.ZipFile(path)


def _inside(archive: zipfile.ZipFile, path: Path) -> IO[bytes]:
    with _damage_in_words(path):
        return archive.open(_member(archive, path))


class _Member(io.RawIOBase):
    """What a zip archive holds; damage that is met on the way is refused in words."""

    def __init__(self, inside: IO[bytes], path: Path) -> None:
        self._inside, self._path = inside, path

    def readable(self) -> bool:
        """Return that it may be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Return how many bytes were put into `buffer`."""
        with _damage_in_words(self._path):
            data = self._inside.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


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
