"""Anonymized copies that were made, and the shelf that they lie on."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import Any, Self

from discreet.server.shelf import Kept, Shelf

FILES = {
    "rows.csv": "CSV",
    "rows.parquet": "Parquet",
    "report.html": "report",
    "report.json": "report as JSON",
}
"""What can be downloaded, and what pages call it."""


@dataclass(frozen=True, slots=True)
class StoredRelease(Kept):
    """An anonymized copy that was made, and what it is worth."""

    id: str
    dataset: str
    table: str
    created: float
    facts: dict[str, Any]

    @classmethod
    def new(cls, dataset: str, table: str, facts: dict[str, Any]) -> Self:
        """Return a copy that is made now."""
        return cls(uuid.uuid4().hex, dataset, table, time.time(), facts)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, and which files there are."""
        return Kept.to_json(self) | {"files": list(FILES)}


class Releases(Shelf[StoredRelease]):
    """The anonymized copies of this server."""

    kind, files, most = StoredRelease, FILES, 100
    folder, listed_by = "anonymized", "/api/v1/anonymize"
    one, many = "anonymized copy", "anonymized copies"
