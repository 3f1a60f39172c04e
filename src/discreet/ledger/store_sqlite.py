"""The history in one SQLite file: write-ahead log, synced at every commit."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.errors import (
    DiscreetError,
    LedgerBusy,
    LedgerError,
    LedgerTampered,
    LedgerWriteFailed,
    NotALedger,
)
from discreet.ledger import running
from discreet.ledger.head import HeadFile
from discreet.ledger.history import Link
from discreet.ledger.store import (
    TABLES,
    VERSION,
    StoredAnswer,
    Writer,
    not_a_ledger,
    steps_from,
)

APPLICATION_ID = 0x44504C47  # "DPLG", in the header of every ledger file
MAGIC = b"SQLite format 3\x00"  # how every database of SQLite begins
BUSY_SECONDS = 60.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.0005, 0.008  # seconds between two looks at the lock

_LINK = "SELECT position, kind, body, previous, hash FROM entries"
_ANSWER = (
    "SELECT request_id, position, analyst, dataset, question, payload, digest, snapshot "
    "FROM answers"
)


class SqliteStore:
    """One file. Guarantee: as in Store, if the file system keeps what it has synced."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._connection: sqlite3.Connection | None = None
        self._pid = self._inode = -1
        with self._translated():
            self._connected()

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return f"'{self._path.name}'"

    @property
    def head_path(self) -> Path:
        """Return the file beside this one."""
        return self._path.with_name(self._path.name + ".head")

    @contextmanager
    def exclusive(self) -> Iterator[Writer]:
        """Return a transaction that ends with a durable commit."""
        with self._translated():
            connection = self._connected()
            self._begin(connection)
            try:
                yield self
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def _begin(self, connection: sqlite3.Connection) -> None:
        # SQLite's own waiting sleeps up to 100 ms between two looks, which many processes feel.
        connection.execute("PRAGMA busy_timeout = 0")
        end, pause = time.monotonic() + self._busy_seconds, SHORTEST_PAUSE
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * self._busy_seconds)}")

    def links(self, *, start: int) -> Iterator[Link]:
        """Yield the stored links from position `start` on."""
        for row in self._select(f"{_LINK} WHERE position >= ? ORDER BY position", start):
            yield Link(*row)

    def find(self, position: int) -> Link | None:
        """Return the link at `position`."""
        rows = list(self._select(f"{_LINK} WHERE position = ?", position))
        return Link(*rows[0]) if rows else None

    def append(self, link: Link) -> None:
        """Add one link."""
        self._connected().execute(
            "INSERT INTO entries (position, kind, body, previous, hash) VALUES (?, ?, ?, ?, ?)",
            (link.position, link.kind, link.body, link.previous, link.hash),
        )

    def add_answer(self, answer: StoredAnswer) -> None:
        """Keep `answer` unless one with its request id is kept already."""
        self._connected().execute(
            "INSERT INTO answers (request_id, position, analyst, dataset, question, payload, "
            "digest, snapshot) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (
                answer.request_id,
                answer.position,
                answer.analyst,
                answer.dataset,
                answer.question,
                answer.payload,
                answer.digest,
                answer.snapshot,
            ),
        )

    def erase(self) -> None:
        """Remove every link and answer."""
        self._connected().execute("DELETE FROM entries")
        self._connected().execute("DELETE FROM answers")

    def answer(self, request_id: str) -> StoredAnswer | None:
        """Return the stored answer of a request."""
        rows = list(self._select(f"{_ANSWER} WHERE request_id = ?", request_id))
        return StoredAnswer(*rows[0]).checked() if rows else None

    def answers(
        self, *, dataset: str, analyst: str, snapshot: str, last: int
    ) -> list[StoredAnswer]:
        """Return the `last` answers that one analyst got about one snapshot, oldest first."""
        where = "WHERE dataset = ? AND analyst = ? AND snapshot = ?"
        latest = f"{_ANSWER} {where} ORDER BY position DESC LIMIT ?"
        rows = list(self._select(latest, dataset, analyst, snapshot, last))
        return [StoredAnswer(*row).checked() for row in reversed(rows)]

    def latest_answer(
        self, *, dataset: str, analyst: str, snapshot: str, question: str
    ) -> StoredAnswer | None:
        """Return the latest answer that one analyst got to this very question."""
        where = "WHERE dataset = ? AND analyst = ? AND snapshot = ? AND question = ?"
        latest = f"{_ANSWER} {where} ORDER BY position DESC LIMIT 1"
        rows = list(self._select(latest, dataset, analyst, snapshot, question))
        return StoredAnswer(*rows[0]).checked() if rows else None

    def claim(self, position: int) -> bool:
        """Return whether nobody who lives works on this charge; now this process does."""
        with self._translated():
            return running.claim(self._running, position)

    def let_go(self, position: int) -> None:
        """End a claim."""
        running.let_go(self._running, position)

    @property
    def _running(self) -> Path:
        return self._path.with_name(self._path.name + ".running")

    def every_answer(self) -> Iterator[StoredAnswer]:
        """Yield all answers, oldest first."""
        for row in self._select(f"{_ANSWER} ORDER BY position"):
            yield StoredAnswer(*row).checked()

    def examine(self) -> None:
        """Raise LedgerTampered if SQLite finds damage in its file."""
        found = [row[0] for row in self._select("PRAGMA integrity_check(1)")]
        if found != ["ok"]:
            raise _damaged(self.name)

    def close(self) -> None:
        """Let go of the file; a later call opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None and self._pid == os.getpid():
            connection.close()

    def _select(self, statement: str, *values: Any) -> Iterator[Any]:
        with self._translated():
            for row in self._connected().execute(statement, values):  # noqa: UP028 - see below
                yield row  # `yield from` would close a cursor whose connection may be gone

    def _connected(self) -> sqlite3.Connection:
        # A connection must not be used after a fork: the child opens its own and leaves the
        # parent's alone, without closing it, because closing would drop the parent's locks.
        if self._connection is not None and self._pid == os.getpid():
            if not self._same_file():
                raise LedgerTampered(
                    f"The ledger file {self.name} was moved or replaced while in use.",
                    hint="Stop every process that uses it, put it back, and start again.",
                )
            return self._connection
        _forgotten.append(self._connection)
        self._connection = self._connect()
        self._pid = os.getpid()
        self._inode = self._path.stat().st_ino
        return self._connection

    def _same_file(self) -> bool:
        try:
            return self._path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def _connect(self) -> sqlite3.Connection:
        # Questions and answers are in it: readable by its owner only. SQLite copies the rights.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._require_database()
        connection = sqlite3.connect(
            self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            # Ask before changing anything: a foreign file must be left untouched.
            if self._is_ours(connection):
                connection.execute("PRAGMA synchronous = FULL")
                self._bring_forward(connection)
            else:
                # SQLite does not wait its turn when the journal changes, so wait here.
                with HeadFile(self.head_path).locked():
                    _set_up(connection)
            self._require_log(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_database(self) -> None:
        # SQLite takes a file that is too short to be a database for an empty one.
        with self._path.open("rb") as file:
            start = file.read(len(MAGIC))
        if start not in (b"", MAGIC):
            raise not_a_ledger(self.name)

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        # In this order: another process may be setting it up, mark and tables in one commit.
        tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        if mark == APPLICATION_ID:
            return True
        if mark or tables:
            raise not_a_ledger(self.name)
        return False

    def _require_log(self, connection: sqlite3.Connection) -> None:
        # A damaged header may name another journal, and a file system may not offer this one.
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise LedgerWriteFailed(f"The ledger {self.name} cannot keep a write-ahead log here.")

    def _bring_forward(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if not steps_from(version, name=self.name):
            return
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for step in steps_from(version, name=self.name):
            connection.execute(step.format(p="", blob="BLOB"))
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self.close()  # after an I/O error a fresh connection is the only one to trust
            raise _words(error, self.name) from error
        except UnicodeDecodeError as error:
            # A damaged name inside the file, in SQLite's own message about it.
            self.close()
            raise _damaged(self.name) from error
        except OSError as error:
            raise _unwritable(self.name) from error


_forgotten: list[sqlite3.Connection | None] = []  # connections of a parent process, never closed


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have been faster; then there is nothing to do.
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        for statement in TABLES:
            connection.execute(statement.format(p="", blob="BLOB"))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _damaged(name: str) -> LedgerTampered:
    return LedgerTampered(
        f"The ledger file {name} is damaged.",
        hint="Restore a backup: discreet ledger restore PATH --reason TEXT.",
    )


def _unwritable(name: str) -> LedgerWriteFailed:
    return LedgerWriteFailed(
        f"The ledger {name} cannot be opened for writing.",
        hint="Give this user the right to write to the file and its folder.",
    )


def _words(error: sqlite3.Error, name: str) -> DiscreetError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerBusy(
            f"Another process held the ledger {name} for too long; nothing was charged.",
            hint="Try again in a moment.",
        )
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_ledger(name)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return _unwritable(name)
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM):
        return LedgerWriteFailed(
            f"The ledger {name} could not be written, so nothing is answered.",
            hint="Is the disk full?",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT):
        return _damaged(name)
    if isinstance(error, sqlite3.DatabaseError) and "no such" in str(error):
        return NotALedger(f"The ledger {name} lacks a table or a column; it is damaged or foreign.")
    return LedgerError(f"The ledger {name} cannot be used: {error}.")
