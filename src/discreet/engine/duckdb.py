"""DuckDB in child processes that can be killed: the embedded engine."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.engine.arrow import plain_table
from discreet.engine.base import Capabilities, EngineLimits, Exact
from discreet.engine.child import Child, Unreadable
from discreet.engine.files import (
    ContentHashes,
    FileKind,
    FileSource,
    column_names,
    delimiter,
    find_files,
)
from discreet.engine.guard import only_select
from discreet.engine.names import checked_name, is_name, name_taken, quoted
from discreet.errors import CatalogError, UnknownName

_SHARE_OF_MEMORY = 0.7
_KEPT = re.compile(r"\bkept\"?\.\"?([a-z0-9_]+)", re.IGNORECASE)
"""Uploaded and stored tables in a query; a child hears of them when it first needs them."""


class DuckDBEngine:
    """Runs SQL in locked-down child processes, up to `limits.workers` of them.

    Guarantee: a query ends within its time limit plus a quarter of a second, because a child that
    does not stop is killed; the next query gets a fresh child with the same tables.
    """

    capabilities = Capabilities(dialect="duckdb", parallel_queries=True)

    def __init__(
        self,
        database: Path | None,
        sources: Mapping[str, str],
        *,
        base: Path,
        state: Path | None,
        limits: EngineLimits,
    ) -> None:
        self._limits = limits
        self._database = database
        self._files: dict[str, FileSource] = {}
        self._tables: dict[str, list[str]] = {}
        for name, source in sources.items():
            if database is not None and not _looks_like_file(source):
                self._tables[name] = source.split(".")
            else:
                self._files[name] = find_files(name, source, base)
        self._state, self._drop = _state_folder(state)
        self._stored = self._state / "tables"
        self._stored.mkdir(mode=0o700, exist_ok=True)
        self._hashes = ContentHashes(self._state / "hashes.json")
        self._uploads: dict[str, tuple[int, bytes]] = {}
        self._columns: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._places = threading.Semaphore(limits.workers)
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: dict[Child, int] = {}
        self._setup: dict[str, Any] | None = None
        self._finalizer = weakref.finalize(self, _give_back, self._idle, self._drop)
        if all(source.kind is FileKind.PARQUET for source in self._files.values()):
            # Starts while the caller goes on: its imports and ours run side by side.
            self._idle.append(self._spawn())

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of a table."""
        if name in self._files or name in self._tables:
            return f"source.{quoted(name)}"
        if self.has(name):
            return f"kept.{quoted(name)}"
        raise UnknownName(f"The engine has no table '{name}'.")

    def has(self, name: str) -> bool:
        """Return whether a table of this name is attached, uploaded or materialised."""
        known = name in self._files or name in self._tables or name in self._uploads
        return known or (is_name(name) and self._stored_file(name).is_file())

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        only_select(sql, self.capabilities.dialect)
        limit = self._limits.seconds if seconds is None else seconds
        with self._child(sql) as child:
            body = child.ask(b"R" + sql.encode(), limit)
        with pa.ipc.open_stream(body) as reader:
            return Exact(plain_table(reader.read_all()))

    def put(self, name: str, table: pa.Table) -> str:
        """Return the relation of a small public table, uploaded now."""
        self._free_name(name)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        version = self._uploads.get(name, (0, b""))[0] + 1
        self._uploads[name] = (version, sink.getvalue().to_pybytes())
        return f"kept.{quoted(name)}"

    def materialise(self, name: str, sql: str) -> str:
        """Return the relation of the stored result of `sql`, computed unless it is there."""
        self._free_name(name)
        only_select(sql, self.capabilities.dialect)
        target = self._stored_file(name)
        if not target.is_file():
            rough = target.with_name(f".new-{os.getpid()}-{threading.get_ident()}-{target.name}")
            order = json.dumps({"sql": sql, "path": str(rough)})
            try:
                with self._child(sql) as child:
                    child.ask(b"S" + order.encode(), self._limits.store_seconds)
                rough.replace(target)
            finally:
                rough.unlink(missing_ok=True)
        return f"kept.{quoted(name)}"

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with DuckDB's names for their types."""
        key = (name, self.fingerprint(name))
        if key not in self._columns:
            relation = self.relation(name)
            with self._child(relation) as child:
                body = child.ask(b"C" + relation.encode(), self._limits.seconds)
            self._columns[key] = [(column, kind) for column, kind in json.loads(body)]
        return list(self._columns[key])

    def fingerprint(self, name: str) -> str:
        """Return a hash of the content of the files behind a table.

        For a table inside a database file it is that of the whole file: more than needed changes it.
        """
        if name in self._files:
            return self._hashes.of(self._files[name])
        if name in self._tables and self._database is not None:
            return self._hashes.of(FileSource(FileKind.PARQUET, (self._database,)))
        if name in self._uploads:
            return hashlib.sha256(self._uploads[name][1]).hexdigest()
        if self.has(name):
            return self._hashes.of(FileSource(FileKind.PARQUET, (self._stored_file(name),)))
        raise UnknownName(f"The engine has no table '{name}'.")

    def cancel(self, *, thread: int | None = None) -> None:
        """Stop what is running now, or only what one thread is waiting for."""
        with self._lock:  # held throughout: a child must not pass on to another thread meanwhile
            for child, user in self._busy.items():
                if thread in (None, user):
                    child.interrupt()

    def close(self) -> None:
        """End the child processes and remove temporary files."""
        with self._lock:
            for child in self._busy:
                child.kill()
        self._finalizer()

    @contextlib.contextmanager
    def _child(self, sql: str) -> Iterator[Child]:
        """Lend a child that knows every table that `sql` may name."""
        with self._places:
            with self._lock:
                child = self._idle.pop() if self._idle else self._spawn()
                self._busy[child] = threading.get_ident()
            try:
                self._teach(child, sql)
                yield child
            finally:
                with self._lock:
                    self._busy.pop(child, None)
                    if child.alive:
                        self._idle.append(child)

    def _teach(self, child: Child, sql: str) -> None:
        try:
            child.wait_ready()
        except Unreadable as broken:
            raise _unreadable(str(broken)) from None
        named = set(_KEPT.findall(sql))
        for name in named:
            version, content = self._uploads.get(name, (0, b""))
            if child.known.get(name) == version:
                continue
            if version:
                child.ask(b"P" + name.encode() + b"\x00" + content, self._limits.seconds)
            elif self._stored_file(name).is_file():
                order = json.dumps({"name": name, "path": str(self._stored_file(name))})
                child.ask(b"V" + order.encode(), self._limits.seconds)
            child.known[name] = version

    def _spawn(self) -> Child:
        if self._setup is None:
            self._setup = self._prepare()
        return Child("discreet.engine.worker", self._setup)

    def _prepare(self) -> dict[str, Any]:
        """Return what a child must know, after every CSV source has its snapshot."""
        files = {}
        for name, source in self._files.items():
            parquet = source.kind is FileKind.PARQUET
            paths = source.paths if parquet else (self._snapshot(name, source),)
            files[name] = [str(path) for path in paths]
        return {
            **self._common(),
            "database": str(self._database) if self._database else None,
            "files": files,
            "tables": self._tables,
            "stored": f"{self._stored}{os.sep}",
        }

    def _common(self) -> dict[str, Any]:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        share = int(memory * _SHARE_OF_MEMORY / self._limits.workers)
        return {
            "memory_mb": self._limits.memory_mb or share,
            "threads": self._limits.threads,
            "temporary": str(self._state / "spill"),
        }

    def _snapshot(self, name: str, source: FileSource) -> Path:
        """Return the Parquet snapshot of a CSV source, made now unless this content has one."""
        target = self._state / f"csv-{self._hashes.of(source)}.parquet"
        if target.is_file():
            return target
        with tempfile.TemporaryDirectory(dir=self._state) as folder:
            finished = Path(folder) / "typed.parquet"
            order = {
                **self._common(),
                "paths": [str(path) for path in source.paths],
                "delimiter": delimiter(source.paths[0]),
                "columns": column_names(name, source.paths[0]),
                "rough": str(Path(folder) / "text.parquet"),
                "target": str(finished),
            }
            child = Child("discreet.engine.ingest", order)
            try:
                child.wait_ready(self._limits.store_seconds)
            except Unreadable:
                raise _unreadable(name) from None
            finally:
                child.close()
            finished.replace(target)
        return target

    def _stored_file(self, name: str) -> Path:
        return self._stored / f"{checked_name(name)}.parquet"

    def _free_name(self, name: str) -> None:
        if checked_name(name) in self._files or name in self._tables:
            raise name_taken(name)


def _looks_like_file(source: str) -> bool:
    return source.lower().endswith((".csv", ".tsv", ".txt", ".gz", ".parquet")) or "/" in source


def _state_folder(state: Path | None) -> tuple[Path, Path | None]:
    """Return where tables are kept, and the folder to remove at the end if it is a temporary one."""
    if state is None:
        folder = Path(tempfile.mkdtemp(prefix="discreet-"))
        return folder, folder
    folder = state.resolve() / "duckdb"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder, None


def _give_back(idle: list[Child], drop: Path | None) -> None:
    for child in idle:
        child.close()
    idle.clear()
    if drop is not None:
        shutil.rmtree(drop, ignore_errors=True)


def _unreadable(name: str) -> CatalogError:
    return CatalogError(
        f"The source of table '{name}' could not be read.",
        hint="Check that it is a CSV file with a first line of column names and as many cells in "
        "every line, or a Parquet file, or a table of the database.",
    )
