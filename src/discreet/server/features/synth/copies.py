"""Where synthetic copies lie: one folder each, under names that the server chose."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import TooManyRequests, UnknownName
from discreet.synth.encoding.shape import Codes

FOLDER = "synthetic"
MOST = 200
MOST_EACH = 20
MOST_BYTES = 20 << 30
"""Copies that are kept, those that one analyst paid for, and what all of them may take."""

FILES = {
    "rows.csv": "text/csv; charset=utf-8",
    "rows.parquet": "application/vnd.apache.parquet",
    "model.json": "application/json",
    "report.html": "text/html; charset=utf-8",
    "report.json": "application/json",
    "comparison.html": "text/html; charset=utf-8",
}
"""What can be downloaded, and its media type."""
OWNERS_ONLY = frozenset({"comparison.html"})
"""Files that hold exact values."""
FRAGMENT = "report.part"
CODES = "codes.npy"
_FACTS = "facts.json"
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Copy:
    """A synthetic copy that was made: all of it is paid for, so using it is free.

    `analyst` is whose share paid, None for the owner. `target` is the column that reports predict.
    """

    id: str
    dataset: str
    table: str
    method: str
    epsilon: str
    rows: int
    columns: tuple[str, ...]
    created: float
    analyst: str | None
    notices: tuple[str, ...]
    target: str | None = None
    compared: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for those who may see it."""
        return asdict(self) | {"columns": list(self.columns), "notices": list(self.notices)}


class Copies:
    """The folder of synthetic copies; safe to share among threads.

    Guarantee: no name that a caller chose becomes a path; a copy is there whole or not at all.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER
        self._lock = threading.Lock()

    def all(self, analyst: str | None = None) -> list[Copy]:
        """Return the copies, latest first; only those that this analyst paid for, if one is given."""
        if not self._folder.is_dir():
            return []
        found = [self._read(place) for place in self._folder.iterdir() if _ID.fullmatch(place.name)]
        known = [copy for copy in found if copy is not None]
        mine = [copy for copy in known if analyst in (None, copy.analyst)]
        return sorted(mine, key=lambda copy: -copy.created)

    def find(self, name: str, analyst: str | None = None) -> Copy:
        """Return one copy; those of others do not exist for an analyst."""
        found = self._read(self._folder / name) if _ID.fullmatch(name) else None
        if found is None or analyst not in (None, found.analyst):
            raise UnknownName(
                "There is no such synthetic copy.", hint="GET /api/v1/synth lists yours."
            )
        return found

    def file(self, copy: Copy, name: str) -> Path:
        """Return the path of one of a copy's files."""
        path = self._folder / copy.id / name
        if name not in FILES or not path.is_file():
            raise UnknownName("This copy has no such file.", hint=f"There are: {', '.join(FILES)}.")
        return path

    def part(self, copy: Copy) -> str:
        """Return the report as a part of a page: markup that we made, every text escaped."""
        try:
            return (self._folder / copy.id / FRAGMENT).read_text(encoding="utf-8")
        except OSError:
            return ""

    def codes(self, copy: Copy) -> Codes:
        """Return the rows of a copy as codes, for a comparison."""
        found: Codes = np.load(self._folder / copy.id / CODES, allow_pickle=False)
        return found

    def room(self, analyst: str | None = None) -> None:
        """Refuse when there are too many copies or bytes, before anything is paid.

        Random copies are free, so without an end to it anybody could fill the disk.
        """
        if analyst is not None and len(self.all(analyst)) >= MOST_EACH:
            raise TooManyRequests(
                f"You have {MOST_EACH} synthetic copies already.", hint="Delete some of them."
            )
        if len(self.all()) >= MOST or self._bytes() >= MOST_BYTES:
            raise TooManyRequests(
                f"There are {MOST} synthetic copies or {MOST_BYTES >> 30} GB of them already.",
                hint="Delete some that nobody needs.",
            )

    def _bytes(self) -> int:
        return sum(path.stat().st_size for path in self._folder.glob("*/*") if path.is_file())

    def keep(self, copy: Copy, fill: Callable[[Path], None]) -> Copy:
        """Return the copy after `fill` has written its files into a folder; whole or not at all."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self._folder, prefix="making-"))
        try:
            fill(place)
            _write_facts(place, copy)
            with self._lock:
                target = self._folder / copy.id
                if target.exists():
                    shutil.rmtree(target)
                place.rename(target)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return copy

    def add(self, copy: Copy, name: str, text: str) -> Copy:
        """Return the copy with one more file."""
        place = self._folder / copy.id
        (place / name).write_text(text, encoding="utf-8")
        found = replace(copy, compared=True) if name in OWNERS_ONLY else copy
        _write_facts(place, found)
        return found

    def remove(self, copy: Copy) -> None:
        """Delete a copy; what it cost stays spent."""
        with self._lock:
            shutil.rmtree(self._folder / copy.id, ignore_errors=True)

    def _read(self, place: Path) -> Copy | None:
        try:
            facts = json.loads((place / _FACTS).read_text(encoding="utf-8"))
            lists = {name: tuple(facts[name]) for name in ("columns", "notices")}
            return Copy(**(facts | lists))
        except (OSError, ValueError, TypeError, KeyError):
            return None  # being made, being deleted, or left behind by a crash


def _write_facts(place: Path, copy: Copy) -> None:
    handle, name = tempfile.mkstemp(dir=place)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(asdict(copy), file)
    Path(name).replace(place / _FACTS)


def now() -> float:
    """Return the time that a copy is stamped with."""
    return time.time()
