"""The engine that runs SQL on Spark, for data that outgrows one machine; what is late is cancelled or killed."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import (
    NOTHING_STORED,
    Capabilities,
    Engine,
    EngineLimits,
    Exact,
    Held,
    engine_failed,
    failing_alike,
    require_kept,
)
from discreet.data.engines.copies import (
    Canonical,
    CopyName,
    Recipe,
    canonical_of,
    combined,
    copy_name,
    private_of,
    state_key,
)
from discreet.data.engines.declared import is_filled_name
from discreet.data.engines.files import ContentHashes
from discreet.data.engines.guard import only_select
from discreet.data.engines.spark.held import SparkHeld
from discreet.data.engines.spark.jvm import Driver, driver
from discreet.data.engines.spark.sources import (
    SparkOrigins,
    StoredFacts,
    kept,
    listing,
    show_stored,
    ticked,
)
from discreet.errors import UnknownName

_TRIES = 3
"""How often a source that changes while it is copied is tried again."""
_COPIES = 3
"""How many copies of one source stay: the newest, and two that a running question may read."""
_GRACE = 0.5
"""Seconds between the cancelling of a job and the end of the Java process."""


class SparkEngine(Engine):
    """Runs SQL on the Spark of this process.

    Guarantee: when a query's time is over its jobs are cancelled, and if it still does not end the
    Java process is killed; the next query starts another, with the same tables.
    """

    capabilities = Capabilities(dialect="spark")

    def __init__(
        self,
        master: str,
        origins: SparkOrigins,
        *,
        state: Path | None,
        limits: EngineLimits,
    ) -> None:
        self._origins = origins
        self._master = master
        self._limits = limits
        folder = Path(tempfile.mkdtemp(prefix="discreet-")) if state is None else state.resolve()
        self._stored = folder / "spark" / "tables"
        self._stored.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._hashes = ContentHashes(self._stored.parent / "hashes.json")
        self._key = state_key(self._stored.parent)
        self._attached: dict[str, StoredFacts] = {}
        self._types: dict[tuple[str, StoredFacts], list[tuple[str, str]]] = {}
        self._lock = threading.RLock()
        self._driver: Driver | None = None
        self._session: Any = None
        self._views: set[str] = set()
        self._running: set[_Watch] = set()
        self._finalizer = weakref.finalize(self, _remove, folder if state is None else None)

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of a table."""
        if not self.has(name):
            raise UnknownName(f"The engine has no table '{name}'.")
        return ticked(name)

    def has(self, name: str) -> bool:
        """Return whether a table of this name is attached."""
        return name in self._origins

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        only_select(sql, self.capabilities.dialect)
        with self._within(self._limits.seconds if seconds is None else seconds) as session:
            return Exact(plain_table(session.sql(sql).toArrow()))

    def materialise(self, name: str, sql: str) -> str:
        """Return the relation of the result of `sql`, stored under a new name of ours.

        With a cluster the state folder must be one that all its machines see.
        """
        only_select(sql, self.capabilities.dialect)
        self._store(name, sql, still=lambda: True)
        return self._shown(name)

    def _shown(self, name: str) -> str:
        """Return the relation of a stored table."""
        with self._lock, failing_alike():
            session = self._live()
            if name not in self._views:
                show_stored(session, name, self._stored_folder(name))
                self._views.add(name)
        return ticked(kept(name))

    def _store(self, name: str, sql: str, *, still: Callable[[], bool]) -> bool:
        """Store the result of `sql` if `still` holds once it is computed; return whether it did."""
        target = self._stored_folder(name)
        rough = target.with_name(f".new-{uuid.uuid4().hex}")
        try:
            with self._within(self._limits.store_seconds) as session:
                session.sql(sql).write.parquet(str(rough))
            if not still():
                return False
            with contextlib.suppress(OSError):  # another process may have been first
                rough.replace(target)
        finally:
            shutil.rmtree(rough, ignore_errors=True)
        return True

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with Spark's names for their types."""
        key = (name, self._attached.get(name, ()))
        if key not in self._types:
            relation = self.relation(name)
            with self._within(self._limits.seconds) as session:
                found = [(column, kind) for column, kind in session.table(relation).dtypes]
            if not key[1]:
                return found
            self._types[key] = found
        return list(self._types[key])

    def fingerprint(self, name: str) -> str:
        """Return a hash of the content of local files, or of names, sizes and times of remote ones.

        Remote stores replace files, so a change of content shows in those; a store that rewrites a
        file within its clock's tick and keeps the size would go unseen: declare a version there.
        """
        self.relation(name)  # or it is refused
        return self._origins.content(name, self._hashes, self._listed)

    def hold(
        self,
        tables: Mapping[str, Recipe],
        *,
        stored: Mapping[str, str] = NOTHING_STORED,
        together: bool = False,
    ) -> Held:
        """Return these tables as they are now, or as they were; see `SparkHeld`."""
        for _ in range(_TRIES):
            pins, places, labels, lost, read = {}, {}, {}, [], {}
            for name, recipe in tables.items():
                facts = self._refreshed(name)
                wanted = canonical_of(recipe, name, self.relation(name), "spark", self.schema)
                if wanted is None:
                    pins[name] = read[name] = facts
                    continue
                before = stored.get(name)
                kept = None if before is None else self._earlier(name, wanted, before)
                if kept is not None and before is not None:
                    places[name], labels[name] = kept, before
                    continue
                read[name] = facts
                places[name], labels[name] = self._copy(name, wanted)
                if before not in {None, labels[name]}:
                    lost.append(name)
            require_kept(lost)
            if not together or all(self.facts(name) == facts for name, facts in read.items()):
                return SparkHeld(self, pins, places, labels, private_of(tables))
        raise engine_failed()

    def changed(self, name: str, fingerprint: str) -> bool:
        """Return whether the rows of a source are others now."""
        self._origins.refresh(name)
        return self.fingerprint(name) != fingerprint

    def _earlier(self, name: str, wanted: Canonical, label: str) -> str | None:
        """Return the relation of the copy of rows that had this label, None where it is kept no more."""
        copy = self._copy_name(name, wanted, label)
        folder = self._stored_folder(copy.whole)
        if not folder.is_dir():
            return None
        folder.touch()
        return self._shown(copy.whole)

    def _copy_name(self, name: str, wanted: Canonical, label: str) -> CopyName:
        source, reading = self._origins.source(name), self._origins.reading(name)
        return copy_name(self._key, source, combined([label, reading]), wanted)

    def facts(self, name: str) -> StoredFacts:
        """Return what tells one state of a source's files from the next."""
        return self._origins.facts(name, self._listed)

    def _listed(self, place: str) -> list[str]:
        with self._within(self._limits.seconds) as session:
            return listing(session, place)

    def forget(self, name: str) -> None:
        """Remove a stored table that nobody will read again."""
        shutil.rmtree(self._stored_folder(name), ignore_errors=True)
        with self._lock:
            self._views.discard(name)

    def _refreshed(self, name: str) -> StoredFacts:
        """Return the facts of a source's present files, attached anew where they have changed."""
        self._origins.refresh(name)
        facts = self.facts(name)
        with self._lock:
            if self._attached.get(name) != facts:
                known, session = self._session, self._live()
                if session is known:  # a new one has just attached all tables
                    self._origins.attach(session, name)
                self._attached[name] = facts
        return facts

    def _copy(self, name: str, wanted: Canonical) -> tuple[str, str]:
        """Return the relation of the copy of a source's present content, and its label.

        Guarantee: the copy was made from the content that the label stands for: the files are the
            same before the label is taken and after they are read, or it is thrown away.
        """
        for _ in range(_TRIES):
            facts = self._refreshed(name)

            def unchanged(then: StoredFacts = facts) -> bool:
                return self.facts(name) == then

            version = wanted.version
            label = self.fingerprint(name) if version is None else f"declared {version}"
            copy = self._copy_name(name, wanted, label)
            if not self._stored_folder(copy.whole).is_dir():
                if not self._store(copy.whole, wanted.select, still=unchanged):
                    continue
                self._drop_older(copy)
            elif version is None and not unchanged():
                continue
            self._stored_folder(copy.whole).touch()
            return self._shown(copy.whole), label
        raise engine_failed()

    def _drop_older(self, copy: CopyName) -> None:
        found = sorted(self._stored.glob(f"{copy.family}*"), key=lambda path: path.stat().st_mtime)
        for old in found[:-_COPIES]:
            self.forget(old.stem)

    def names(self, name: str) -> list[str]:
        """Return the names of a source's columns."""
        return [column for column, _ in self.columns(name) if not is_filled_name(column)]

    def cancel(self, *, thread: int | None = None) -> None:
        """Stop what is running now, or only what one thread is waiting for."""
        with self._lock:
            for watch in self._running:
                if thread in (None, watch.user):
                    watch.stop()

    def close(self) -> None:
        """Forget the views and temporary files; the Java process stays for the next engine."""
        self.cancel()
        self._finalizer()

    @contextlib.contextmanager
    def _within(self, seconds: float) -> Iterator[Any]:
        """Lend the session for a limited time, and turn every failure into the one sentence."""
        with self._lock:
            session, live = self._live(), self._driver
            assert live is not None, "a session has a driver"
            watch = _Watch(live, seconds)
            self._running.add(watch)
        failed = True
        try:
            with failing_alike():
                session.sparkContext.setJobGroup(watch.group, "query", interruptOnCancel=True)
                yield session
            failed = False
        finally:
            watch.end()
            with self._lock:
                self._running.discard(watch)
                alone = not self._running
            if failed:
                live.recover(alone=alone)

    def _live(self) -> Any:
        """Return a session of the living Java process that knows all tables."""
        live = driver(self._master, self._limits)
        if self._driver is not live:
            session = live.new_session()
            for name in self._origins:
                self._origins.attach(session, name)
            for name in self._views:
                show_stored(session, name, self._stored_folder(name))
            self._driver, self._session = live, session
        return self._session

    def _stored_folder(self, name: str) -> Path:
        return self._stored / f"{name}.parquet"


class _Watch:
    """Stops a query when its time is over or when asked to: first its jobs, then all of Java."""

    def __init__(self, live: Driver, seconds: float) -> None:
        self.group = uuid.uuid4().hex
        self.user = threading.get_ident()
        self._live = live
        self._seconds = seconds
        self._wake = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let the query's time be over now."""
        self._wake.set()

    def end(self) -> None:
        """Stop watching: the query has come to its end."""
        self._over.set()
        self._wake.set()
        self._thread.join()

    def _watch(self) -> None:
        self._wake.wait(self._seconds)
        if self._over.is_set():
            return
        threading.Thread(target=self._cancel, daemon=True).start()
        if not self._over.wait(_GRACE):
            self._live.kill()

    def _cancel(self) -> None:
        with contextlib.suppress(Exception):
            # And jobs to come: the query may still be planning its first.
            self._live.context._jsc.sc().cancelJobGroupAndFutureJobs(self.group)  # noqa: SLF001


def _remove(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
