"""Connections to PostgreSQL, each lent to one user at a time, and the temporary tables on them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pyarrow as pa

from discreet.engine.base import EngineLimits
from discreet.engine.names import quoted
from discreet.engine.postgres.copies import store_temporary
from discreet.engine.postgres.rows import copy_table
from discreet.engine.postgres.session import Connection, PostgresSession


class ConnectionPool:
    """Lends sessions on which every uploaded and temporary table is there and up to date."""

    def __init__(self, url: str, limits: EngineLimits, *, allow_superuser: bool) -> None:
        self.url = url
        self.limits = limits
        self.uploads: dict[str, tuple[int, pa.Table]] = {}
        self.temporary: dict[str, str] = {}
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
        try:
            self._teach(session)
        except BaseException:
            self.give_back(session)
            raise
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

    def _teach(self, session: PostgresSession) -> None:
        for name, (version, table) in self.uploads.items():
            if session.known.get(name) != version:
                with session.within(self.limits.seconds) as wire:
                    _write_temporary(wire, name, table)
                session.known[name] = version
        for name, sql in self.temporary.items():
            if name not in session.known:
                with session.within(self.limits.store_seconds) as wire:
                    store_temporary(wire, name, sql)
                session.known[name] = 1


def _write_temporary(wire: Connection, name: str, table: pa.Table) -> None:
    with wire.transaction():
        wire.execute("SET TRANSACTION READ WRITE")
        wire.execute(f"DROP TABLE IF EXISTS pg_temp.{quoted(name)}".encode())
        copy_table(wire, f"pg_temp.{quoted(name)}", table)
