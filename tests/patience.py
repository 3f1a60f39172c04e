"""How long tests wait, and how a limit on work is stated so that a slower machine keeps it.

A wait that ends when something happens may be long: only a failure pays for it. Work is limited in
processor time of this process, in units of a yardstick: on a machine that is five times slower the
yardstick is five times longer, and so is the limit.
"""

import time
from fractions import Fraction

LONG = 300.0
"""Seconds to wait for something that takes at most a few on an idle machine."""
SLACK = 30.0
"""Seconds within which a busy machine does what an idle one does at once."""
YARDSTICK = 0.010
"""Processor seconds of `_work` on the machine where the limits were chosen."""


def _work():
    total = Fraction(0)
    for i in range(1, 2000):
        total = (total + Fraction(i, 7)) % 11
    return total


def yardstick():
    """Return the processor seconds that the work of the yardstick takes now."""
    start = time.process_time()
    _work()
    return time.process_time() - start


def slowness():
    """Return how many times slower this processor is than the one of the limits, at least 1."""
    return max(1.0, sorted(yardstick() for _ in range(7))[3] / YARDSTICK)


def eventually(holds, what):
    """Wait until `holds()` is true; say `what` did not happen if it never is."""
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def quickest(work):
    """Return the least processor time of three calls of `work(turn)`.

    One may have been interrupted, by the collector of a full process or by neighbours on the machine.
    """
    seconds = []
    for turn in range(3):
        start = time.process_time()
        work(turn)
        seconds.append(time.process_time() - start)
    return min(seconds)
