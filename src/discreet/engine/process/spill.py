"""Where a process puts what its memory does not hold: a folder of its own, which does not outlive it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_NAME = "discreet-spill-"


def own_folder(place: Path) -> Path:
    """Return a new folder inside `place`, for as long as this process lives, and remove those of others that are gone.

    Guarantee: nobody removes it while this process lives, on whatever machine the others run: it is locked
        before it has the name by which it would be taken for one that was left, and no name is used twice.
    """
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_left(place)
    made = Path(tempfile.mkdtemp(prefix=".", dir=place))
    lock = os.open(made, os.O_RDONLY)  # until the process ends
    fcntl.flock(lock, fcntl.LOCK_EX)
    return made.rename(place / f"{_NAME}{made.name[1:]}")


def remove_left(place: Path) -> None:
    """Remove the folders of processes that have ended."""
    for folder in place.glob(f"{_NAME}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue  # somebody else was quicker
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # its process lives
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
