"""Ports for servers of tests, each given once.

A port that the system names as free may be given to another process before it is used. These come
from below the range that the system gives away, and each worker has its own.
"""

import itertools
import os
import random
import socket

FIRST, EACH = 20_000, 1_000
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 12
_BEGIN = random.randrange(EACH)
_PORTS = (FIRST + EACH * _WORKER + (_BEGIN + turn) % EACH for turn in itertools.count())


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
