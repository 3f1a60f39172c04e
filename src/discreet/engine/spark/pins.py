"""Files that must stay as they are: what tells one state of them from the next."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

Facts = tuple[str, ...]
_TICK = 0.05
"""Seconds after which a file system's clock has moved on, so that one more change would show."""


def facts_of(paths: Iterable[Path]) -> Facts:
    """Return name, size, times and inode of files.

    Guarantee: equal facts before and after a reading mean that nothing was written between, on a
        file system whose clock ticks at least every 50 ms: a file that was written just now is
        waited for, because a second change within the same tick would carry the same time.
    """
    found = []
    for path in paths:
        stat = path.stat()
        age = time.time() - max(stat.st_mtime, stat.st_ctime)
        if 0 <= age < _TICK:
            time.sleep(_TICK)
            stat = path.stat()
        found.append(f"{path} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {stat.st_ino}")
    return tuple(found)
