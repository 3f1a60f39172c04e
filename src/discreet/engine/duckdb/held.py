"""DuckDB's held state: the snapshots behind some tables, kept from being collected while read."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa

from discreet.engine.arrow import plain_table
from discreet.engine.base import EngineLimits, Exact, Held, engine_failed
from discreet.engine.dialect.guard import only_select
from discreet.engine.dialect.names import quoted
from discreet.engine.duckdb.snapshots import Snapshot
from discreet.engine.process.child import Child

Kept = Mapping[str, Path]
Lend = Callable[[Kept, Mapping[str, Path]], AbstractContextManager[Child]]


class DuckDBHeld(Held):
    """Reads canon."dataset.table" for each held table, each an immutable snapshot.

    Guarantee: see `discreet.engine.base.Held`. A snapshot was made from exactly the bytes behind
        its fingerprint (docs/notes/0036), nobody writes to it, and nobody removes it meanwhile.
    """

    def __init__(
        self,
        snapshots: Mapping[str, Snapshot],
        fingerprints: Mapping[str, str],
        private: Mapping[str, str | None],
        *,
        lend: Lend,
        folder: Path,
        limits: EngineLimits,
    ) -> None:
        self.fingerprints = dict(fingerprints)
        self.private = dict(private)
        self._snapshots = dict(snapshots)
        self._lend = lend
        self._folder = folder
        self._limits = limits
        self._kept: dict[str, Path] = {}
        self._closed = False

    @property
    def dropped(self) -> dict[str, dict[str, int]]:
        """Return what each table's declarations left out: for the owner's eyes only."""
        return {name: dict(snapshot.dropped) for name, snapshot in self._snapshots.items()}

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT over the held state.

        What was counted when a snapshot was made is not counted again: it cannot have changed.
        """
        self._require_open()
        for snapshot in self._snapshots.values():
            if sql in snapshot.counted:
                return Exact(pa.table({"r0": pa.array([snapshot.counted[sql]], pa.int64())}))
        only_select(sql, "duckdb")
        limit = self._limits.seconds if seconds is None else seconds
        with self._lend(self._kept, self._canon()) as child:
            return exact_of(child.ask(b"R" + sql.encode(), limit))

    def _keep(self, sql: str) -> str:
        """Return the relation of the stored result of one SELECT over the held state."""
        self._require_open()
        only_select(sql, "duckdb")
        name = f"held_{uuid.uuid4().hex}"
        path = self._folder / f"{name}.parquet"
        order = json.dumps({"sql": sql, "path": str(path)})
        self._kept[name] = path
        kept = {known: place for known, place in self._kept.items() if known != name}
        with self._lend(kept, self._canon()) as child:
            child.ask(b"S" + order.encode(), self._limits.store_seconds)
        return f"kept.{quoted(name)}"

    def _require_open(self) -> None:
        # A reader may be kept by somebody: what was let go is read no more.
        if self._closed:
            raise engine_failed()

    def _canon(self) -> dict[str, Path]:
        return {name: snapshot.path for name, snapshot in self._snapshots.items()}

    def close(self) -> None:
        """Let the snapshots go and remove what was kept."""
        self._closed = True
        release(self._snapshots)
        self._snapshots.clear()
        for place in self._kept.values():
            with contextlib.suppress(OSError):
                place.unlink()
        self._kept.clear()


def release(snapshots: Mapping[str, Snapshot]) -> None:
    """Let snapshots go."""
    for snapshot in snapshots.values():
        snapshot.release()


def exact_of(body: bytes) -> Exact:
    """Return the table that a child sent."""
    with pa.ipc.open_stream(body) as reader:
        return Exact(plain_table(reader.read_all()))
