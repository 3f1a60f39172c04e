"""Stored canonical copies on PostgreSQL: tables of ours in the schema `discreet_state`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress

import psycopg

from discreet.engine.base import engine_failed
from discreet.engine.copies import CopyName
from discreet.engine.dialect.names import quoted
from discreet.engine.postgres.session import Connection, open_connection
from discreet.errors import CatalogError

SCHEMA = "discreet_state"
_KEPT = 3
"""How many copies of one source stay: the newest, and two that a running question may read."""
_TAKEN = (psycopg.errors.DuplicateTable, psycopg.errors.UniqueViolation)
_MINE = (
    "SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = %s AND c.relkind = 'r' AND pg_has_role(session_user, c.relowner, 'USAGE') "
)


def place_of(name: str) -> str:
    """Return the quoted SQL name of a stored table."""
    return f"{SCHEMA}.{quoted(name)}"


def is_stored(reader: Connection, name: str) -> bool:
    """Return whether our role has stored a table of this name; somebody else's does not count."""
    sql = f"{_MINE} AND c.relname = %s"
    return reader.execute(sql.encode(), [SCHEMA, name]).fetchone() is not None


def may_store(reader: Connection) -> bool:
    """Return whether the role may keep tables in the schema."""
    sql = (
        "SELECT count(*) FROM pg_namespace WHERE nspname = %s "
        "AND has_schema_privilege(session_user, oid, 'CREATE') "
        "AND has_schema_privilege(session_user, oid, 'USAGE')"
    )
    found = reader.execute(sql, [SCHEMA]).fetchone()
    return bool(found and found[0])


def store(reader: Connection, url: str, name: str, sql: str, *, seconds: float) -> None:
    """Store the result of one SELECT, as the reader sees it, unless it is there already.

    Guarantee: the SELECT itself runs in the reader's read-only transaction, in its role and under
        its row-level security, so a view's functions can write nothing; the writing connection
        runs only our own CREATE and COPY. The rows are frozen: an older snapshot sees them, too.
        The table appears complete or not at all.
    """
    fields = _fields(reader, sql)
    with closing(open_connection(url)) as writer:
        writer.execute(f"SET statement_timeout = {int(seconds * 1000)}".encode())
        with suppress(*_TAKEN), writer.transaction():
            writer.execute(f"CREATE TABLE {place_of(name)} ({fields})".encode())
            _stream(
                reader, writer, sql, f"COPY {place_of(name)} FROM STDIN (FORMAT binary, FREEZE)"
            )
            writer.execute(f"ANALYZE {place_of(name)}".encode())
        # Asked here: the reader's snapshot is older, and somebody else may have made it.
        if not is_stored(writer, name):
            raise engine_failed()


def drop_older(url: str, name: CopyName) -> None:
    """Drop all but the newest copies of one source that nobody reads."""
    with closing(open_connection(url)) as writer:
        sql = f"{_MINE} AND starts_with(c.relname, %s) ORDER BY c.oid DESC"
        found = writer.execute(sql.encode(), [SCHEMA, name.family]).fetchall()
    drop(url, [old for _, old in found[_KEPT:] if old != name.whole])


def drop(url: str, names: Iterable[str]) -> None:
    """Drop stored tables that nobody reads; others stay for the next time."""
    with closing(open_connection(url)) as writer:
        writer.execute("SET lock_timeout = '50ms'")
        for name in names:
            with suppress(psycopg.Error):
                writer.execute(f"DROP TABLE IF EXISTS {place_of(name)}".encode())


def no_place() -> CatalogError:
    """Return the refusal to store where the role may not."""
    return CatalogError(
        f"The role of the engine may not keep tables in the schema '{SCHEMA}'.",
        hint=f'CREATE SCHEMA {SCHEMA} AUTHORIZATION the role, or remove snapshot = "copy".',
    )


def _fields(reader: Connection, sql: str) -> str:
    """Return the columns of a SELECT's result, asked for in the reader's read-only transaction."""
    described = reader.execute(f"SELECT * FROM ({sql}) AS t LIMIT 0".encode()).description or []
    # What a canonical cell needs is its type; lengths and scales would only cut.
    kinds = [f"format_type({c.type_code}, -1)" for c in described]
    types = reader.execute(f"SELECT {', '.join(kinds)}".encode()).fetchone() or ()
    return ", ".join(
        f"{quoted(c.name)} {t}" + (' COLLATE "C"' if t == "text" else "")
        for c, t in zip(described, types, strict=True)
    )


def _stream(reader: Connection, writer: Connection, sql: str, target: str) -> None:
    source = f"COPY ({sql}) TO STDOUT (FORMAT binary)"
    with (
        reader.cursor() as out,
        writer.cursor() as into,
        out.copy(source.encode()) as read,
        into.copy(target.encode()) as write,
    ):
        for block in read:
            write.write(block)
