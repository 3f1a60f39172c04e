"""Spark, for data that outgrows one machine."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
import threading
import uuid
import warnings
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.engine.arrow import plain_table
from discreet.engine.base import Capabilities, EngineLimits, Exact, Recipe, engine_failed
from discreet.engine.files import (
    ContentHashes,
    FileKind,
    FileSource,
    column_names,
    delimiter,
    find_files,
)
from discreet.engine.guard import only_select
from discreet.engine.jvm import Driver, driver
from discreet.engine.live import LiveHeld
from discreet.engine.names import checked_name, is_name, name_taken
from discreet.errors import CatalogError, DiscreetError, UnknownName

_GRACE = 0.5
"""Seconds between the cancelling of a job and the end of the Java process."""


class SparkEngine:
    """Runs SQL on the Spark of this process.

    Guarantee: when a query's time is over its jobs are cancelled, and if it still does not end the
    Java process is killed; the next query starts another, with the same tables.
    """

    def __init__(
        self,
        master: str,
        sources: Mapping[str, str],
        *,
        base: Path,
        state: Path | None,
        limits: EngineLimits,
    ) -> None:
        self._master = master
        self.capabilities = Capabilities(
            dialect="spark", distributed=not master.startswith("local"), parallel_queries=True
        )
        self._limits = limits
        self._files: dict[str, FileSource] = {}
        self._remote: dict[str, str] = {}
        for name, source in sources.items():
            if "://" in source:
                self._remote[name] = source
            else:
                self._files[name] = find_files(name, source, base)
        temporary = Path(tempfile.mkdtemp(prefix="discreet-")) if state is None else None
        self._stored = (temporary or (state or base).resolve()) / "spark" / "tables"
        self._stored.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._hashes = ContentHashes(self._stored.parent / "hashes.json")
        self._uploads: dict[str, pa.Table] = {}
        self._lock = threading.RLock()
        self._driver: Driver | None = None
        self._session: Any = None
        self._views: set[str] = set()
        self._running: set[_Watch] = set()
        self._finalizer = weakref.finalize(self, _remove, temporary)

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of a table."""
        if name in self._files or name in self._remote:
            return _ticked(name)
        if name in self._uploads:
            return _ticked(_kept(name))
        if self.has(name):
            with self._lock, _sealed():
                session = self._live()
                if name not in self._views:
                    _show_stored(session, name, self._stored_folder(name))
                    self._views.add(name)
            return _ticked(_kept(name))
        raise UnknownName(f"The engine has no table '{name}'.")

    def has(self, name: str) -> bool:
        """Return whether a table of this name is attached, uploaded or materialised."""
        known = name in self._files or name in self._remote or name in self._uploads
        return known or (is_name(name) and self._stored_folder(name).is_dir())

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        only_select(sql, self.capabilities.dialect)
        with self._within(self._limits.seconds if seconds is None else seconds) as session:
            return Exact(plain_table(session.sql(sql).toArrow()))

    def put(self, name: str, table: pa.Table) -> str:
        """Return the relation of a small public table, uploaded now."""
        if checked_name(name) in self._files or name in self._remote:
            raise name_taken(name)
        with self._within(self._limits.seconds) as session:
            _upload(session, name, table)
        self._uploads[name] = table
        return _ticked(_kept(name))

    def materialise(self, name: str, sql: str) -> str:
        """Return the relation of the stored result of `sql`, computed unless it is there.

        With a cluster the state folder must be one that all its machines see.
        """
        only_select(sql, self.capabilities.dialect)
        if checked_name(name) in self._files or name in self._remote:
            raise name_taken(name)
        target = self._stored_folder(name)
        if not target.is_dir():
            rough = target.with_name(f".new-{uuid.uuid4().hex}")
            try:
                with self._within(self._limits.store_seconds) as session:
                    session.sql(sql).write.parquet(str(rough))
                rough.replace(target)
            finally:
                shutil.rmtree(rough, ignore_errors=True)
        return self.relation(name)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with Spark's names for their types."""
        relation = self.relation(name)
        with self._within(self._limits.seconds) as session:
            return [(column, kind) for column, kind in session.table(relation).dtypes]

    def fingerprint(self, name: str) -> str:
        """Return a hash of the content of local files, or of names, sizes and times of remote ones.

        Remote stores replace files, so a change of content shows in those; a store that rewrites a
        file within its clock's tick and keeps the size would go unseen: declare a version there.
        """
        if name in self._files:
            return self._hashes.of(self._files[name])
        if name in self._uploads:
            return hashlib.sha256(repr(self._uploads[name].to_pydict()).encode()).hexdigest()
        if not self.has(name):
            raise UnknownName(f"The engine has no table '{name}'.")
        place = self._remote.get(name) or f"file://{self._stored_folder(name)}"
        with self._within(self._limits.seconds) as session:
            return hashlib.sha256("\n".join(_listing(session, place)).encode()).hexdigest()

    def hold(self, tables: Mapping[str, Recipe]) -> LiveHeld:
        """Return these tables as they are."""
        return LiveHeld(self, tables)

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
            with _sealed():
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
            for name, source in self._files.items():
                _attach(session, name, source)
            for name, place in self._remote.items():
                _attach_remote(session, name, place)
            for name, table in self._uploads.items():
                _upload(session, name, table)
            for name in self._views:
                _show_stored(session, name, self._stored_folder(name))
            self._driver, self._session = live, session
        return self._session

    def _stored_folder(self, name: str) -> Path:
        return self._stored / f"{checked_name(name)}.parquet"


@contextlib.contextmanager
def _sealed() -> Iterator[None]:
    try:
        yield
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001 Spark's text may hold a cell
        raise engine_failed() from None


def _show_stored(session: Any, name: str, folder: Path) -> None:
    session.read.parquet(f"file://{folder}").createOrReplaceTempView(_kept(name))


def _attach(session: Any, name: str, source: FileSource) -> None:
    paths = [f"file://{path}" for path in source.paths]
    try:
        if source.kind is FileKind.PARQUET:
            frame = session.read.parquet(*paths)
        else:
            columns = column_names(name, source.paths[0])
            frame = _read_csv(session, paths, columns, delimiter(source.paths[0]))
        frame.createOrReplaceTempView(_ticked(name))
    except CatalogError:
        raise
    except Exception:  # noqa: BLE001 Spark's text may hold a cell
        raise _unreadable(name) from None


def _read_csv(session: Any, paths: list[str], columns: list[str], separator: str) -> Any:
    """Return every cell as text, an empty one as NULL, as `discreet.engine.ingest` reads it."""
    schema = ", ".join(f"{_ticked(column)} STRING" for column in columns)
    frame = session.read.csv(
        paths, schema=schema, header=True, sep=separator, quote='"', escape='"', multiLine=True
    )
    cells = [f"nullif({_ticked(column)}, '') AS {_ticked(column)}" for column in columns]
    return frame.selectExpr(*cells)


def _attach_remote(session: Any, name: str, place: str) -> None:
    reader = session.read
    try:
        if place.lower().endswith((".csv", ".tsv", ".txt", ".gz")):
            frame = reader.csv(place, header=True, quote='"', escape='"', multiLine=True)
        else:
            frame = reader.parquet(place)
        frame.createOrReplaceTempView(_ticked(name))
    except Exception:  # noqa: BLE001 Spark's text may hold a cell
        raise _unreadable(name) from None


def _upload(session: Any, name: str, table: pa.Table) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.createDataFrame(plain_table(table)).createOrReplaceTempView(_kept(name))


def _listing(session: Any, place: str) -> list[str]:
    """Return name, size and time of every file below a place of any Hadoop file system."""
    context = session.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(place)  # noqa: SLF001 the only way to ask Hadoop
    system = path.getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001 likewise
    found = []
    for match in system.globStatus(path) or []:
        files = system.listFiles(match.getPath(), True)
        while files.hasNext():
            file = files.next()
            found.append(f"{file.getPath()}|{file.getLen()}|{file.getModificationTime()}")
    return sorted(found)


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


def _ticked(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _kept(name: str) -> str:
    return f"kept_{name}"


def _unreadable(name: str) -> CatalogError:
    return CatalogError(
        f"The source of table '{name}' could not be read.",
        hint="Spark reads Parquet files and CSV files with a first line of column names.",
    )
