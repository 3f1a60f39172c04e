"""A Delta table: which of its files hold the rows of its newest version, by its own log.

The folder of a Delta table also holds files of earlier versions: reading all of them would count deleted
and rewritten rows again. The log says which files count. It is read here, by the published protocol, with
nothing but JSON and Parquet; what this reader does not know is refused, never guessed.
"""

from __future__ import annotations

import contextlib
import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

from discreet.errors import CatalogError

LOG = "_delta_log"
_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet")
_HARMLESS = {"timestampNtz", "vacuumProtocolCheck", "deletionVectors", "columnMapping"}
"""Features of a table that change no row; the last two only where no file and no setting uses them."""
_TYPES = {
    "string": "VARCHAR",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
}
_DECIMAL = re.compile(r"decimal\(\d{1,2},\s*\d{1,2}\)")


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column that has one value in all rows of a file: name, the value's text or None, SQL type."""

    column: str
    value: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class DeltaFile:
    """One file of the newest version, below the table's folder, with its partition columns."""

    path: str
    constants: tuple[FileColumn, ...]


@dataclass(slots=True)
class _Replayed:
    """What the log has said so far."""

    protocol: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, action: dict[str, Any]) -> None:
        if (found := action.get("protocol")) is not None:
            self.protocol = found
        if (found := action.get("metaData")) is not None:
            self.about = found
        if (found := action.get("remove")) is not None:
            self.files.pop(_place(found), None)
        if (found := action.get("add")) is not None:
            self.files[_place(found)] = found


def delta_files(name: str, folder: Path) -> tuple[DeltaFile, ...]:
    """Return the files that hold the rows of the newest version, in a fixed order.

    Guarantee: exactly the files that the log's newest version adds and does not remove; a table whose rows
        are not just those files' rows (deletion vectors, renamed columns, features unknown here) is refused.
        None at all where all rows were deleted.
    """
    try:
        replayed = _replayed(name, folder / LOG)
        _check(name, replayed)
        kinds = _partition_types(name, replayed.about)
        found = [_file(name, add, kinds) for add in replayed.files.values()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _refused(name, "its log cannot be read") from None
    return tuple(sorted(found, key=lambda file: file.path))


def _replayed(name: str, log: Path) -> _Replayed:
    commits = {int(m[1]): path for path in log.iterdir() if (m := _COMMIT.fullmatch(path.name))}
    start, parts = _checkpoint(log)
    later = sorted(version for version in commits if version > start)
    if later != list(range(start + 1, start + 1 + len(later))) or (start < 0 and not later):
        raise _refused(name, "a part of its log is missing")
    found = _Replayed()
    for action in _checkpointed(parts):
        found.take(action)
    for version in later:
        for line in commits[version].read_text(encoding="utf-8").splitlines():
            if line.strip():
                found.take(json.loads(line))
    return found


def _checkpoint(log: Path) -> tuple[int, list[Path]]:
    """Return the newest version that has a whole checkpoint, and its parts; -1 where there is none."""
    parts: dict[int, dict[tuple[int, int], Path]] = {}
    for path in log.iterdir():
        if m := _CHECKPOINT.fullmatch(path.name):
            key = (int(m[2] or 1), int(m[3] or 1))
            parts.setdefault(int(m[1]), {})[key] = path
    for version in sorted(parts, reverse=True):
        for many in {of for _, of in parts[version]}:
            with contextlib.suppress(KeyError):
                return version, [parts[version][i, many] for i in range(1, many + 1)]
    return -1, []


def _checkpointed(parts: list[Path]) -> Iterator[dict[str, Any]]:
    for path in parts:
        file = pq.ParquetFile(path)
        wanted = [n for n in ("protocol", "metaData", "add") if n in file.schema_arrow.names]
        for batch in file.iter_batches(columns=wanted):
            yield from batch.to_pylist(maps_as_pydicts="strict")


def _check(name: str, replayed: _Replayed) -> None:
    settings = replayed.about.get("configuration") or {}
    features = set(replayed.protocol.get("readerFeatures") or ())
    version = int(replayed.protocol["minReaderVersion"])
    if version > 3 or not features <= _HARMLESS:
        unknown = ", ".join(sorted(features - _HARMLESS)) or f"reader version {version}"
        raise _refused(name, f"it needs a reader of {unknown}")
    if settings.get("delta.columnMapping.mode", "none") != "none":
        raise _refused(name, "its columns have other names in its files (column mapping)")
    if any(add.get("deletionVector") is not None for add in replayed.files.values()):
        raise _refused(name, "some of its rows are deleted by deletion vectors")
    if (replayed.about.get("format") or {}).get("provider", "parquet") != "parquet":
        raise _refused(name, "its files are not Parquet")


def _partition_types(name: str, about: dict[str, Any]) -> dict[str, str]:
    fields = {each["name"]: each["type"] for each in json.loads(about["schemaString"])["fields"]}
    found = {}
    for column in about.get("partitionColumns") or ():
        kind = fields[column]
        known = isinstance(kind, str) and (_TYPES.get(kind) or _DECIMAL.fullmatch(kind))
        if not known:
            raise _refused(name, f"it is partitioned by a column of type {str(kind)[:40]}")
        found[column] = _TYPES.get(kind, kind.upper())
    return found


def _place(action: dict[str, Any]) -> str:
    """Return the path of a file in one spelling: a log may write it in several."""
    return posixpath.normpath(unquote(action["path"]))


def _file(name: str, add: dict[str, Any], kinds: dict[str, str]) -> DeltaFile:
    path = _place(add)
    if ":" in path.partition("/")[0] or path.startswith("/") or ".." in path.split("/"):
        raise _refused(name, "some of its files lie outside its folder (a shallow clone)")
    values = add.get("partitionValues") or {}
    constants = tuple(FileColumn(c, file_value(values.get(c)), kind) for c, kind in kinds.items())
    return DeltaFile(path, constants)


def file_value(said: object) -> str | None:
    """Return the value that a log or a folder has for a column of a file; None where that is no text.

    The protocol writes no text and an empty text alike: both are NULL.
    """
    if not isinstance(said, str) or not said:
        return None
    try:
        said.encode()
    except UnicodeEncodeError:  # half a letter
        return None
    return said


def _refused(name: str, why: str) -> CatalogError:
    return CatalogError(
        f"The source of table '{name}' is a Delta table that cannot be read here: {why}.",
        hint="Write a plain copy (OPTIMIZE, REORG ... APPLY (PURGE), or an export to Parquet) and declare that.",
    )
