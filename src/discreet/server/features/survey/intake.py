"""Whether reports are taken at all: room on the disk, limits of all surveys together, a rate for each address."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import CollectorClosed, TooLarge
from discreet.server.access.limits import Buckets, network_of
from discreet.server.context import kept_once
from discreet.server.features.survey.reading import LARGEST_REPORT, PIECE, cost_of_bytes
from discreet.server.settings import Settings
from discreet.survey.collect.store import FOLDER, LATER, size_of, survey_names

MB = 1 << 20
COUNTED_AGAIN = 1.0
"""Seconds after which what lies on the disk is counted anew."""
GROWTH = 4
"""How many times its bytes a report takes on the disk at most, in the file and in its journal."""
ONE = (1, GROWTH * LARGEST_REPORT)
"""One report of the largest size: the intake is closed where there is no room for it."""
USUAL_FLOOR, USUAL_PART = 1024 * MB, 20
_log = logging.getLogger("discreet.server")

DiskSpace = tuple[int, int]
"""The bytes of a disk in all, and those of them that are free."""


def disk_space(folder: Path) -> DiskSpace:
    """Return the space of the disk that a folder is on."""
    found = shutil.disk_usage(folder)
    return found.total, found.free


class ReportIntake:
    """Lets reports in while there is room; everything else of the server goes on when there is none.

    Guarantee: requests of strangers never take the last `floor` bytes of the disk (to within what other
        programs write meanwhile), and all surveys together never hold more than `survey_reports` reports and
        `survey_mb`: what is being taken counts at `GROWTH` times its bytes until it is counted on the disk.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = settings.config.parent
        self._rate = Buckets(settings.survey_rate, settings.survey_burst)
        self._burst = settings.survey_burst
        self._lock = threading.Lock()
        self._counted = (0, 0)
        self._at = float("-inf")
        self._inside = self._since = (0, 0)
        self._told = ""

    def trouble(self) -> str:
        """Return why nothing is taken just now, or nothing."""
        with self._lock:
            found = self._trouble(ONE)
            if found != self._told:
                facts = {"facts": {"reason": found or "there is room again"}}
                _log.warning("surveys are %s", "closed" if found else "open", extra=facts)
            self._told = found
            return found

    def check(self) -> None:
        """Refuse a request before its body is read, if nothing is taken just now."""
        found = self.trouble()
        if found:
            raise CollectorClosed(found, hint=LATER)

    def take_rate(self, address: str, reports: int, *, taken: int = 0) -> None:
        """Take so many reports from the rate of an address, less those that their request took already, or refuse them.

        Guarantee: one request gets in no more reports than the burst of an address, and each is taken from its rate:
            an address sends at most the burst and then the rate, however its reports are divided into requests.
        """
        if reports > self._burst:
            raise TooLarge(
                f"This server takes at most {self._burst:,} reports at once.",
                hint=f"Send several batches; {PIECE >> 10} KB count as a report at least.",
            )
        if reports > taken:
            self._rate.take(network_of(address), reports - taken)

    def take_bytes(self, address: str, body: bytes) -> None:
        """Take what the bytes of a refused request cost, at most all that an address has."""
        self._rate.take(network_of(address), min(cost_of_bytes(body), self._burst))

    @contextmanager
    def admitted(self, reports: int, size: int) -> Iterator[None]:
        """Let so many reports of so many bytes in, or refuse them; they count until they are on the disk."""
        asked = (reports, GROWTH * size)
        with self._lock:
            found = self._trouble(asked)
            if found:
                raise CollectorClosed(found, hint=LATER)
            self._inside = _sum(self._inside, asked)
        try:
            yield
        finally:
            with self._lock:
                self._inside = _sum(self._inside, (-asked[0], -asked[1]))
                self._since = _sum(self._since, asked)

    @property
    def floor(self) -> int:
        """Return how many bytes of the disk must stay free."""
        stated = self._settings.free_disk_mb
        if stated is not None:
            return stated * MB
        return min(USUAL_FLOOR, disk_space(self._base)[0] // USUAL_PART)

    def _trouble(self, asked: tuple[int, int]) -> str:
        now = time.monotonic()
        if now - self._at >= COUNTED_AGAIN:
            self._counted, self._since, self._at = held_in_all(self._base), (0, 0), now
        coming = _sum(self._inside, asked)
        if disk_space(self._base)[1] - coming[1] < self.floor:
            return "The server takes no reports just now: its disk is nearly full."
        reports, size = _sum(_sum(self._counted, self._since), coming)
        settings = self._settings
        if reports > settings.survey_reports or size > settings.survey_mb * MB:
            return "The server takes no reports just now: its surveys hold as many as they may."
        return ""


def held_in_all(base: Path) -> tuple[int, int]:
    """Return how many reports all surveys hold, and the bytes of their files; what cannot be read is left out."""
    found = (0, 0)
    for name in survey_names(base):
        try:
            found = _sum(found, size_of(base / FOLDER / name))
        except (OSError, sqlite3.Error):
            continue
    return found


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


intake_of = kept_once(ReportIntake)
"""The intake of this server's collector."""
