"""PostgreSQL: one read-only session, a second one that stores tables where the role may."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from discreet.core.extras import needs
from discreet.engine.arrow import plain_table
from discreet.engine.base import Capabilities, EngineLimits, Exact, Recipe, engine_failed
from discreet.engine.guard import only_select
from discreet.engine.live import LiveHeld
from discreet.engine.names import checked_name, is_name, name_taken, quoted
from discreet.engine.rows import copy_table, fetch_table
from discreet.errors import CatalogError, DiscreetError, UnknownName

with needs("psycopg", extra="postgres"):
    import psycopg

_SCHEMA = "discreet_state"
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
    "jit": "off",
}


class PostgresEngine:
    """Runs SQL on a PostgreSQL server, one query at a time.

    Guarantee: every query runs in a read-only transaction under a time limit of the server; if the
    server does not keep it, the connection is cut half a second later and opened anew. A superuser
    is demoted to `pg_read_all_data` for its queries. No message of the server is kept or passed on.
    """

    capabilities = Capabilities(dialect="postgres", has_memory_limit=False)

    def __init__(self, url: str, sources: Mapping[str, str], *, limits: EngineLimits) -> None:
        self._url = url
        self._limits = limits
        self._lock = threading.RLock()
        self._session: psycopg.Connection[Any] | None = None
        self._user: int | None = None
        self._timeout = 0.0
        self._uploads: dict[str, pa.Table] = {}
        self._temporary: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        for name, source in sources.items():
            parts = source.split(".") if "." in source else ["public", source]
            self._sources[name] = ".".join(quoted(part) for part in parts)
        for name in self._sources:
            if not self.columns(name):
                self.close()
                raise CatalogError(
                    f"The source of table '{name}' could not be read.",
                    hint="Write it as schema.table and grant SELECT on it to the role.",
                )

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of a table."""
        if name in self._sources:
            return self._sources[name]
        if name in self._uploads or name in self._temporary:
            return f"pg_temp.{quoted(name)}"
        if self._stored(name):
            return f"{_SCHEMA}.{quoted(name)}"
        raise UnknownName(f"The engine has no table '{name}'.")

    def has(self, name: str) -> bool:
        """Return whether a table of this name is attached, uploaded or materialised."""
        known = name in self._sources or name in self._uploads or name in self._temporary
        return known or self._stored(name)

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        only_select(sql, self.capabilities.dialect)
        limit = self._limits.seconds if seconds is None else seconds
        with self._lock, self._answering(limit) as session:
            return Exact(plain_table(fetch_table(session, sql)))

    def put(self, name: str, table: pa.Table) -> str:
        """Return the relation of a small public table: a temporary one of this session."""
        if checked_name(name) in self._sources:
            raise name_taken(name)
        with self._lock, self._answering(self._limits.seconds) as session:
            _write_temporary(session, name, table)
            self._uploads[name] = table
        return f"pg_temp.{quoted(name)}"

    def materialise(self, name: str, sql: str) -> str:
        """Return the relation of the stored result of `sql`, computed unless it is there.

        It is kept in the schema `discreet_state` if the role may create that, otherwise in a
        temporary table that is computed again by the next process.
        """
        only_select(sql, self.capabilities.dialect)
        if checked_name(name) in self._sources:
            raise name_taken(name)
        if self.has(name):
            return self.relation(name)
        with self._lock:
            if self._store(name, sql):
                return f"{_SCHEMA}.{quoted(name)}"
            with self._answering(self._limits.store_seconds) as session:
                _compute_temporary(session, name, sql)
                self._temporary[name] = sql
        return f"pg_temp.{quoted(name)}"

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with PostgreSQL's names for their types."""
        question = (
            "SELECT a.attname, CASE WHEN t.typtype = 'e' THEN 'enum()' "
            "ELSE format_type(a.atttypid, a.atttypmod) END "
            "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
            "WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped "
            "ORDER BY a.attnum"
        )
        with self._lock, self._answering(self._limits.seconds) as session:
            rows = session.execute(question, [self.relation(name)]).fetchall()
        return [(str(column), str(kind)) for column, kind in rows]

    def fingerprint(self, name: str) -> str:
        """Return a hash over all rows of a table, in whatever order they lie.

        It changes with every inserted, deleted or altered row (up to a collision of 128 bits), and
        not by VACUUM, CLUSTER, dump and restore. It reads the whole table: give a big or busy table
        a declared version instead, and nobody will ask here.
        """
        row = f"CAST({quoted(name)} AS TEXT)"
        sql = (
            f"SELECT count(*), sum(hashtextextended({row}, 0)), sum(hashtextextended({row}, 1)) "
            f"FROM {self.relation(name)} AS {quoted(name)}"
        )
        with self._lock, self._answering(self._limits.store_seconds) as session:
            found = session.execute(sql.encode()).fetchone()
        return hashlib.sha256(repr((self.columns(name), found)).encode()).hexdigest()

    def schema(self, name: str) -> dict[str, str]:
        """Return the types of a source's columns, in small letters."""
        return {column.lower(): kind for column, kind in self.columns(name)}

    def hold(self, tables: Mapping[str, Recipe]) -> LiveHeld:
        """Return these tables as they are."""
        return LiveHeld(self, tables)

    def tree(self, sql: str) -> str | None:  # noqa: ARG002 the protocol's
        """Return None: this engine does not show its parse."""
        return None

    def cancel(self, *, thread: int | None = None) -> None:
        """Stop what is running now, or only what one thread is waiting for."""
        session = self._session
        if session is not None and thread in (None, self._user):
            with contextlib.suppress(psycopg.Error):
                session.cancel_safe(timeout=5.0)

    def close(self) -> None:
        """Close the connection; temporary tables go with it."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    @contextlib.contextmanager
    def _answering(self, seconds: float) -> Iterator[psycopg.Connection[Any]]:
        """Lend the session under a time limit, and turn every failure into the one sentence."""
        session = self._connection()
        watch = _Watch(session.fileno(), seconds + _PATIENCE)
        self._user = threading.get_ident()
        try:
            if seconds != self._timeout:
                session.execute(f"SET statement_timeout = {max(1, int(seconds * 1000))}".encode())
                self._timeout = seconds
            yield session
        except DiscreetError:
            raise
        except Exception:  # noqa: BLE001 psycopg's and Arrow's texts may hold a cell
            raise engine_failed() from None
        finally:
            self._user = None
            watch.stop()
            if session.closed or session.broken:
                self._session = None
            elif session.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                session.close()
                self._session = None

    def _connection(self) -> psycopg.Connection[Any]:
        if self._session is None:
            self._session = session = _open(self._url)
            session.execute("SET default_transaction_read_only = on")
            _limit_files(session, self._limits.memory_mb)
            _demote(session)
            self._timeout = 0.0
            for name, table in self._uploads.items():
                _write_temporary(session, name, table)
            for name, sql in self._temporary.items():
                _compute_temporary(session, name, sql)
        return self._session

    def _stored(self, name: str) -> bool:
        if not is_name(name):
            return False
        with self._lock, self._answering(self._limits.seconds) as session:
            place = f"{_SCHEMA}.{quoted(name)}"
            found = session.execute("SELECT to_regclass(%s) IS NOT NULL", [place]).fetchone()
        return bool(found and found[0])

    def _store(self, name: str, sql: str) -> bool:
        """Return whether the table could be stored for good; a role without the right gives False."""
        writer = _open(self._url)
        place = f"{_SCHEMA}.{quoted(name)}"
        seconds = int(self._limits.store_seconds * 1000)
        try:
            writer.execute(f"SET statement_timeout = {seconds}".encode())
            try:
                writer.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}".encode())
            except psycopg.errors.InsufficientPrivilege:
                return False
            # One statement, so that a crash leaves nothing behind that looks finished.
            writer.execute(f"CREATE TABLE IF NOT EXISTS {place} AS {sql}".encode())
            writer.execute(f"ANALYZE {place}".encode())
        except psycopg.Error:
            raise engine_failed() from None
        finally:
            writer.close()
        return True


def _open(url: str) -> psycopg.Connection[Any]:
    try:
        session = psycopg.connect(url, autocommit=True, connect_timeout=10)
        for name, value in _SETTINGS.items():
            session.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
        encoding = session.info.parameter_status("server_encoding")
    except psycopg.Error:
        # Its text may hold the address and the role; the owner knows both.
        raise CatalogError(
            "The PostgreSQL server of the engine could not be reached.",
            hint="Check [engine] url in discreet.toml.",
        ) from None
    if encoding != "UTF8":
        session.close()
        raise CatalogError("The PostgreSQL database must have the encoding UTF8.")
    return session


def _limit_files(session: psycopg.Connection[Any], memory_mb: int | None) -> None:
    if memory_mb is not None:
        # Only some roles may set it; the owner's own setting then stands.
        with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
            session.execute(f"SET temp_file_limit = '{4 * memory_mb}MB'".encode())


def _demote(session: psycopg.Connection[Any]) -> None:
    row = session.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    if row and row[0]:
        session.execute("SET ROLE pg_read_all_data")


def _write_temporary(session: psycopg.Connection[Any], name: str, table: pa.Table) -> None:
    with session.transaction():
        session.execute("SET TRANSACTION READ WRITE")
        session.execute(f"DROP TABLE IF EXISTS pg_temp.{quoted(name)}".encode())
        copy_table(session, f"pg_temp.{quoted(name)}", table)


def _compute_temporary(session: psycopg.Connection[Any], name: str, sql: str) -> None:
    with session.transaction():
        session.execute("SET TRANSACTION READ WRITE")
        session.execute(f"CREATE TEMPORARY TABLE {quoted(name)} AS {sql}".encode())


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
