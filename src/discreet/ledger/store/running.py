"""Who is working on which charge: locks that die with the process that holds them."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

_guard = threading.Lock()
_files: dict[Path, int] = {}
_mine: set[tuple[Path, int]] = set()


def claim(path: Path, position: int) -> bool:
    """Return whether nobody who lives works on the charge at `position`; now this process does.

    Guarantee: at most one thread of all processes of this machine holds a claim at a time, and a
        process that ends, however it ends, holds none: the lock is a POSIX one, on one byte of a
        file that is only ever locked. (note 0032)
    """
    with _guard:
        if (path, position) in _mine:
            return False  # a lock of one process does not stop its own threads
        try:
            fcntl.lockf(_file(path), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, position)
        except (BlockingIOError, PermissionError):
            return False
        _mine.add((path, position))
        return True


def let_go(path: Path, position: int) -> None:
    """End a claim of this process; without one, nothing happens."""
    with _guard:
        if (path, position) in _mine:
            _mine.discard((path, position))
            fcntl.lockf(_file(path), fcntl.LOCK_UN, 1, position)


def _file(path: Path) -> int:
    # One descriptor for as long as the process lives: closing any would drop all locks of the file.
    if path not in _files:
        _files[path] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return _files[path]


def _forked() -> None:
    """Begin anew in a child: locks stay with the parent, whose threads may have held the guard."""
    global _guard  # noqa: PLW0603  # a lock that was copied while held would never open
    _guard = threading.Lock()
    _mine.clear()


os.register_at_fork(after_in_child=_forked)
