"""Templates of this process that its children ask as well: each of them would take half a second to start its own.

For children that are forked for tests. What a process does that starts its own is tested with real ones.
"""

import socket
import threading
from collections.abc import Callable

from discreet.data.engines import child, fork_server

ENGINE = child._READY
PLANNER = "discreet.ask.release.planning_limits"


def lend(*, planner: bool = False) -> list[int]:
    """Return descriptors for `borrow`: of the engines' template, and of the planner's where one is needed."""
    found = [fork_server._template(ENGINE, numpy=False)]
    if planner:
        found.append(fork_server._template(PLANNER, numpy=True))
    return [each._wire.fileno() for each in found]


def borrow(*numbers: int) -> None:
    """Ask these templates for children from now on; if one has ended, another is started as ever."""
    for ready, number in zip((ENGINE, PLANNER), numbers, strict=False):
        fork_server._templates[ready] = _Borrowed(socket.socket(fileno=number))


def for_a_fork() -> Callable[[], None]:
    """Return what a fork of this process calls to ask the templates that are there now."""
    found = dict(fork_server._templates)
    return lambda: fork_server._templates.update(
        {ready: _Borrowed(each._wire) for ready, each in found.items()}
    )


class _Borrowed(fork_server._Template):
    def __init__(self, wire: socket.socket) -> None:
        self._wire, self._lock = wire, threading.Lock()

    def close(self) -> None:
        self._wire.close()
