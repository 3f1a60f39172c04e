"""Tables of PostgreSQL held for a question: one repeatable-read transaction, the labels, and the stored copies.

What was fingerprinted is what is read. Stored copies are tables of ours in the schema `discreet_state`.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import psycopg

from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import NOTHING_STORED, Exact, Held, engine_failed, require_kept
from discreet.data.engines.copies import Canonical, CopyName, Labels, Remembered, copy_name
from discreet.data.engines.dialects import placed, quoted
from discreet.data.engines.guard import only_select
from discreet.data.engines.postgres.session import (
    Connection,
    ConnectionPool,
    PostgresSession,
    fetch_table,
    open_connection,
)
from discreet.data.engines.postgres.sources import (
    PostgresRows,
    PostgresSources,
    change_counter,
    fingerprint,
)
from discreet.data.engines.postgres.stands_on import (
    RelationStanding,
    cannot_be_held,
    known_of,
    locked_beyond,
    made_anew,
    rewritten,
    standing_of,
)
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


TablesToHold = Mapping[str, Canonical | None]
"""For each table of a question its canonical form, where a copy of it is stored."""


class Holder:
    """Holds tables for one question at a time on each session."""

    def __init__(
        self, pool: ConnectionPool, key: bytes, folder: Path | None, sources: PostgresSources
    ) -> None:
        self._pool = pool
        self._sources = sources
        self._key = key
        self._contents = Remembered(None if folder is None else folder / "contents.json")

    def hold(
        self,
        tables: TablesToHold,
        private: Mapping[str, str | None],
        *,
        stored: Mapping[str, str] = NOTHING_STORED,
        together: bool = False,
    ) -> PostgresHeld:
        """Return the tables as they are now, or as they were; the rest is that of `Engine.hold` and `Held`.

        Guarantee: see `begin` and `PostgresHeld`. The label of a copy is that of the content it was
            made from, in the very transaction that took the label; a copy may be older than its
            source by as long as the change counter lags, and is read under its own label. Where all
            are read `together`, or one is compared with what was stored, no counter is believed.
        """
        limits = self._pool.limits
        session = self._pool.take()
        try:
            counters = {} if together else self._counters(session, tables)
            read = {k: place for n in tables for k, place in self._sources.tables(n).items()}
            live = {k for n, w in tables.items() if w is None for k in self._sources.tables(n)}
            standings = begin(session, read, live, seconds=limits.seconds)
            with session.within(limits.seconds) as wire:
                now = {name: self._sources.now(wire, name) for name in tables}
            behind = self._sources.standing(now)
            places, labels, lost = dict(behind), {}, []
            for name, wanted in tables.items():
                if wanted is None:
                    continue
                still = all(standings[k].moving is None for k in self._sources.tables(name))
                rows = now[name].rows
                form = replace(wanted, select=self._sources.placed_rows(name, wanted.select, rows))
                made = form.select
                if not still:
                    made = self._sources.placed_rows(name, wanted.select, _each_once(rows))
                before = stored.get(name)
                kept = None if before is None else self._earlier(session, now[name], form, before)
                if kept is not None and before is not None:
                    places[name], labels[name] = kept, before
                    continue
                if still or form.version is not None:
                    counter = None if before is not None else counters.get(name)
                    found = self._copy(session, now[name], form, made, counter)
                else:
                    found = self._fresh(session, now[name], form, made)
                places[name], labels[name] = found
                if before not in {None, labels[name]}:
                    lost.append(name)
            require_kept(lost)
            known = known_of(standings) | self._read_by_copies(session)
        except BaseException:
            self._pool.give_back(session)
            raise

        def label(name: str) -> str:
            return labels[name] if name in labels else self._label(session, now[name])

        return PostgresHeld(
            self._pool, session, Labels(tables, label), places, private, known=known
        )

    def changed(self, name: str, fingerprint_then: str) -> bool:
        """Return whether the rows of a table are others now."""
        with self._pool.lend(self._pool.limits.store_seconds) as wire:
            source = self._sources.now(wire, name)
            return fingerprint(wire, source.rows, source.columns) != fingerprint_then

    def _counters(self, session: PostgresSession, tables: TablesToHold) -> dict[str, str | None]:
        """Return the change counters of what is copied, from *before* the transaction.

        A change between the counter and the snapshot is then in the rows and not in the counter,
        which costs a comparison later; the other way round it would never be noticed.
        """
        with session.within(self._pool.limits.seconds) as wire:
            return {
                name: _counter(wire, self._sources.tables(name).values())
                for name, wanted in tables.items()
                if wanted is not None
            }

    def _label(self, session: PostgresSession, source: PostgresRows) -> str:
        with session.within(self._pool.limits.store_seconds) as wire:
            return fingerprint(wire, source.rows, source.columns)

    def _copy(
        self,
        session: PostgresSession,
        source: PostgresRows,
        wanted: Canonical,
        made: str,
        counter: str | None,
    ) -> tuple[str, str]:
        """Return where the copy of a table's present content lies, made now if need be."""
        seconds = self._pool.limits.store_seconds
        with session.within(seconds) as wire:
            label = self._known(source, wanted, counter)
            if label is None or not is_stored(wire, self._name(source, label, wanted).whole):
                # The counter may lag: what is stored now is called by what is read now.
                label = self._content(wire, source, wanted, counter)
            name = self._name(source, label, wanted)
            if not is_stored(wire, name.whole):
                if not may_store(wire):
                    raise no_place()
                store(wire, self._pool.url, name.whole, made, seconds=seconds)
                drop_older(self._pool.url, name)
            # Held until the end, so that nobody drops it under a question.
            wire.execute(f"LOCK TABLE {place_of(name.whole)} IN ACCESS SHARE MODE".encode())
        return place_of(name.whole), label

    def _earlier(
        self, session: PostgresSession, source: PostgresRows, wanted: Canonical, label: str
    ) -> str | None:
        """Return where the copy of rows that had this label lies, None where it is kept no more."""
        name = self._name(source, label, wanted)
        with session.within(self._pool.limits.seconds) as wire:
            if not is_stored(wire, name.whole):
                return None
            wire.execute(f"LOCK TABLE {place_of(name.whole)} IN ACCESS SHARE MODE".encode())
        return place_of(name.whole)

    def _fresh(
        self, session: PostgresSession, source: PostgresRows, wanted: Canonical, made: str
    ) -> tuple[str, str]:
        """Return where a copy made now lies, and its label.

        Rows that cannot be held still have no content that could be found again: each copy is one of
        its own, found again by its label alone, and the ledger bills it as such.
        """
        seconds, label = self._pool.limits.store_seconds, f"copied {uuid.uuid4().hex}"
        name = self._name(source, label, wanted)
        with session.within(seconds) as wire:
            if not may_store(wire):
                raise no_place()
            store(wire, self._pool.url, name.whole, made, seconds=seconds)
            drop_older(self._pool.url, name)
            wire.execute(f"LOCK TABLE {place_of(name.whole)} IN ACCESS SHARE MODE".encode())
        return place_of(name.whole), label

    def _read_by_copies(self, session: PostgresSession) -> frozenset[int]:
        """Return all that was read until now: before anything is read live, only copies read."""
        with session.within(self._pool.limits.seconds) as wire:
            return frozenset(locked_beyond(wire, ()))

    def _name(self, source: PostgresRows, label: str, wanted: Canonical) -> CopyName:
        return copy_name(self._key, source.rows, label, wanted)

    def _known(self, source: PostgresRows, wanted: Canonical, counter: str | None) -> str | None:
        """Return what the content was called when the counter of changes stood where it stands."""
        if wanted.version is not None:
            return f"declared {wanted.version}"
        return None if counter is None else self._contents.at(source.rows, counter)

    def _content(
        self, wire: Connection, source: PostgresRows, wanted: Canonical, counter: str | None
    ) -> str:
        """Return what the content is called that this transaction reads."""
        if wanted.version is not None:
            return f"declared {wanted.version}"
        found = fingerprint(wire, source.rows, source.columns)
        if counter is not None:
            self._contents.remember(source.rows, counter, found)
        return found


def _counter(wire: Connection, places: Iterable[str]) -> str | None:
    """Return the change counters of all tables that are read; None where one of them has none."""
    found = [change_counter(wire, place) for place in places]
    known = [counter for counter in found if counter is not None]
    return " ".join(known) if len(known) == len(found) else None


def _each_once(rows: str) -> str:
    """Return the same rows with every cell computed once, which the planner does not undo.

    A canonical cell is looked at and then read. Of what does not stay the same these are two values.
    """
    return f"(SELECT * FROM {rows} AS f OFFSET 0)"
