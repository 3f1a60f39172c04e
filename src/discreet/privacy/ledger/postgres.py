"""The history in a PostgreSQL database: one advisory lock, synchronous commit."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from discreet.base.packages import needs
from discreet.errors import DiscreetError, LedgerTampered, LedgerWriteFailed
from discreet.privacy.ledger.sqlite_file import in_use
from discreet.privacy.ledger.store import (
    ANSWER,
    TABLES,
    VERSION,
    HistoryWriter,
    SqlTables,
    StoredAnswer,
    held_too_long,
    lacks_tables,
    not_a_ledger,
    require_version,
)

BUSY_SECONDS = 60
LOCK = 0x44504C47  # the advisory lock that every writer holds until its commit
USERS = 0x44504C48  # and this one every connection shares, so that a restore can be alone
CLOSING_SECONDS = 2
"""How long a closed connection may go on to hold its locks: until its server process has ended."""
PREFIX = "discreet_"

_CLAIM = "SELECT pg_try_advisory_lock(%s, %s)"  # held by the session: it ends with the connection
_BUSY = frozenset({"55P03", "57014", "40P01", "40001"})
_FOREIGN = frozenset({"42P01", "42703", "42804"})


class PostgresStore(SqlTables):
    """Three tables in one database, with the head in a file under `folder` on this machine.

    Guarantee: as in Store, if the server keeps what it acknowledges (fsync and full_page_writes on,
    which are its defaults).
    """

    prefix = PREFIX

    def __init__(
        self,
        url: str,
        *,
        folder: Path,
        busy_seconds: float = BUSY_SECONDS,
        alone: bool = False,
    ) -> None:
        with needs("psycopg", extra="postgres"):
            import psycopg
        self._psycopg = psycopg
        self._url = url
        self._folder = folder
        self._alone = alone
        self._busy_seconds = busy_seconds
        self._connection: Any = None
        self._claimed: set[int] = set()
        self._pid = -1
        with self._translated():
            self._connected()

    @property
    def name(self) -> str:
        """Return the name of the database, without user and password."""
        return f"in PostgreSQL database '{urlsplit(self._url).path.lstrip('/') or 'default'}'"

    @property
    def head_path(self) -> Path:
        """Return a file whose name follows from the server and the database, not the password."""
        parts = urlsplit(self._url)
        where = f"{parts.hostname}:{parts.port}{parts.path}?{parts.query}"
        return self._folder / f"ledger-{hashlib.sha256(where.encode()).hexdigest()[:12]}.head"

    @contextmanager
    def exclusive(self) -> Iterator[HistoryWriter]:
        """Return a transaction that ends with a durable commit."""
        with self._translated():
            connection = self._connected()
            with connection.transaction():
                # READ COMMITTED: each later statement sees all that was committed before it, so
                # also what the previous holder of the lock wrote.
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                yield self

    def claim(self, position: int) -> bool:
        """Return whether nobody who lives works on this charge; now this session does."""
        self._connected()  # first: after a fork, nothing is claimed
        if position in self._claimed:
            return False  # a session may take its own locks several times
        ((granted,),) = self._select(_CLAIM, LOCK, position)
        if granted:
            self._claimed.add(position)
        return bool(granted)

    def let_go(self, position: int) -> None:
        """End a claim."""
        if position in self._claimed:
            self._claimed.discard(position)
            self._select("SELECT pg_advisory_unlock(%s, %s)", LOCK, position)

    def every_answer(self) -> Iterator[StoredAnswer]:
        """Yield all answers, oldest first."""
        for row in self._rows(f"SELECT {ANSWER} FROM {PREFIX}answers ORDER BY position"):
            yield StoredAnswer(*row).checked()

    def examine(self) -> None:
        """Read everything once; the server checks its own pages as they are read."""
        self._select("SELECT COUNT(*) FROM discreet_entries")

    def close(self) -> None:
        """Let go of the connection; a later call opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None and self._pid == os.getpid():
            connection.close()

    def _select(self, statement: str, *values: Any) -> list[Any]:
        return list(self._rows(statement, *values))

    def _rows(self, statement: str, *values: Any) -> Iterator[Any]:
        with self._translated(), self._connected().cursor() as cursor:
            yield from cursor.execute(statement.replace("?", "%s"), values)

    def _change(self, statement: str, *values: Any) -> int:
        return int(self._connected().execute(statement.replace("?", "%s"), values).rowcount)

    def _connected(self) -> Any:
        # A connection belongs to the process that made it; after a fork the child makes its own
        # and leaves the parent's alone, without closing it.
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        _forgotten.append(self._connection)
        if self._pid != os.getpid():
            self._claimed = set()  # a parent's claims are not a child's
        self._connection = self._connect()
        self._pid = os.getpid()
        return self._connection

    def _connect(self) -> Any:
        milliseconds = max(1, int(self._busy_seconds * 1000))
        connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=10)
        try:
            connection.execute("SET synchronous_commit = on")
            connection.execute(f"SET lock_timeout = {milliseconds}")
            connection.execute("SET default_transaction_isolation = 'read committed'")
            self._enter(connection)
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                self._set_up(connection)
            for position in self._claimed:  # the lost connection took its locks along
                connection.execute(_CLAIM, (LOCK, position))
        except BaseException:
            connection.close()
            raise
        return connection

    def _enter(self, connection: Any) -> None:
        """Hold, as long as the connection lasts, the lock that says who uses the ledger."""
        if not self._alone:
            connection.execute("SELECT pg_advisory_lock_shared(%s)", (USERS,))
            return
        end = time.monotonic() + CLOSING_SECONDS
        while not connection.execute("SELECT pg_try_advisory_lock(%s)", (USERS,)).fetchone()[0]:
            if time.monotonic() > end:
                raise in_use(self.name)
            time.sleep(0.05)

    def _set_up(self, connection: Any) -> None:
        names = {
            name
            for (name,) in connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() "
                "AND tablename LIKE 'discreet\\_%%'"
            )
        }
        if f"{PREFIX}version" in names:
            ((version,),) = connection.execute(f"SELECT version FROM {PREFIX}version").fetchall()
            require_version(version, name=f"The ledger {self.name}")
            return
        if names & {f"{PREFIX}entries", f"{PREFIX}answers"}:
            raise not_a_ledger(f"What lies {self.name}")
        connection.execute(f"CREATE TABLE {PREFIX}version (version INTEGER NOT NULL)")
        connection.execute(f"INSERT INTO {PREFIX}version VALUES ({VERSION})")
        for statement in TABLES:
            connection.execute(statement.format(p=PREFIX, blob="BYTEA"))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            if self._connection is not None and (self._connection.broken or error.sqlstate is None):
                self._connection = None
            raise _words(error.sqlstate, self.name) from error


_forgotten: list[Any] = []  # connections of a parent process, never closed


def _words(state: str | None, name: str) -> DiscreetError:
    # The server's own text may name hosts, users or values: it stays in the exception's cause.
    if state in _BUSY:
        return held_too_long(name)
    if state in _FOREIGN:
        return lacks_tables(name)
    if state is not None and state.startswith(("XX", "23")):
        return LedgerTampered(f"The ledger {name} is damaged.")
    return LedgerWriteFailed(
        f"The ledger {name} could not be reached or written, so nothing is answered.",
        hint="Is the server running, and may this user write to the database?",
    )
