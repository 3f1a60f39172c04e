"""A shim under SQLite: sees every write and sync, can make any of them fail, and can replay a
loss of power at any point.

It registers a VFS (SQLite's own layer over the operating system) as the default one. Files are
opened and deleted by the original VFS; then write, truncate and sync of their method tables are replaced. So
the product runs unchanged, and nothing but these calls is different.
"""

from __future__ import annotations

import ctypes
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from discreet.base import files
from discreet.privacy.ledger import head as head_module

OK, IOERR_WRITE, IOERR_FSYNC, FULL = 0, 778, 1034, 13

_VOID = ctypes.c_void_p
# The path stays a bare pointer: SQLite keeps it, and reads options behind its end.
_OPEN = ctypes.CFUNCTYPE(ctypes.c_int, _VOID, _VOID, _VOID, ctypes.c_int, _VOID)
_DELETE = ctypes.CFUNCTYPE(ctypes.c_int, _VOID, _VOID, ctypes.c_int)
_WRITE = ctypes.CFUNCTYPE(ctypes.c_int, _VOID, _VOID, ctypes.c_int, ctypes.c_int64)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, _VOID, ctypes.c_int64)
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, _VOID, ctypes.c_int)


class _Vfs(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        ("next", _VOID),
        ("name", ctypes.c_char_p),
        ("data", _VOID),
        ("open", _VOID),
        ("delete", _VOID),
        ("rest", _VOID * 15),
    )


class _Methods(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int),
        ("close", _VOID),
        ("read", _VOID),
        ("write", _VOID),
        ("truncate", _VOID),
        ("sync", _VOID),
        ("rest", _VOID * 14),
    )


@dataclass
class Disk:
    """The log of everything that was done to the files, and which step is to fail."""

    log: list[tuple] = field(default_factory=list)
    fail_at: int | None = None
    steps: int = 0

    def note(self, kind: str, *facts: object) -> None:
        self.log.append((kind, *facts))

    def fails(self) -> bool:
        """Count one step; return whether it, or one before it, was the one to fail."""
        self.steps += 1
        return self.fail_at is not None and self.steps >= self.fail_at


def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libsqlite3.so.0")
    except OSError:
        pytest.skip("this system has no shared libsqlite3 to put a shim under")
    library.sqlite3_libversion.restype = ctypes.c_char_p
    library.sqlite3_vfs_find.restype = _VOID
    library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
    library.sqlite3_vfs_register.argtypes = [_VOID, ctypes.c_int]
    library.sqlite3_vfs_unregister.argtypes = [_VOID]
    if library.sqlite3_libversion().decode() != sqlite3.sqlite_version:
        pytest.skip("this Python carries its own SQLite, out of the shim's reach")
    return library


_kept: list[object] = []  # method tables that an open file may still point to: never collected


@contextmanager
def shimmed(disk: Disk) -> Iterator[None]:
    """Put the shim under SQLite and under the head file while the block runs."""
    library = _library()
    original_at = library.sqlite3_vfs_find(None)
    original = _Vfs.from_address(original_at)
    original_open = _OPEN(original.open)
    names: dict[int, str] = {}
    tables: dict[int, tuple] = {}

    def table_for(methods_at: int) -> _Methods:
        if methods_at not in tables:
            theirs = _Methods.from_address(methods_at)
            calls = _replaced(disk, names, theirs)
            ours = _Methods.from_buffer_copy(theirs)
            ours.write, ours.truncate, ours.sync = (ctypes.cast(c, _VOID).value for c in calls)
            tables[methods_at] = (ours, calls)
            _kept.append(tables[methods_at])
        return tables[methods_at][0]

    def open_file(vfs, path, file, flags, flags_out):
        status = original_open(original_at, path, file, flags, flags_out)
        pointer = _VOID.from_address(file)
        if status == OK and pointer.value and path:
            names[file] = Path(ctypes.string_at(path).decode()).name
            pointer.value = ctypes.addressof(table_for(pointer.value))
        return status

    original_delete = _DELETE(original.delete)

    def delete_file(vfs, path, sync_folder):
        if disk.fails():
            return IOERR_WRITE
        disk.note("delete", Path(ctypes.string_at(path).decode()).name, sync_folder)
        return original_delete(original_at, path, sync_folder)

    shim = _Vfs.from_buffer_copy(original)
    calls = _OPEN(open_file), _DELETE(delete_file)
    shim.name = b"discreet-shim"
    shim.open, shim.delete = (ctypes.cast(call, _VOID).value for call in calls)
    _kept.append((shim, calls))
    library.sqlite3_vfs_register(ctypes.addressof(shim), 1)
    try:
        with _head_watched(disk):
            yield
    finally:
        library.sqlite3_vfs_unregister(ctypes.addressof(shim))
        library.sqlite3_vfs_register(original_at, 1)


def _replaced(disk: Disk, names: dict[int, str], theirs: _Methods) -> tuple:
    write, truncate = _WRITE(theirs.write), _TRUNCATE(theirs.truncate)
    sync = _SYNC(theirs.sync)

    def our_write(file, data, size, offset):
        if disk.fails():
            return FULL
        disk.note("write", names[file], offset, ctypes.string_at(data, size))
        return write(file, data, size, offset)

    def our_truncate(file, size):
        if disk.fails():
            return IOERR_WRITE
        disk.note("truncate", names[file], size)
        return truncate(file, size)

    def our_sync(file, flags):
        if disk.fails():
            return IOERR_FSYNC
        disk.note("sync", names[file])
        return sync(file, flags)

    return _WRITE(our_write), _TRUNCATE(our_truncate), _SYNC(our_sync)


@contextmanager
def _head_watched(disk: Disk) -> Iterator[None]:
    """Watch the head file's own writes in the same log, in the same order."""
    overwrite, create = head_module._overwrite, files.write_synced
    sync_folder = files.sync_folder

    def our_overwrite(path, content, offset):
        if disk.fails():
            raise OSError(28, "No space left on device")
        disk.note("write", path.name, offset, content)
        overwrite(path, content, offset)
        disk.note("sync", path.name)

    def our_create(path, content):
        if disk.fails():
            raise OSError(28, "No space left on device")
        disk.note("write", path.name, 0, content)
        create(path, content)
        disk.note("sync", path.name)

    def our_sync_folder(folder):
        # The only rename of the product, if there is a new head, comes right before this.
        disk.note("rename")
        if disk.fails():
            raise OSError(5, "Input/output error")
        sync_folder(folder)
        disk.note("sync folder")

    head_module._overwrite, files.write_synced = our_overwrite, our_create
    files.sync_folder = our_sync_folder
    try:
        yield
    finally:
        head_module._overwrite, files.write_synced = overwrite, create
        files.sync_folder = sync_folder


def after_power_loss(log: list[tuple], rng: random.Random | None) -> dict[str, bytes]:
    """Return the files as they may be found after power fails at the end of `log`.

    Synced writes are there. Of the others none is there, or, with `rng`, any subset of them: a
    disk may write what was not synced in any order. Names are durable once their folder was
    synced, which SQLite does with the first sync of a log file, and the head file by itself.
    """
    durable: dict[str, bytearray] = {}
    pending: dict[str, list[tuple]] = {}
    names: list[tuple] = []  # deletions and renames that no sync of the folder has covered yet
    unnamed: set[str] = set()  # files of a checkpoint, synced, before their folder is
    for kind, *facts in log:
        if kind in ("write", "truncate"):
            pending.setdefault(facts[0], []).append((kind, *facts[1:]))
        elif kind == "sync":
            if facts[0].endswith(("-wal", "-journal")) and facts[0] not in durable:
                names = _settle(durable, names)  # SQLite syncs the folder of a new log
            if _of_a_checkpoint(facts[0]) and facts[0] not in durable:
                unnamed.add(facts[0])
            _apply(durable.setdefault(facts[0], bytearray()), pending.pop(facts[0], []))
        elif kind in ("delete", "rename"):
            names.append((kind, *facts))
            pending.pop(facts[0] if facts else "", None)
        elif kind == "sync folder":
            names = _settle(durable, names)
            unnamed.clear()
    if rng is not None:
        for name, steps in pending.items():
            kept = [step for step in steps if rng.random() < 0.5]
            _apply(durable.setdefault(name, bytearray()), kept)
        _settle(durable, [change for change in names if rng.random() < 0.5])
    for name in sorted(unnamed):
        if rng is None or rng.random() < 0.5:
            del durable[name]
    return {name: bytes(content) for name, content in durable.items()}


def _of_a_checkpoint(name: str) -> bool:
    return ".checkpoint-" in name or ".part-" in name


def _settle(durable: dict[str, bytearray], names: list[tuple]) -> list[tuple]:
    for kind, *facts in names:
        if kind == "delete":
            durable.pop(facts[0], None)
        elif "ledger.db.head.new" in durable:
            durable["ledger.db.head"] = durable.pop("ledger.db.head.new")
    return []


def _apply(content: bytearray, steps: list[tuple]) -> None:
    for kind, *facts in steps:
        if kind == "truncate":
            del content[facts[0] :]
            continue
        offset, data = facts
        if len(content) < offset:
            content.extend(bytes(offset - len(content)))
        content[offset : offset + len(data)] = data
