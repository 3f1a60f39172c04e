"""Where releases stand, for pages that anybody may open: read from the ledger at most once a second."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from discreet.api import Curator
from discreet.server.features.publish.drafts import NAME

FRESH = 1.0
"""Seconds: what another process withdrew is gone from these pages within so long."""
HANDED_OUT = ("released", "superseded")
PUBLIC = (*HANDED_OUT, "withdrawn")


class Standings:
    """The releases of one server; safe to share among threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read = -FRESH
        self._of: Curator | None = None
        self._found: list[dict[str, Any]] = []

    def forget(self) -> None:
        """Read again when next asked: something has changed."""
        with self._lock:
            self._of = None

    def all(self, curator: Curator) -> list[dict[str, Any]]:
        """Return every release, latest change last."""
        with self._lock:
            old = time.monotonic() - self._read > FRESH
            if self._of is not curator or old:
                self._found = curator.releases()
                self._of, self._read = curator, time.monotonic()
            return self._found

    def public(self, curator: Curator, name: str) -> dict[str, Any] | None:
        """Return where a release stands that anybody may know of."""
        if not NAME.fullmatch(name):
            return None
        # Any stranger may try names: of unknown ones the ledger is asked no more than once a second.
        found = (each for each in self.all(curator) if each["release"] == name)
        standing = next(found, None)
        if standing is None or standing["state"] not in PUBLIC:
            return None
        return standing if curator.package(name).is_file() else None

    def package(self, curator: Curator, name: str) -> Path | None:
        """Return where the package of a release lies, while it is handed out."""
        standing = self.public(curator, name)
        if standing is None or standing["state"] not in HANDED_OUT:
            return None
        return curator.package(name)
