"""DuckDB in child processes that can be killed: the embedded engine, and the pool that its children are lent from."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discreet.base.unit import FollowedPath
from discreet.data.engines.base import (
    NOTHING_STORED,
    Capabilities,
    Engine,
    EngineLimits,
    Exact,
    require_kept,
)
from discreet.data.engines.child import Child, Unreadable
from discreet.data.engines.copies import Recipe, combined, private_of, state_key
from discreet.data.engines.declared import DeclaredCell
from discreet.data.engines.dialects import quoted
from discreet.data.engines.duckdb.canonical import (
    Listed,
    SnapshotMaker,
    SourceOrigin,
    SourceOrigins,
    TextCopies,
    joined_place,
    opened_alone,
    place_of,
    unreadable,
)
from discreet.data.engines.duckdb.snapshots import (
    DuckDBHeld,
    Snapshot,
    SnapshotStore,
    exact_of,
    release,
)
from discreet.data.engines.files import ContentHashes, FileKind, by_their_names
from discreet.data.engines.guard import only_select
from discreet.data.engines.object_stores import changes
from discreet.errors import CatalogError, InvalidInput, UnknownName

Setup = Callable[[], dict[str, Any]]


class ChildPool:
    """Children of one kind. `places` is how many of all kinds may work at the same time."""

    def __init__(self, places: threading.Semaphore, *, seconds: float) -> None:
        self._places = places
        self._seconds = seconds
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: dict[Child, int] = {}

    def warm(self, setup: dict[str, Any]) -> None:
        """Start a child while the caller goes on: its imports and ours run side by side."""
        self._idle.append(_spawn(setup, None))

    @contextlib.contextmanager
    def lend(
        self,
        setup: Setup,
        *,
        kept: Mapping[str, Path],
        canon: Mapping[str, Path] | None = None,
        state: object = None,
    ) -> Iterator[Child]:
        """Lend a child that knows these stored tables and snapshots.

        `state` says of what its setup was made: a child that was opened in another one is let go.
        """
        with self._places:
            with self._lock:
                child = self._fit(state) or _spawn(setup(), state)
                self._busy[child] = threading.get_ident()
            try:
                child.wait_ready()
                self._teach(child, kept, canon or {})
                yield child
            finally:
                fit = child.fit
                with self._lock:
                    self._busy.pop(child, None)
                    if fit:
                        self._idle.append(child)
                if not fit:
                    child.close()

    def _fit(self, state: object) -> Child | None:
        """Return an idle child of this state that still runs; the system may have ended one for its memory."""
        while self._idle:
            child = self._idle.pop()
            if child.fit and child.state == state:
                return child
            child.close()
        return None

    def _teach(self, child: Child, kept: Mapping[str, Path], canon: Mapping[str, Path]) -> None:
        for name, place in kept.items():
            if child.known.get(f"kept.{name}") != place:
                child.ask(b"V" + _order(name, place), self._seconds)
                child.known[f"kept.{name}"] = place
        for name, path in canon.items():
            if child.known.get(f"canon.{name}") != path:
                child.ask(b"A" + _order(name, path), self._seconds)
                child.known[f"canon.{name}"] = path

    def interrupt(self, thread: int | None) -> None:
        """Stop what is running now, or only what one thread is waiting for."""
        with self._lock:  # held throughout: a child must not pass on to another thread meanwhile
            for child, user in self._busy.items():
                if thread in (None, user):
                    child.interrupt()

    def close(self) -> None:
        """End all children, the busy ones at once."""
        with self._lock:
            for child in self._busy:
                child.kill()
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()


def _spawn(setup: dict[str, Any], state: object) -> Child:
    child = Child("discreet.data.engines.duckdb.worker", setup)
    child.state = state
    return child


def _order(name: str, path: Path) -> bytes:
    return json.dumps({"name": name, "path": str(path)}).encode()


_SHARE_OF_MEMORY = 0.7
_HOLDS = 3
"""How often sources are read anew that change while they are to be read as of one moment."""


@dataclass(frozen=True)
class OpenedSources:
    """How the sources that can be read are opened, and the state that they were found in.

    `damaged` says of others what is wrong with the file, where its reader knows.
    """

    versions: Mapping[str, str]
    places: Mapping[str, Any]
    damaged: Mapping[str, InvalidInput] = field(default_factory=dict, compare=False)


class DuckDBEngine(Engine):
    """Runs SQL in locked-down child processes, up to `limits.workers` of them.

    `hold` gives canonical snapshots, for questions; `owner_reader` reads the sources as they are, for
    the owner's proposals and for anonymization.

    Guarantee: a query ends within its time limit plus a quarter of a second, because a child that
    does not stop is killed; the next query gets a fresh child with the same tables.
    """

    capabilities = Capabilities(dialect="duckdb", canonical=True)

    def __init__(
        self,
        database: Path | None,
        sources: Mapping[str, str],
        *,
        base: Path,
        state: Path | None,
        limits: EngineLimits,
        encodings: Mapping[str, str] = MappingProxyType({}),
        paths: Mapping[str, FollowedPath] = MappingProxyType({}),
        cells: Mapping[str, tuple[DeclaredCell, ...]] = MappingProxyType({}),
    ) -> None:
        self._limits = limits
        self._database = database
        found = SourceOrigins(database, dict(sources), base, base, encodings, paths, cells)
        found.check()
        self._state, drop = _state_folder(state)
        self._sources = replace(found, state=self._state)
        self._for_now = drop is not None
        self._stored = self._state / "tables"
        self._stored.mkdir(mode=0o700, exist_ok=True)
        self._passing = (limits.scratch or self._stored).resolve()
        self._hashes = ContentHashes(self._state / "hashes.json")
        self._columns: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._trees: dict[str, str | None] = {}
        store = SnapshotStore(self._state / "canon", state_key(self._state))
        self._maker = SnapshotMaker(store, self._hashes, self._common(), limits.store_seconds)
        self._texts = TextCopies(
            self._stored,
            self._hashes,
            lambda place: self._setup({"t": place}),
            seconds=limits.store_seconds,
            in_place=self._for_now,
        )
        places = threading.Semaphore(limits.workers)
        self._canon = ChildPool(places, seconds=limits.seconds)
        self._raw = ChildPool(places, seconds=limits.seconds)
        self._looking = threading.Lock()
        self._opened: OpenedSources | None = None
        self._finalizer = weakref.finalize(self, _give_back, (self._canon, self._raw), drop)
        self._canon.warm(self._setup({}))

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of a table."""
        if name not in self._sources:
            raise UnknownName(f"The engine has no table '{name}'.")
        return f"source.{quoted(name)}"

    def has(self, name: str) -> bool:
        """Return whether a table of this name is attached."""
        return name in self._sources

    def hold(
        self,
        tables: Mapping[str, Recipe],
        *,
        stored: Mapping[str, str] = NOTHING_STORED,
        together: bool = False,
    ) -> DuckDBHeld:
        """Return the canonical snapshots of these tables: as they are now, or as they were."""
        for _ in range(_HOLDS):
            snapshots, fingerprints = self._snapshots(tables, stored)
            now = [name for name in tables if name not in stored]
            if not together or len(now) < 2 or self._stand(now, fingerprints):
                break
            release(snapshots)
        else:
            raise changes(now[0])
        for snapshot in snapshots.values():
            for asked in snapshot.counted:
                self._trees.setdefault(asked, None)
        return DuckDBHeld(
            snapshots,
            fingerprints,
            private_of(tables),
            lend=self._lend,
            folder=self._passing,
            limits=self._limits,
        )

    def _snapshots(
        self, tables: Mapping[str, Recipe], stored: Mapping[str, str]
    ) -> tuple[dict[str, Snapshot], dict[str, str]]:
        """Return the snapshot of each table, held, and the fingerprint of its rows."""
        snapshots: dict[str, Snapshot] = {}
        fingerprints: dict[str, str] = {}
        lost = []
        try:
            listed: Listed = {}
            for name, recipe in tables.items():
                wanted = stored.get(name)
                kept = None if wanted is None else self._maker.stored(name, recipe, wanted)
                if kept is not None and wanted is not None:
                    snapshots[name], fingerprints[name] = kept, wanted
                    continue
                found = self._sources.snapshot(name, recipe, self._maker, listed)
                snapshots[name], fingerprints[name] = found
                if wanted not in {None, fingerprints[name]}:
                    lost.append(name)
            require_kept(lost)
        except BaseException:
            release(snapshots)
            raise
        return snapshots, fingerprints

    def _stand(self, names: Sequence[str], fingerprints: Mapping[str, str]) -> bool:
        """Return whether sources are as they were read: then all were so when the last one was read."""
        return not any(self.changed(name, fingerprints[name]) for name in names)

    def changed(self, name: str, fingerprint: str) -> bool:
        """Return whether the rows of a source are others now."""
        try:
            return self._maker.content(self._origin(name)) != fingerprint
        except OSError:
            return True

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT over the sources themselves."""
        only_select(sql, self.capabilities.dialect)
        limit = self._limits.seconds if seconds is None else seconds
        with self._child(sql) as child:
            return exact_of(child.ask(b"R" + sql.encode(), limit))

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with DuckDB's names for their types."""
        return self._typed(name, self._origin(name))

    def _typed(self, name: str, origin: SourceOrigin) -> list[tuple[str, str]]:
        key = (name, self._version(origin))
        if key not in self._columns:
            self._columns[key] = self._described(name, self.relation(name))
        return list(self._columns[key])

    def _described(self, name: str, relation: str) -> list[tuple[str, str]]:
        origin = self._sources.origin(name, raw=True)
        if origin.joined or origin.files.kind is FileKind.CSV:
            with self._child(relation) as child:
                body = child.ask(b"C" + relation.encode(), self._limits.seconds)
        else:
            return self._alone(origin)
        return [(column, kind) for column, kind in json.loads(body)]

    def _alone(self, origin: SourceOrigin) -> list[tuple[str, str]]:
        """Return the columns of a source by itself: another one that is beyond reading must not be in the way."""
        place = place_of(origin.name, origin.files, origin.parts)[0]
        with opened_alone(origin.name, self._setup({"t": place})) as child:
            body = child.ask(b"C" + b"source.t", self._limits.seconds)
        return [(column, kind) for column, kind in json.loads(body)]

    def names(self, name: str) -> list[str]:
        """Return the names of a source's columns: the first line of a text file, no more of it.

        Guarantee: whether there is an answer does not depend on how other tables store their columns.
        """
        self.relation(name)  # or it is refused
        declared = self._sources.read_as(name) is not None
        origin = None if declared else self._sources.origin(name)
        known = self._sources.names(name, origin)
        if known is not None:
            return known
        found = origin or self._origin(name)
        if not found.joined:
            return [column for column, _ in self._typed(name, found)]
        base = replace(found, joined=(), unit=None)
        key = (f"{name} alone", self._version(base))
        if key not in self._columns:
            self._columns[key] = self._alone(base)
        own = [column for column, _ in self._columns[key]]
        return [*own, *self._sources.reached(name, own)]

    def _origin(self, name: str) -> SourceOrigin:
        self.relation(name)  # or it is refused
        return self._sources.origin(name)

    def _content(self, origin: SourceOrigin) -> str:
        """Return a hash of the files behind a table: of all of a database where it lies in one."""
        return combined([self._hashes.of(each.files) for each in origin.every])

    def _version(self, origin: SourceOrigin) -> str:
        """Return what tells the present rows of a table from others; cheap where nothing is kept.

        An engine whose folder goes with it names contents to nobody, so it need not read them for
        a name: sizes, times and inodes tell (`ContentHashes.state`).
        """
        if self._for_now:
            states = [self._hashes.state(each.files) for each in origin.every]
            if None not in states:
                return combined([each for each in states if each is not None])
        return self._content(origin)

    def tree(self, sql: str) -> str | None:
        """Return DuckDB's own parse of a statement; what is asked of every snapshot is parsed once.

        Other statements are parsed each time: how long that takes is not to tell who asked them before.
        """
        found = self._trees.get(sql)
        if found is None:
            with self._lend({}, {}) as child:
                found = child.ask(b"T" + sql.encode(), self._limits.seconds).decode()
        if sql in self._trees:
            self._trees[sql] = found
        return found

    def cancel(self, *, thread: int | None = None) -> None:
        """Stop what is running now, or only what one thread is waiting for."""
        self._canon.interrupt(thread)
        self._raw.interrupt(thread)

    def close(self) -> None:
        """End the child processes and remove temporary files."""
        self._finalizer()

    def schema(self, name: str) -> dict[str, str]:
        """Return the types of a table's columns as they are now; text files hold texts, whatever is in them."""
        known = self._sources.types(name)
        return super().schema(name) if known is None else known

    def _lend(
        self, kept: Mapping[str, Path], canon: Mapping[str, Path]
    ) -> AbstractContextManager[Child]:
        return self._canon.lend(lambda: self._setup({}), kept=kept, canon=canon)

    @contextlib.contextmanager
    def _child(self, sql: str) -> Iterator[Child]:
        """Lend a child that reads the sources as they are now, all of those that `sql` names."""
        opened = self._look()
        for name in self._sources:
            if name not in opened.places and f"source.{quoted(name)}" in sql:
                raise unreadable(name, opened.damaged.get(name)) from None
        with self._lend_raw(opened) as child:
            yield child

    def _look(self) -> OpenedSources:
        """Return which sources can be read: found out anew, by one thread, whenever one of them has changed."""
        with self._looking:
            now = {name: self._version(self._sources.origin(name)) for name in self._sources}
            if self._opened is None or self._opened.versions != now:
                self._opened = self._readable(now)
            return self._opened

    def _readable(self, now: Mapping[str, str]) -> OpenedSources:
        """Return those sources that a child opens."""
        places, damaged = {}, dict[str, InvalidInput]()
        for name in self._sources:
            with contextlib.suppress(CatalogError, InvalidInput):
                origin = self._sources.origin(name, raw=True)
                try:
                    places[name] = self._place(origin)
                except InvalidInput as error:
                    damaged[name] = by_their_names(origin.files, error)
        while True:
            found = OpenedSources(now, dict(places), damaged)
            try:
                with self._lend_raw(found):
                    return found
            except Unreadable as broken:
                if places.pop(str(broken), None) is None:
                    raise unreadable(str(broken)) from None

    def _lend_raw(self, opened: OpenedSources) -> AbstractContextManager[Child]:
        return self._raw.lend(lambda: self._setup(opened.places), kept={}, state=opened)

    def _place(self, origin: SourceOrigin) -> dict[str, Any]:
        """Return how a source is opened, after a CSV file became Parquet."""
        places = [
            {"parquet": [str(self._texts.of(each))]}
            if each.files.kind is FileKind.CSV
            else place_of(each.name, each.files, each.parts)[0]
            for each in origin.every
        ]
        return joined_place(origin, places)

    def _setup(self, places: Mapping[str, Any]) -> dict[str, Any]:
        inside = any(
            "table" in place.get("join", {}).get("base", place) for place in places.values()
        )
        return {
            **self._common(),
            "database": str(self._database) if self._database and inside else None,
            "sources": dict(places),
            "folders": [
                f"{place}{os.sep}"
                for place in dict.fromkeys((self._stored, self._passing, self._state / "canon"))
            ],
        }

    def _common(self) -> dict[str, Any]:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        share = int(memory * _SHARE_OF_MEMORY / self._limits.workers)
        return {
            "memory_mb": self._limits.memory_mb or share,
            "threads": self._limits.threads,
            "temporary": str((self._limits.scratch or self._state) / "spill"),
        }


def _state_folder(state: Path | None) -> tuple[Path, Path | None]:
    """Return where tables are kept, and the folder to remove at the end if it is a temporary one."""
    if state is None:
        folder = Path(tempfile.mkdtemp(prefix="discreet-"))
        return folder, folder
    folder = state.resolve() / "duckdb"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder, None


def _give_back(pools: tuple[ChildPool, ChildPool], drop: Path | None) -> None:
    for pool in pools:
        pool.close()
    if drop is not None:
        shutil.rmtree(drop, ignore_errors=True)
