"""Who has come back from the provider and was not yet asked to confirm: in memory, for minutes, used once."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MINUTES = 10
KEPT = 1000
"""Sign-ins that wait for a confirmation; the oldest are forgotten first."""


class Tickets:
    """Random texts that each stand for one person, once."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def new(self, who: str) -> str:
        """Return the ticket of a person whom the provider has named."""
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            self._waiting[ticket] = (who, self._clock() + 60 * MINUTES)
            while len(self._waiting) > KEPT:
                self._waiting.popitem(last=False)
        return ticket

    def used(self, ticket: str) -> str | None:
        """Return whose ticket it was; None for one that is unknown, used or too old."""
        with self._lock:
            who, until = self._waiting.pop(ticket, ("", 0.0))
        return who if who and self._clock() < until else None
