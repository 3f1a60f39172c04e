"""Where a process puts what its memory does not hold: a folder of its own, which does not outlive it."""

from __future__ import annotations

import fcntl
import os
import shutil
from functools import cache
from pathlib import Path


def own_folder(place: Path) -> Path:
    """Return a folder inside `place` for this process, and remove those of processes that are gone.

    Guarantee: a folder is removed by somebody else only when its process has ended, on whatever machine it
        ran: each holds a lock on its own. Whoever ends it removes it at once; what a power cut leaves goes
        with the next start.
    """
    return _own(place, os.getpid())


@cache
def _own(place: Path, process: int) -> Path:
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in place.iterdir():
        _remove_left(left)
    folder = place / str(process)
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)  # until the process ends
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Somebody may have taken it for one that was left, before the lock.
        if folder.exists() and os.path.samestat(os.fstat(lock), folder.stat()):
            return folder
        os.close(lock)


def _remove_left(folder: Path) -> None:
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return
    finally:
        os.close(lock)
