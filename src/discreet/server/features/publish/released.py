"""Reading a released package for its page: one table at a time, only as many rows as are shown."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.server.shelf import MEDIA_TYPES

MEMBERS = {
    ending: MEDIA_TYPES.get(ending, "text/plain; charset=utf-8")
    for ending in ("csv", "parquet", "html", "json", "toml", "py")
}
"""What can be downloaded on its own, by its ending, and its media type."""
LARGEST_MEMBER = 64 << 20
MOST_ROWS = 2_000_000
"""Tables with more rows are downloaded, not shown."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownTable:
    """One table of a release: its facts in the manifest, and the rows that pass the filters."""

    name: str
    facts: Mapping[str, Any]
    rows: pa.Table


@lru_cache(maxsize=32)
def _manifest(path: str, _changed: int) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return found


def manifest(path: Path) -> dict[str, Any]:
    """Return what the owner signed."""
    return _manifest(str(path), path.stat().st_mtime_ns)


def member(path: Path, name: str) -> bytes | None:
    """Return one member; None for names that the package does not list, or too large ones."""
    listed = manifest(path)["members"].get(name)
    if listed is None or listed["bytes"] > LARGEST_MEMBER:
        return None
    if name.rpartition(".")[2] not in MEMBERS:
        return None
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def table(path: Path, name: str, chosen: Mapping[str, str]) -> ShownTable | None:
    """Return a table with the rows whose keys have the chosen values."""
    facts = manifest(path)["tables"].get(name)
    if facts is None or facts["rows"] > MOST_ROWS:
        return None
    keys = {key["name"] for key in facts["keys"]}
    with zipfile.ZipFile(path) as archive:
        content = archive.read(f"tables/{name}.parquet")
    rows = pq.read_table(io.BytesIO(content))
    for key, value in chosen.items():
        if key in keys:
            rows = rows.filter(pc.equal(pc.cast(rows[key], pa.string()), value))
    return ShownTable(name, facts, rows)
