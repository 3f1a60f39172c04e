"""Ports for servers of tests, each given once.

A port that the system names as free may be given to another process before it is used. These come
from below the range that the system gives away, and each worker has its own.
"""

import itertools
import random
import socket

from workers import worker

FIRST, EACH = 20_000, 1_000
_BEGIN = random.randrange(EACH)


def _ports():
    first = FIRST + EACH * ((worker() or 0) % 12)
    yield from (first + (_BEGIN + turn) % EACH for turn in itertools.count())


_PORTS = _ports()


def free_port() -> int:
    """Return a port that nobody listens on and that was not returned before."""
    for port in _PORTS:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("there is always another port")
