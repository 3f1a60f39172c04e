"""Source files: which ones a source means, what kind they are, and a hash of their content."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from discreet.errors import CatalogError

_BLOCK = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")


class FileKind(Enum):
    """How a file is read."""

    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class FileSource:
    """The files behind one table, in a fixed order."""

    kind: FileKind
    paths: tuple[Path, ...]


def find_files(name: str, source: str, base: Path) -> FileSource:
    """Return the files that `source` (a path or a pattern below `base`) means.

    The pattern is expanded once, here, so what is hashed is what is read.
    """
    place = base / source
    if any(letter in source for letter in "*?["):
        root = Path(place.anchor or ".")
        paths = sorted(path for path in root.glob(str(place.relative_to(root))) if path.is_file())
    elif place.is_dir():
        paths = sorted(path for path in place.rglob("*.parquet") if path.is_file())
    else:
        paths = [place] if place.is_file() else []
    if not paths:
        raise CatalogError(
            f"The source of table '{name}' does not exist: {source}.",
            hint="Paths are relative to the folder of discreet.toml.",
        )
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise CatalogError(f"The source of table '{name}' mixes CSV and Parquet files: {source}.")
    return FileSource(kinds.pop(), tuple(path.resolve() for path in paths))


def _kind(path: Path) -> FileKind:
    with path.open("rb") as file:
        return FileKind.PARQUET if file.read(4) == b"PAR1" else FileKind.CSV


def delimiter(path: Path) -> str:
    """Return the separator of a CSV file, judged by its first line alone.

    Guarantee: the first line holds the column names, which are public, so no row can change how
    the others are read.
    """
    outside = "".join(_first_line(path).split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def column_names(name: str, path: Path) -> list[str]:
    """Return the column names in the first line of a CSV file."""
    names = next(csv.reader([_first_line(path)], delimiter=delimiter(path)), [])
    if not names or "" in names or len({column.lower() for column in names}) != len(names):
        raise CatalogError(
            f"The source of table '{name}' has no usable first line: {path.name}.",
            hint="The first line of a CSV file names its columns, each once.",
        )
    return names


def _first_line(path: Path) -> str:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else path.open("rb") as file:
        return file.readline(_BLOCK).decode("utf-8-sig", errors="replace").rstrip("\r\n")


class ContentHashes:
    """SHA-256 of files, remembered while size, time, inode and name stay the same."""

    def __init__(self, memory: Path | None) -> None:
        self._memory = memory
        self._known: dict[str, list[str]] = {}
        if memory is not None:
            with contextlib.suppress(OSError, ValueError):
                self._known = dict(json.loads(memory.read_text()))

    def of(self, source: FileSource) -> str:
        """Return one hash over the content of all files of a source."""
        whole = hashlib.sha256()
        for path in source.paths:
            whole.update(bytes.fromhex(self._one(path)))
        return whole.hexdigest()

    def _one(self, path: Path) -> str:
        stat = path.stat()
        facts = f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {stat.st_ino}"
        known, found = self._known.get(str(path), ["", ""])
        if known != facts:
            whole = hashlib.sha256()
            with path.open("rb", buffering=0) as file:
                while block := file.read(_BLOCK):
                    whole.update(block)
            found = whole.hexdigest()
            self._known[str(path)] = [facts, found]
            self._save()
        return found

    def _save(self) -> None:
        if self._memory is not None:
            write_whole(self._memory, json.dumps(self._known).encode())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears complete or not at all, readable by its owner only."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(name).replace(path)
