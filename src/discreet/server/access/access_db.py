"""access.db: the one file of tokens and sessions, shared by all server processes of a machine."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.errors import CatalogError
from discreet.server.access.audit_log import AuditLog

FILE = "access.db"

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, role TEXT NOT NULL, analyst TEXT, label TEXT NOT NULL,
    created REAL NOT NULL, expires REAL, revoked REAL,
    stored_key BLOB NOT NULL, server_key BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    hash BLOB PRIMARY KEY, token TEXT NOT NULL REFERENCES tokens (id), csrf TEXT NOT NULL,
    expires REAL NOT NULL);
"""


class AccessDb:
    """One connection, lent to one thread at a time.

    Reads go to the file on every call: a revocation by another process holds at once. `audit` is the
    log beside it of who did what.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.audit = AuditLog(folder)
        path = folder / FILE
        # Created by us first, so that nobody else can read it even for a moment.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                path, timeout=10.0, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in _TABLES.split(";"):
                self._connection.execute(statement)
            self._connection.execute(
                "INSERT OR IGNORE INTO facts VALUES ('salt', ?)", [os.urandom(16)]
            )
            self._connection.execute("COMMIT")
        except sqlite3.DatabaseError:
            raise CatalogError(
                f"'{path}' is not a list of tokens.", hint="Move it away; a new one will be made."
            ) from None

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a SELECT."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection inside one transaction, durable when this ends."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()
