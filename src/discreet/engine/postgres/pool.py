"""Connections to PostgreSQL, each lent to one user at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from discreet.engine.base import EngineLimits
from discreet.engine.postgres.session import Connection, PostgresSession


class ConnectionPool:
    """Lends sessions; some are kept for the next user."""

    def __init__(self, url: str, limits: EngineLimits, *, allow_superuser: bool) -> None:
        self.url = url
        self.limits = limits
        self._allow_superuser = allow_superuser
        self._lock = threading.Lock()
        self._idle: list[PostgresSession] = []
        self._busy: set[PostgresSession] = set()

    @contextlib.contextmanager
    def lend(self, seconds: float) -> Iterator[Connection]:
        """Lend a connection for statements that need not see one state."""
        session = self.take()
        try:
            with session.within(seconds) as wire:
                yield wire
        finally:
            self.give_back(session)

    def take(self) -> PostgresSession:
        """Return a session; whoever takes it gives it back."""
        with self._lock:
            session = self._idle.pop() if self._idle else None
        if session is not None and not session.idle:  # its server went away meanwhile
            session.close()
            session = None
        if session is None:
            session = PostgresSession(self.url, self.limits, allow_superuser=self._allow_superuser)
        with self._lock:
            self._busy.add(session)
        return session

    def give_back(self, session: PostgresSession) -> None:
        """Take a session back; one in the middle of a transaction is rolled back or closed."""
        session.end()
        with self._lock:
            self._busy.discard(session)
            keep = session.idle and len(self._idle) < self.limits.workers
            if keep:
                self._idle.append(session)
        if not keep:
            session.close()

    def cancel(self, thread: int | None) -> None:
        """Stop the statements that run now, or those that one thread waits for."""
        with self._lock:
            running = [s for s in self._busy if s.user is not None and thread in (None, s.user)]
        for session in running:
            session.cancel()

    def close(self) -> None:
        """Close what is idle; what is lent goes when it comes back."""
        with self._lock:
            idle = list(self._idle)
            self._idle.clear()
        for session in idle:
            session.close()
