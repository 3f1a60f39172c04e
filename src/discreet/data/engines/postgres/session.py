"""Connections to PostgreSQL: locked down, lent to one user at a time, and their rows as Arrow.

A connection has fixed settings, a time limit and a wire that can be cut; types stay exact.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa

from discreet.data.engines.arrow import WIDE
from discreet.data.engines.base import EngineLimits, engine_failed, failing_alike
from discreet.errors import CatalogError, DiscreetError

Connection = psycopg.Connection[Any]

_PATIENCE = 0.5
"""Seconds that the server has to end a query by itself before we cut the connection."""
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "client_min_messages": "error",
    "client_encoding": "UTF8",
    "lock_timeout": "5s",
    # A state that nobody lets go would keep the owner from changing the table.
    "idle_in_transaction_session_timeout": "1h",
    "jit": "off",
}

_AS_NOW = (
    *("array_nulls", "default_text_search_config", "lc_monetary", "lc_numeric", "lc_time"),
    *("quote_all_identifiers", "row_security", "timezone_abbreviations", "xmlbinary", "xmloption"),
)
"""Settings that change what functions return: they stay what they are when the session begins,
also when the server reads its configuration anew."""
_STAY = (
    "SELECT pg_catalog.set_config(name, pg_catalog.current_setting(name), false) "
    "FROM pg_catalog.unnest(%s::text[]) AS s(name)"
)


class PostgresSession:
    """A connection that reads only, in the role of the URL, one statement at a time.

    Guarantee: every statement runs in a read-only transaction under a time limit of the server; if
    the server does not keep it, the connection is cut half a second later. No message of the server
    is kept or passed on.
    """

    def __init__(self, url: str, limits: EngineLimits, *, allow_superuser: bool) -> None:
        self.wire = open_connection(url)
        self.user: int | None = None
        self._timeout: float | None = None
        try:
            self.wire.execute("SET default_transaction_read_only = on")
            _limit_files(self.wire, limits.memory_mb)
            _demote(self.wire, allowed=allow_superuser)
        except psycopg.Error:  # the server may go away between two of our settings
            self.wire.close()
            raise engine_failed() from None
        except BaseException:
            self.wire.close()
            raise

    @property
    def idle(self) -> bool:
        """Return whether the connection stands and no transaction is open on it."""
        if self.wire.closed or self.wire.broken:
            return False
        return self.wire.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    @property
    def _failed(self) -> bool:
        return self.wire.info.transaction_status == psycopg.pq.TransactionStatus.INERROR

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[Connection]:
        """Lend the connection under a time limit; every failure becomes the one sentence."""
        if self.wire.closed:
            raise engine_failed()
        watch = _Watch(self.wire.fileno(), seconds + _PATIENCE)
        self.user = threading.get_ident()
        try:
            with failing_alike():
                if seconds != self._timeout and not self._failed:
                    limit = max(1, int(seconds * 1000))
                    self.wire.execute(f"SET statement_timeout = {limit}".encode())
                    # A ROLLBACK would take a setting back that was made inside a transaction.
                    self._timeout = seconds if self.idle else None
                yield self.wire
        finally:
            self.user = None
            watch.stop()

    def end(self) -> None:
        """Roll back what is open; a connection that cannot is closed."""
        if self.wire.closed or self.idle:
            return
        try:
            with self.within(_PATIENCE):
                self.wire.execute("ROLLBACK")
        except DiscreetError:
            self.wire.close()

    def cancel(self) -> None:
        """Stop the statement that runs now."""
        with contextlib.suppress(psycopg.Error):
            self.wire.cancel_safe(timeout=5.0)

    def close(self) -> None:
        """Close the connection."""
        self.wire.close()


def open_connection(url: str) -> Connection:
    """Return a connection with our settings, or refuse without naming address and role."""
    try:
        wire = psycopg.connect(url, autocommit=True, connect_timeout=10)
        try:
            for name, value in _SETTINGS.items():
                wire.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
            wire.execute(_STAY, [list(_AS_NOW)])
            encoding = wire.info.parameter_status("server_encoding")
        except psycopg.Error:
            wire.close()
            raise
    except psycopg.Error:
        # Its text may hold the address and the role, and an analyst may be who asked.
        raise CatalogError(
            "The PostgreSQL server of the engine could not be reached.",
            hint="Check [engine] url in discreet.toml.",
        ) from None
    if encoding != "UTF8":
        wire.close()
        raise CatalogError("The PostgreSQL database must have the encoding UTF8.")
    return wire


def _limit_files(wire: Connection, memory_mb: int | None) -> None:
    if memory_mb is not None:
        # Only some roles may set it; the owner's own setting then stands.
        with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
            wire.execute(f"SET temp_file_limit = '{4 * memory_mb}MB'".encode())


def _demote(wire: Connection, *, allowed: bool) -> None:
    row = wire.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    if not row or not row[0]:
        return
    if not allowed:
        raise CatalogError(
            "The role of [engine] url is a superuser of the PostgreSQL server.",
            hint="Make a role that may only read (docs/engines.md has the five lines), or write "
            "'allow_superuser = true' under [engine].",
        )
    wire.execute("SET ROLE pg_read_all_data")


class _Watch:
    """Cuts a connection whose server does not answer in time; libpq then reports it as broken."""

    def __init__(self, handle: int, seconds: float) -> None:
        self._wire = socket.socket(fileno=os.dup(handle))
        self._lock = threading.Lock()
        self._over = False
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def _cut(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            if not self._over:
                self._wire.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """End the watch."""
        self._timer.cancel()
        with self._lock:
            self._over = True
            self._wire.close()


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


_TYPES: dict[int, pa.DataType] = {
    16: pa.bool_(),
    17: pa.binary(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    700: pa.float64(),
    701: pa.float64(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"),
}
_NUMERIC = 1700
_TEXTS = frozenset({18, 19, 25, 1042, 1043})


def fetch_table(session: psycopg.Connection[Any], sql: str) -> pa.Table:
    """Return the rows of one SELECT.

    Binary results go through the extended protocol, which takes a single statement.
    """
    with session.cursor(binary=True) as cursor:
        cursor.execute(sql.encode())
        rows = cursor.fetchall()
        columns = cursor.description or []
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        arrays = [_array(column, list(found)) for column, found in zip(columns, cells, strict=True)]
        return pa.table(arrays, names=[column.name for column in columns])


def _array(column: psycopg.Column, cells: list[Any]) -> pa.Array:
    if column.type_code == _NUMERIC:
        return _decimals(column.scale if column.precision else None, cells)
    if column.type_code in _TYPES:
        return pa.array(cells, type=_TYPES[column.type_code])
    if column.type_code not in _TEXTS:
        cells = [None if cell is None else str(cell) for cell in cells]
    return pa.array(cells, type=pa.string())


def _decimals(scale: int | None, cells: list[Decimal | None]) -> pa.Array:
    """Return exact decimals; where the type does not say its scale, the longest fraction does."""
    if scale is None:
        exponents = [cell.as_tuple().exponent for cell in cells if cell is not None]
        scale = max((-e for e in exponents if isinstance(e, int)), default=0)
    return pa.array(cells, type=pa.decimal128(WIDE.precision, max(0, scale)))
