"""Where anonymized copies lie: one folder each, under names that the server chose."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet.errors import TooManyRequests, UnknownName

FOLDER = "anonymized"
MOST = 100
"""Copies that are kept."""
FILES = {
    "rows.csv": "text/csv; charset=utf-8",
    "rows.parquet": "application/vnd.apache.parquet",
    "report.html": "text/html; charset=utf-8",
    "report.json": "application/json",
}
"""What can be downloaded, and its media type."""
FRAGMENT = "report.part"
_FACTS = "facts.json"
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """An anonymized copy that was made, and what it is worth."""

    id: str
    dataset: str
    table: str
    created: float
    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"files": list(FILES)}


class Releases:
    """The folder of anonymized copies; safe to share among threads.

    Guarantee: no name that a caller chose becomes a path; a copy is there whole or not at all.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def all(self) -> list[StoredRelease]:
        """Return the copies, latest first."""
        if not self._folder.is_dir():
            return []
        found = [self._read(place) for place in self._folder.iterdir() if _ID.fullmatch(place.name)]
        return sorted((each for each in found if each is not None), key=lambda each: -each.created)

    def find(self, name: str) -> StoredRelease:
        """Return one copy."""
        found = self._read(self._folder / name) if _ID.fullmatch(name) else None
        if found is None:
            raise UnknownName(
                "There is no such anonymized copy.", hint="GET /api/v1/anonymize lists them."
            )
        return found

    def file(self, release: StoredRelease, name: str) -> Path:
        """Return the path of one of a copy's files."""
        path = self._folder / release.id / name
        if name not in FILES or not path.is_file():
            raise UnknownName("This copy has no such file.", hint=f"There are: {', '.join(FILES)}.")
        return path

    def part(self, release: StoredRelease) -> str:
        """Return the report as a part of a page: markup that we made, every text escaped."""
        try:
            return (self._folder / release.id / FRAGMENT).read_text(encoding="utf-8")
        except OSError:
            return ""

    def room(self) -> None:
        """Refuse when there are too many copies, before anything leaves."""
        if len(self.all()) >= MOST:
            raise TooManyRequests(
                f"There are {MOST} anonymized copies already.",
                hint="Delete some that nobody needs.",
            )

    def keep(
        self, dataset: str, table: str, facts: dict[str, Any], fill: Callable[[Path], None]
    ) -> StoredRelease:
        """Return the copy after `fill` has written its files into a folder; whole or not at all."""
        release = StoredRelease(uuid.uuid4().hex, dataset, table, time.time(), facts)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self._folder, prefix="making-"))
        try:
            fill(place)
            (place / _FACTS).write_text(json.dumps(asdict(release)), encoding="utf-8")
            place.rename(self._folder / release.id)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return release

    def remove(self, release: StoredRelease) -> None:
        """Delete a copy; that it left stays in the ledger."""
        shutil.rmtree(self._folder / release.id, ignore_errors=True)

    def _read(self, place: Path) -> StoredRelease | None:
        try:
            return StoredRelease(**json.loads((place / _FACTS).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None  # being made, being deleted, or left behind by a crash
