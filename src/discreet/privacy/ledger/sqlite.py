"""The history in one SQLite file: write-ahead log, synced at every commit.

Who is working on which charge is a lock on a file beside it, which dies with the process that holds it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from discreet.errors import (
    DiscreetError,
    InternalError,
    LedgerError,
    LedgerTampered,
    LedgerWriteFailed,
)
from discreet.privacy.ledger.head import HeadFile
from discreet.privacy.ledger.sqlite_file import SqliteFile, unwritable
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

_guard = threading.Lock()
_files: dict[Path, int] = {}
_mine: set[tuple[Path, int]] = set()


def claim(path: Path, position: int) -> bool:
    """Return whether nobody who lives works on the charge at `position`; now this process does.

    Guarantee: at most one thread of all processes of this machine holds a claim at a time, and a
        process that ends, however it ends, holds none: the lock is a POSIX one, on one byte of a
        file that is only ever locked. (note 0032)
    """
    with _guard:
        if (path, position) in _mine:
            return False  # a lock of one process does not stop its own threads
        try:
            fcntl.lockf(_file(path), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, position)
        except (BlockingIOError, PermissionError):
            return False
        _mine.add((path, position))
        return True


def let_go(path: Path, position: int) -> None:
    """End a claim of this process; without one, nothing happens."""
    with _guard:
        if (path, position) in _mine:
            _mine.discard((path, position))
            fcntl.lockf(_file(path), fcntl.LOCK_UN, 1, position)


def _file(path: Path) -> int:
    # One descriptor for as long as the process lives: closing any would drop all locks of the file.
    if path not in _files:
        _files[path] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return _files[path]


def _forked() -> None:
    """Begin anew in a child: locks stay with the parent, whose threads may have held the guard."""
    global _guard  # noqa: PLW0603  # a lock that was copied while held would never open
    _guard = threading.Lock()
    _mine.clear()


os.register_at_fork(after_in_child=_forked)


APPLICATION_ID = 0x44504C47  # "DPLG", in the header of every ledger file
BUSY_SECONDS = 60.0
ANSWERS_PAGE = 50  # rows read at a time
SHORTEST_PAUSE, LONGEST_PAUSE = 0.0005, 0.008  # seconds between two looks at the lock


class SqliteStore(SqlTables):
    """One file. Guarantee: as in Store, if the file system keeps what it has synced."""

    def __init__(
        self, path: Path, *, busy_seconds: float = BUSY_SECONDS, shared: bool = True
    ) -> None:
        self._path = path
        prepare = partial(_prepare, path)
        self._file = SqliteFile(path, prepare=prepare, busy_seconds=busy_seconds, shared=shared)
        with self._translated(), self._file.connected():
            pass

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return f"'{self._path.name}'"

    @property
    def head_path(self) -> Path:
        """Return the file beside this one."""
        return _head_path(self._path)

    @contextmanager
    def exclusive(self) -> Iterator[HistoryWriter]:
        """Return a transaction that ends with a durable commit."""
        with self._translated(), self._file.connected() as connection:
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
        end, pause = time.monotonic() + self._file.busy_seconds, SHORTEST_PAUSE
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * self._file.busy_seconds)}")

    def claim(self, position: int) -> bool:
        """Return whether nobody who lives works on this charge; now this process does."""
        with self._translated():
            return claim(self._running, position)

    def let_go(self, position: int) -> None:
        """End a claim."""
        let_go(self._running, position)

    @property
    def _running(self) -> Path:
        return self._path.with_name(self._path.name + ".running")

    def every_answer(self) -> Iterator[StoredAnswer]:
        """Yield all answers, oldest first."""
        seen, page = 0, f"SELECT {ANSWER}, rowid FROM answers WHERE rowid > ? ORDER BY rowid"
        while rows := self._select(f"{page} LIMIT {ANSWERS_PAGE}", seen):
            yield from (StoredAnswer(*row[:-1]).checked() for row in rows)
            seen = rows[-1][-1]

    def examine(self) -> None:
        """Raise LedgerTampered if SQLite finds damage in its file."""
        found = [row[0] for row in self._select("PRAGMA integrity_check(1)")]
        if found != ["ok"]:
            raise _damaged(self.name)

    def close(self) -> None:
        """Let go of the file; a later call opens it again."""
        self._file.close()

    def _select(self, statement: str, *values: Any) -> list[Any]:
        with self._translated(), self._file.connected() as connection:
            return connection.execute(statement, values).fetchall()

    def _change(self, statement: str, *values: Any) -> int:
        with self._file.connected() as connection:
            if not connection.in_transaction:
                raise InternalError("a change of the ledger outside a transaction")
            return connection.execute(statement, values).rowcount

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
            raise unwritable(self.name) from error


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    name = f"'{path.name}'"
    # Ask before changing anything: a foreign file must be left untouched.
    if _is_ours(connection, name):
        connection.execute("PRAGMA synchronous = FULL")
        require_version(connection.execute("PRAGMA user_version").fetchone()[0], name=name)
    else:
        # SQLite does not wait its turn when the journal changes, so wait here.
        with HeadFile(_head_path(path)).locked():
            _set_up(connection)
    # A damaged header may name another journal, and a file system may not offer this one.
    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        raise LedgerWriteFailed(f"The ledger {name} cannot keep a write-ahead log here.")


def _head_path(path: Path) -> Path:
    return path.with_name(path.name + ".head")


def _is_ours(connection: sqlite3.Connection, name: str) -> bool:
    # In this order: another process may be setting it up, mark and tables in one commit.
    tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    if mark == APPLICATION_ID:
        return True
    if mark or tables:
        raise not_a_ledger(name)
    return False


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


def _words(error: sqlite3.Error, name: str) -> DiscreetError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return held_too_long(name)
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_ledger(name)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return unwritable(name)
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM):
        return LedgerWriteFailed(
            f"The ledger {name} could not be written, so nothing is answered.",
            hint="Is the disk full?",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT):
        return _damaged(name)
    if isinstance(error, sqlite3.DatabaseError) and "no such" in str(error):
        return lacks_tables(name)
    return LedgerError(f"The ledger {name} cannot be used: {error}.")
