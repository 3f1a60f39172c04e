"""A folder for one job: made for it, removed after it, and after a server that was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = "jobs"
_LOCK = "lock"


@contextmanager
def workplace(state: Path, name: str) -> Iterator[Path]:
    """Lend a folder of this name; whatever a job leaves in it, killed or not, goes with it."""
    place = state / FOLDER / name
    lock = _locked(place)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def _locked(place: Path) -> int:
    """Return the held lock of a new folder, also if another server swept it before it was held."""
    while True:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            lock = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (place / _LOCK).exists():
                return lock
            os.close(lock)


def sweep(state: Path) -> None:
    """Remove the folders of servers that were killed; those of another living one are locked."""
    if not (state / FOLDER).is_dir():
        return
    for place in (state / FOLDER).iterdir():
        with suppress(OSError):
            lock = os.open(place / _LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(lock)
