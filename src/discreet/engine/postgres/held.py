"""One repeatable-read transaction: what was fingerprinted is what is read."""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterable, Mapping

import psycopg

from discreet.engine.arrow import plain_table
from discreet.engine.base import Exact, Held, engine_failed
from discreet.engine.dialect.guard import only_select
from discreet.engine.dialect.table_names import placed
from discreet.engine.postgres.copies import drop, may_store, place_of, store
from discreet.engine.postgres.pool import ConnectionPool
from discreet.engine.postgres.rows import fetch_table
from discreet.engine.postgres.session import Connection, PostgresSession
from discreet.engine.postgres.stands_on import (
    RelationStanding,
    cannot_be_held,
    known_of,
    locked_beyond,
    made_anew,
    rewritten,
    standing_of,
)
from discreet.errors import CatalogError

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_PIN = "SELECT pg_current_snapshot()"
_LOCKABLE = ("r", "p", "v")
_KINDS = (
    "SELECT relkind, has_table_privilege(oid, 'SELECT') FROM pg_class WHERE oid = to_regclass(%s)"
)


def begin(
    session: PostgresSession, relations: Mapping[str, str], live: Container[str], *, seconds: float
) -> dict[str, RelationStanding]:
    """Open the transaction in which `relations` stay as they are, and return what they stand on.

    Refuses a relation that is read `live`, not from a copy, and could show two statements two states.

    Guarantee: the tables are locked against DROP, TRUNCATE and rewriting *before* the snapshot is
        taken, with all that views of them read. Without the locks a table that is truncated, or
        dropped and made anew, shows no rows to an older snapshot: a silent zero. What cannot be
        locked without a snapshot (materialized views, what a policy reads) is locked after it, and
        refused if it was made anew in between.
    """
    with session.within(seconds) as wire:
        kinds = {name: kind_of(wire, name, place) for name, place in relations.items()}
        wire.execute(_BEGIN)
        for name, place in relations.items():
            if kinds[name] in _LOCKABLE:
                _lock(wire, name, f"LOCK TABLE {place} IN ACCESS SHARE MODE")
        wire.execute(_PIN)
        standings = {name: standing_of(wire, name, place) for name, place in relations.items()}
        for name, standing in standings.items():
            if name in live and standing.moving is not None:
                raise cannot_be_held(name, standing.moving)
        known = known_of(standings)
        for name in sorted(relations, key=lambda name: name not in live):
            if kinds[name] != "f":
                _lock(wire, name, f"SELECT 1 FROM {relations[name]} LIMIT 0")
            # Of what is copied anything may be read: a function may name other tables.
            beyond = name in live and locked_beyond(wire, known)
            if beyond or rewritten(wire, standings[name]):
                raise made_anew(name)
        return standings


def kind_of(wire: Connection, name: str, place: str) -> str:
    """Return PostgreSQL's letter for what a source is, or refuse one that cannot be read."""
    try:
        found = wire.execute(_KINDS, [place]).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        raise not_readable(name) from None
    if found is None:
        raise gone(name)
    if not found[1]:
        raise not_readable(name)
    return str(found[0])


def _lock(wire: Connection, name: str, statement: str) -> None:
    """Lock a relation until the end of the transaction; planning to read it locks all below it."""
    try:
        wire.execute(statement.encode())
    except psycopg.errors.InsufficientPrivilege:
        raise not_readable(name) from None
    except psycopg.errors.UndefinedTable:
        raise gone(name) from None


def not_readable(name: str) -> CatalogError:
    """Return the refusal of a table that the role may not read."""
    return CatalogError(
        f"The role of the engine may not read the source of table '{name}'.",
        hint="GRANT SELECT on the whole table (or on a view of the columns to declare), and USAGE "
        "on its schema, to the role.",
    )


def gone(name: str) -> CatalogError:
    """Return the refusal of a table that is not there."""
    return CatalogError(
        f"The source of table '{name}' could not be read.",
        hint="Write it as schema.table and grant SELECT on it to the role.",
    )


class PostgresHeld(Held):
    """Tables of one transaction, with their canonical forms where those are known.

    Guarantee: all statements see one snapshot, and rows of no relation that is not `known`
        to keep still. If the connection is lost or a statement fails, so does everything after it: it is
        never opened anew, which would be another state.
    """

    def __init__(
        self,
        pool: ConnectionPool,
        session: PostgresSession,
        fingerprints: Mapping[str, str],
        places: Mapping[str, str],
        private: Mapping[str, str | None],
        *,
        known: Iterable[int],
    ) -> None:
        self.fingerprints = fingerprints
        self.private = private
        self._pool = pool
        self._session: PostgresSession | None = session
        self._places = places
        self._known = frozenset(known)
        self._kept: list[str] = []

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT over the held state."""
        text, session = self._text(sql), self._open()
        limit = self._pool.limits.seconds if seconds is None else seconds
        with session.within(limit) as wire:
            found = fetch_table(wire, text)
            self._check_read(wire)
            return Exact(plain_table(found))

    def _keep(self, sql: str) -> str:
        """Return the relation of the stored result of one SELECT over the held state.

        Where the role may not store anything it is the SELECT itself: slower, and the same rows.
        """
        text, session = self._text(sql), self._open()
        seconds = self._pool.limits.store_seconds
        name = f"k_{uuid.uuid4().hex}"
        with session.within(seconds) as wire:
            if not may_store(wire):
                return f"({text})"
            store(wire, self._pool.url, name, text, seconds=seconds)
            self._kept.append(name)
            self._check_read(wire)
        return place_of(name)

    def close(self) -> None:
        """End the transaction, give the connection back and remove what was kept."""
        session, self._session = self._session, None
        if session is not None:
            self._pool.give_back(session)
        if self._kept:
            drop(self._pool.url, self._kept)
            self._kept.clear()

    def _check_read(self, wire: Connection) -> None:
        if locked_beyond(wire, self._known):
            raise engine_failed()

    def _text(self, sql: str) -> str:
        return only_select(placed(sql, "postgres", self._places), "postgres")

    def _open(self) -> PostgresSession:
        if self._session is None or self._session.idle:
            raise engine_failed()
        return self._session
