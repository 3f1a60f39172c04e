"""Rate limit on audit log lines that failed requests may cause."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

BURST = 30
PAUSE = 60.0
"""After BURST lines at once, one in so many seconds: nobody fills a disk by guessing tokens."""
KEPT = 1000
"""Kinds of failure that are told apart; the longest unseen are forgotten first."""


class RateLimitedLog:
    """A bucket for each kind of failure, which counts what it turned away."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds: OrderedDict[str, tuple[float, float, int]] = OrderedDict()

    def may_write(self, kind: str) -> int | None:
        """Return None if it is not time for another line; else how many were left out before it."""
        now = self._clock()
        with self._lock:
            level, seen, missed = self._kinds.pop(kind, (float(BURST), now, 0))
            level = min(float(BURST), level + (now - seen) / PAUSE)
            enough = level >= 1
            left = (level - 1, now, 0) if enough else (level, now, missed + 1)
            self._kinds[kind] = left
            if len(self._kinds) > KEPT:
                self._kinds.popitem(last=False)
        return missed if enough else None
