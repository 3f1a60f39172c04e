"""The workspace: the curator that is in force now, exchanged when discreet.toml changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from discreet.api import Curator, curator_of
from discreet.errors import DiscreetError

LOOK_AGAIN = 0.5
"""Seconds after which the file is looked at again: a change holds everywhere within a second."""


class FileVersion(NamedTuple):
    """What changes when the file does."""

    modified: int
    size: int
    inode: int


@dataclass
class _Shelf:
    """A curator, the file it was made from, and how many requests still use it."""

    curator: Curator
    stamp: FileVersion | None
    users: int = 0
    retired: bool = False


class Workspace:
    """Lends the curator of one discreet.toml; safe to share among threads.

    A request keeps the curator that it began with. After a change of the file, the old curator is
    closed when its last request ends. A file that has become wrong leaves the old one in force, and
    `problem` says what is wrong with it.
    """

    def __init__(self, config: Path) -> None:
        self._config = config
        self._lock = threading.RLock()
        self._looked = 0.0
        self._shelf: _Shelf | None = self._open()
        self.problem: DiscreetError | None = None

    @property
    def config(self) -> Path:
        """Return the path of discreet.toml, which need not exist yet."""
        return self._config

    @contextmanager
    def curator(self) -> Iterator[Curator]:
        """Lend the curator in force; it stays open while it is lent."""
        with self._lock:
            shelf = self._current()
            shelf.users += 1
        try:
            yield shelf.curator
        finally:
            with self._lock:
                shelf.users -= 1
                done = shelf.retired and shelf.users == 0
            if done:
                shelf.curator.close()

    def changed(self) -> bool:
        """Return whether the file may be another one by now; cheap, never waits for anybody."""
        shelf = self._shelf
        if shelf is None or time.monotonic() - self._looked <= LOOK_AGAIN:
            return False
        stamp = stamp_of(self._config)
        return stamp is not None and bool(stamp.size) and stamp != shelf.stamp

    def refresh(self) -> None:
        """Put a changed file in force, if it is right; opening it takes a while."""
        with self.curator():
            pass

    def lists(self, analyst: str) -> bool:
        """Return whether the catalog in force names this analyst; never waits for anybody."""
        shelf = self._shelf
        return shelf is not None and analyst in shelf.curator.catalog.analysts

    def reload(self) -> None:
        """Put the file as it is now in force, or raise and leave the old one in force."""
        with self._lock:
            self._exchange(self._open())

    def close(self) -> None:
        """Close the curator; requests that still use one let it go when they end."""
        with self._lock:
            self._exchange(None)

    def _current(self) -> _Shelf:
        now = time.monotonic()
        if self._shelf is None:
            self._exchange(self._open())
        elif now - self._looked > LOOK_AGAIN:
            self._looked = now
            stamp = stamp_of(self._config)
            # A file that is gone, or empty because somebody is writing it, changes nothing.
            if stamp is not None and stamp.size and stamp != self._shelf.stamp:
                self._try_new(stamp)
        assert self._shelf is not None, "an exchange puts a curator in force"
        return self._shelf

    def _try_new(self, stamp: FileVersion) -> None:
        assert self._shelf is not None, "only after a first one"
        try:
            self._exchange(self._open())
            self.problem = None
        except DiscreetError as error:
            self.problem = error
            self._shelf.stamp = stamp  # not again until it changes again

    def _open(self) -> _Shelf:
        stamp = stamp_of(self._config)  # before reading: a change meanwhile is seen next time
        curator = curator_of(self._config)
        _ = curator.ledger, curator.engine  # now, not in the first request
        return _Shelf(curator, stamp)

    def _exchange(self, new: _Shelf | None) -> None:
        old, self._shelf = self._shelf, new
        if old is None:
            return
        old.retired = True
        if old.users == 0:
            old.curator.close()


def stamp_of(path: Path) -> FileVersion | None:
    """Return what changes when a file does; None for one that is gone."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return FileVersion(facts.st_mtime_ns, facts.st_size, facts.st_ino)
