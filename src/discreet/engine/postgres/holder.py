"""Takes hold of PostgreSQL tables: the transaction, the labels, and the stored copies."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from discreet.engine.base import NOTHING_STORED, require_kept
from discreet.engine.copies import Canonical, CopyName, Labels, Remembered, copy_name
from discreet.engine.postgres.content import change_counter, fingerprint
from discreet.engine.postgres.copies import (
    drop_older,
    is_stored,
    may_store,
    no_place,
    place_of,
    store,
)
from discreet.engine.postgres.held import PostgresHeld, begin
from discreet.engine.postgres.pool import ConnectionPool
from discreet.engine.postgres.session import Connection, PostgresSession
from discreet.engine.postgres.sources import PostgresRows, PostgresSources
from discreet.engine.postgres.stands_on import known_of, locked_beyond

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
