"""Canonical snapshots on disk: immutable, sealed, held while somebody reads, collected when not.

A snapshot is a folder with a DuckDB file and what is known about it. It is made under another name
and renamed whole, so it is complete or not there. Its name is a keyed hash of source, content and
declarations; its seal is made with the same key, so a file from elsewhere is never read. What DuckDB holds
for a question are the snapshots behind some tables, kept from being collected while they are read.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import EngineLimits, Exact, Held, engine_failed
from discreet.data.engines.child import Child
from discreet.data.engines.dialects import quoted
from discreet.data.engines.guard import only_select

_ROWS = "rows.duckdb"
_ABOUT = "about.json"
_NEW = ".new-"
_NAME = re.compile(r"[0-9a-f]{40}")
_LEFT = 3600.0
"""Seconds after which a folder that nobody has locked yet was left behind by somebody."""
NEWEST = 3
"""So many snapshots of one table are kept though nobody reads them."""


class Snapshot:
    """One snapshot in use: nobody removes it before it is released."""

    def __init__(self, folder: Path, about: Mapping[str, Any], lock: int) -> None:
        self.name = folder.name
        self.path = folder / _ROWS
        self.dropped: dict[str, int] = dict(about["dropped"])
        self.counted: dict[str, int] = dict(about["counted"])
        self._lock: int | None = lock

    def release(self) -> None:
        """Let the snapshot go."""
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


class SnapshotFolder:
    """A folder under another name in which one snapshot is being made; removed unless kept."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self.rows = folder / _ROWS
        self._lock = lock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)


class SnapshotStore:
    """All snapshots below one folder, and the key that names and seals them."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self.folder = folder
        self._key = key
        self._known: dict[str, tuple[object, dict[str, Any]]] = {}
        self._aliases = folder.with_name(f"{folder.name}-versions")
        for each in (folder, self._aliases):
            each.mkdir(mode=0o700, exist_ok=True)

    def name(self, *parts: str) -> str:
        """Return the name of a snapshot: everything that its rows depend on, told to nobody."""
        return self._hash("name", repr(parts))[:40]

    def salt(self) -> str:
        """Return a secret text for numbers that stand for people, the same for all snapshots."""
        return self._hash("people", "")

    def find(self, name: str) -> Snapshot | None:
        """Return the snapshot of this name, held; None where there is none that is whole and ours."""
        folder = self.folder / name
        lock = _locked(folder / _ABOUT, fcntl.LOCK_SH)
        if lock is None:
            return None
        about = self._about(folder)
        if about is None:
            os.close(lock)
            return None
        with contextlib.suppress(OSError):
            os.utime(folder)
        return Snapshot(folder, about, lock)

    def remember(self, alias: str, name: str) -> None:
        """Let a snapshot be found under another name as well, also when its own would be another by now."""
        if self._meant(alias) != name:
            new = self._aliases / f"{alias}.{os.urandom(8).hex()}"
            _write(new, name.encode())
            new.replace(self._aliases / alias)

    def remembered(self, alias: str) -> Snapshot | None:
        """Return the snapshot that is found under another name, held."""
        name = self._meant(alias)
        return None if name is None else self.find(name)

    def _meant(self, alias: str) -> str | None:
        """Return which snapshot is found under another name; one of our own making, or none."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            name = (self._aliases / alias).read_text()
            return name if _NAME.fullmatch(name) else None
        return None

    def room(self) -> SnapshotFolder:
        """Return an empty folder to make a snapshot in."""
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix=_NEW))
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return SnapshotFolder(folder, lock)

    def add(
        self, name: str, table: str, room: SnapshotFolder, counts: Mapping[str, Any]
    ) -> Snapshot:
        """Return the finished snapshot, held; the work of another process counts as well as ours.

        `counts`: what was left out, and the answers to what is asked of every snapshot.
        """
        about = {"table": table, **counts, "digest": _digest(room.rows)}
        sealed = {**about, "name": name, "seal": self._seal(name, about)}
        _write(room.folder / _ABOUT, json.dumps(sealed).encode())
        _sync(room.rows)
        (room.folder / "lock").unlink(missing_ok=True)
        _sync(room.folder)
        target = self.folder / name
        for _ in range(5):
            with contextlib.suppress(OSError):
                room.folder.rename(target)
                _sync(self.folder)
            found = self.find(name)
            if found is not None:
                self.collect(table)
                return found
            # What is there is damaged or foreign: out of the way with it.
            self._remove(target)
        raise OSError("the snapshot could not be kept")

    def collect(self, table: str) -> None:
        """Remove what nobody holds: all but the newest snapshots of a table, and what was left."""
        for alias in self._aliases.iterdir():
            name = self._meant(alias.name)
            with contextlib.suppress(OSError):
                being_made = "." in alias.name and time.time() - alias.stat().st_mtime < _LEFT
                if not being_made and (name is None or not (self.folder / name).exists()):
                    alias.unlink()
        mine = []
        for folder in self.folder.iterdir():
            if folder.name.startswith(_NEW):
                self._collect_left(folder)
            elif _table(folder) == table:
                with contextlib.suppress(OSError):
                    mine.append((folder.stat().st_mtime_ns, folder))
        for _, folder in sorted(mine, reverse=True)[NEWEST:]:
            lock = _locked(folder / _ABOUT, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if lock is not None:
                self._remove(folder)
                os.close(lock)

    def _collect_left(self, folder: Path) -> None:
        """Remove what a process left behind that died while making or removing a snapshot."""
        lock = _locked(folder / "lock", fcntl.LOCK_EX | fcntl.LOCK_NB)
        with contextlib.suppress(OSError):
            if not (folder / "lock").exists() and time.time() - folder.stat().st_mtime > _LEFT:
                shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)

    def _remove(self, folder: Path) -> None:
        gone = Path(tempfile.mkdtemp(dir=self.folder, prefix=_NEW))
        with contextlib.suppress(OSError):
            folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _about(self, folder: Path) -> dict[str, Any] | None:
        """Return what is known about a snapshot if its seal is ours and its rows are those sealed.

        Looked at once for each state of the two files.
        """
        with contextlib.suppress(OSError):
            facts = tuple(_facts(folder / part) for part in (_ABOUT, _ROWS))
            seen, known = self._known.get(folder.name, (None, {}))
            if seen == facts:
                return known
            found = self._checked(folder)
            if found is not None:
                self._known[folder.name] = facts, found
            return found
        return None

    def _checked(self, folder: Path) -> dict[str, Any] | None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            found = json.loads((folder / _ABOUT).read_text())
            about = {part: found[part] for part in ("table", "dropped", "counted", "digest")}
            about |= {part: found[part] for part in ("whole",) if part in found}
            sealed = hmac.compare_digest(found["seal"], self._seal(folder.name, about))
            if sealed and _digest(folder / _ROWS) == found["digest"]:
                return about
        return None

    def _seal(self, name: str, about: Mapping[str, Any]) -> str:
        return self._hash("seal", json.dumps([name, about], sort_keys=True))

    def _hash(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}\n{text}".encode(), hashlib.sha256).hexdigest()


def _locked(path: Path, how: int) -> int | None:
    """Return an open, locked file that is still the one of this name; None where there is none."""
    try:
        lock = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        fcntl.flock(lock, how)
        if os.path.samestat(path.stat(), os.fstat(lock)):
            return lock
    os.close(lock)
    return None


def _table(folder: Path) -> str | None:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads((folder / _ABOUT).read_text())["table"])
    return None


def _facts(path: Path) -> tuple[int, ...]:
    stat = path.stat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


_EDGE = 1 << 16


def _digest(path: Path) -> str:
    """Return a hash of a file's size and of both its ends: what a cut or a foreign file changes.

    DuckDB checks every block that it reads against a sum of its own, so the middle need not be read.
    """
    size = path.stat().st_size
    whole = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        whole.update(file.read(_EDGE))
        file.seek(max(0, size - _EDGE))
        whole.update(file.read(_EDGE))
    return whole.hexdigest()


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    _sync(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


Kept = Mapping[str, Path]
Lend = Callable[[Kept, Mapping[str, Path]], AbstractContextManager[Child]]


class DuckDBHeld(Held):
    """Reads canon."dataset.table" for each held table, each an immutable snapshot.

    Guarantee: see `discreet.data.engines.base.Held`. A snapshot was made from exactly the bytes behind
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
