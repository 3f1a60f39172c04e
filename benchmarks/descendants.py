"""Memory and processor time of the processes that a benchmark has started, also by way of others.

The engine's process is forked by another child, and lives on after a measurement: what the system says
of children that were waited for leaves it out.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self

PAUSE = 0.1
"""Seconds between two looks."""
_TICKS = os.sysconf("SC_CLK_TCK")


class Descendants(threading.Thread):
    """Looks at every descendant of this process until it is left, as a context."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._over = threading.Event()
        self._first: dict[int, float] = {}
        self._last: dict[int, float] = {}
        self._memory: dict[int, int] = {}

    def __enter__(self) -> Self:
        self._look()
        self._first = dict(self._last)
        self._memory.clear()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._look()
        self._over.set()
        self.join()

    @property
    def seconds(self) -> float:
        """Return the processor seconds of all of them since the context was entered."""
        return sum(self._last.values()) - sum(self._first.values())

    @property
    def gigabytes(self) -> float:
        """Return the greatest memory of the largest one."""
        return max(self._memory.values(), default=0) / 1e6

    def run(self) -> None:
        """Look again and again: a process that ends between two looks loses what it did since."""
        while not self._over.wait(PAUSE):
            self._look()

    def _look(self) -> None:
        parents: dict[int, int] = {}
        times: dict[int, float] = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                # The name of a program may hold anything, also spaces and brackets.
                facts = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(place.name)] = int(facts[1])
            times[int(place.name)] = (int(facts[11]) + int(facts[12])) / _TICKS
        for pid in parents:
            if pid != os.getpid() and _below(pid, os.getpid(), parents):
                self._last[pid] = times[pid]
                self._memory[pid] = max(self._memory.get(pid, 0), _greatest(pid))


def _below(pid: int, top: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != top:
        pid = parents[pid]
    return pid == top


def _greatest(pid: int) -> int:
    """Return the greatest resident memory of a process, in kilobytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
