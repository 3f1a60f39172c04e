"""Rate limits: a token bucket for each caller."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from discreet.errors import TooManyRequests

KEPT = 10_000
"""Callers whose buckets are remembered; the longest unseen are forgotten first."""


WRONG = 5.0
"""What a wrong token takes from the bucket of its address, whichever way it came."""


class Buckets:
    """One bucket for each caller: `burst` requests at once, then `rate` a second."""

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, amount: float = 1.0) -> None:
        """Take from the caller's bucket, or raise TooManyRequests and take nothing."""
        now = self._clock()
        with self._lock:
            level, seen = self._levels.pop(caller, (float(self._burst), now))
            level = min(float(self._burst), level + (now - seen) * self._rate)
            enough = level >= amount
            self._levels[caller] = (level - amount if enough else level, now)
            if len(self._levels) > KEPT:
                self._levels.popitem(last=False)
        if not enough:
            raise TooManyRequests(
                "Too many requests.", hint=f"At most {self._rate:g} a second are answered."
            )


def fine(buckets: Buckets, caller: str, amount: float = WRONG) -> None:
    """Take more for a wrong token than for a right one; raise when there is nothing left to take."""
    try:
        buckets.take(caller, amount)
    except TooManyRequests:
        buckets.take(caller)


def network_of(address: str) -> str:
    """Return what one sender may be: an address, or the 64 bits of IPv6 that one network is given.

    >>> network_of("2001:db8::1:2"), network_of("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
