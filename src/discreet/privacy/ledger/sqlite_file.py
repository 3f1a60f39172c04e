"""The one place of a process that opens a ledger's file: through SQLite, never by hand, under a lock that all users share.

Everyone who uses the file holds one shared lock on a file beside it, so that a restore can be alone.

Closing any descriptor of a file drops all POSIX locks that the process holds on it. SQLite knows
that and keeps its descriptors until its last lock is gone; a hand that opens and closes the same
file does not, and the next process that closes the ledger then deletes the log that this one is
still writing (note 0031). A forked child inherits SQLite's belief in locks that it does not have,
so every connection is closed before a fork, and made anew on both sides.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from discreet.errors import LedgerBusy, LedgerError, LedgerTampered, LedgerWriteFailed
from discreet.privacy.ledger.head import second_name
from discreet.privacy.ledger.store import not_a_ledger

PAUSE = 0.02  # seconds between two looks at the lock


class SharedPresence:
    """Says, until it is closed or forgotten, that this process uses a ledger.

    The lock is on a file of its own, and belongs to the descriptor: nothing else that this process
    opens or closes can drop it, and it ends with the process, however that ends.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        """Use the ledger no longer."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def share(path: Path, *, seconds: float) -> SharedPresence:
    """Return a share in the ledger `path`; while a restore is under way, wait for its end."""
    descriptor = _opened(path)
    end = time.monotonic() + seconds
    while not _locked(descriptor, fcntl.LOCK_SH):
        if time.monotonic() > end:
            os.close(descriptor)
            raise LedgerBusy(
                f"The ledger '{path.name}' is being restored, so nothing was entered in it now.",
                hint="Try again in a moment. The history says what was charged before.",
            )
        time.sleep(PAUSE)
    return SharedPresence(descriptor)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the ledger `path` while nobody else uses it.

    Guarantee: inside, no process of this machine is connected to the ledger, and none can connect.
    """
    descriptor = _opened(path)
    try:
        if not _locked(descriptor, fcntl.LOCK_EX):
            raise in_use(f"'{path.name}'")
        yield
    finally:
        os.close(descriptor)


def in_use(name: str) -> LedgerBusy:
    """Return the refusal to replace a ledger under somebody who is charging."""
    return LedgerBusy(
        f"The ledger {name} is in use, so nothing was changed: what is charged meanwhile would be "
        "forgotten.",
        hint="Stop the server and every command that uses it, then try again.",
    )


def unwritable(name: str) -> LedgerWriteFailed:
    """Return the refusal of a ledger that this user may not write to."""
    return LedgerWriteFailed(
        f"The ledger {name} cannot be opened for writing.",
        hint="Give this user the right to write to the file and its folder.",
    )


def _opened(path: Path) -> int:
    place = path.with_name(path.name + ".users")
    try:
        return os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(f"'{path.name}'") from error


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


SMALLEST = 512  # bytes; SQLite takes a file that is too short to be a database for an empty one
SHARED_FIRST, SHARED_SIZE = (
    0x40000002,
    510,
)  # the bytes of the file on which SQLite holds a shared lock
MOUNTS = Path("/proc/self/mountinfo")
FORK_PATIENCE = 10.0  # seconds that a fork waits for other threads to end their transactions

Identity: TypeAlias = tuple[int, int]
Prepare: TypeAlias = Callable[[sqlite3.Connection], None]


class SqliteFile:
    """One connection to one ledger's file; threads take turns.

    Guarantee: while connected, this process holds SQLite's shared lock on the file (so no other
    process removes its log) and the lock that `presence.share` describes; neither the file nor its log
    has a second name. `shared` False: the file is a copy that nobody else knows of, or its caller is
    alone with it.
    """

    def __init__(
        self, path: Path, *, prepare: Prepare, busy_seconds: float, shared: bool = True
    ) -> None:
        self.path = path
        self.busy_seconds = busy_seconds
        self.connection: sqlite3.Connection | None = None
        self._prepare = prepare
        self._shared = shared
        self._presence: SharedPresence | None = None
        self._name, self._log = str(path), f"{path}-wal"
        self._identity: Identity | None = None
        self._logged: Identity | None = None
        self._turn = threading.RLock()
        self._depth = 0
        _files.add(self)

    @contextmanager
    def connected(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection to this thread; others wait."""
        with self._turn:
            self._depth += 1
            try:
                yield self._current()
            finally:
                self._depth -= 1

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._turn:
            connection, self.connection = self.connection, None
            if connection is not None:
                connection.close()
            self._leave()

    def _current(self) -> sqlite3.Connection:
        if self.connection is None:
            self.connection = self._open()
        elif (self._seen(self._name), self._seen(self._log)) != (self._identity, self._logged):
            # Whatever were written now would be in a file without a name, and gone with us.
            raise LedgerTampered(
                f"The ledger file '{self.path.name}' or its log was moved or replaced while in use.",
                hint="Stop every process that uses it, put it back, and start again.",
            )
        return self.connection

    def _open(self) -> sqlite3.Connection:
        if self._shared:
            _require_folder(self.path)
            self._presence = share(self.path, seconds=self.busy_seconds)
        try:
            with _opening:
                self._identity = _created(self.path)
                self._seen(self._name)
                connection = sqlite3.connect(
                    self.path,
                    timeout=self.busy_seconds,
                    isolation_level=None,
                    check_same_thread=False,
                )
            try:
                self._prepare(connection)
                self._logged = self._seen(self._log)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            self._leave()
            raise
        return connection

    def _seen(self, path: str) -> Identity | None:
        """Return which file `path` is, itself and no link to it; one that is shared has no second name."""
        try:
            facts = os.lstat(path)  # asked before every statement: in half the time of a Path
        except FileNotFoundError:
            return None
        if self._shared and facts.st_nlink > 1:
            raise second_name(os.path.basename(path))  # noqa: PTH119
        return facts.st_dev, facts.st_ino

    def uses(self, identity: Identity) -> bool:
        """Return whether this is connected to that file, or about to be."""
        return self._presence is not None and self._identity == identity

    def _leave(self) -> None:
        presence, self._presence = self._presence, None
        if presence is not None:
            presence.close()

    def close_before_fork(self) -> bool:
        """Close before a fork and keep the turn; False if somebody is in the middle of something."""
        if not self._turn.acquire(timeout=FORK_PATIENCE):
            return False
        if self._depth:
            self._turn.release()
            return False
        self.close()
        return True

    def reopen_after_fork(self) -> None:
        """Give the turn back after a fork."""
        self._turn.release()

    def abandon_in_child(self) -> None:
        """Forget, in a child, a connection that was in use during the fork; it is never closed."""
        self._turn, self._depth = threading.RLock(), 0
        if self.connection is not None and self._identity is not None:
            _forgotten.append(self.connection)
            _stranded.add(self._identity)
        self.connection = None
        self._leave()


def _require_folder(path: Path) -> None:
    """Refuse a file that is mounted without its folder: its log and its head lie elsewhere."""
    try:
        mounted = {line.split()[4] for line in MOUNTS.read_bytes().splitlines()}
    except OSError:
        return  # not Linux
    name = os.fsencode(path)
    for byte in b"\\ \t\n":  # the backslash first
        name = name.replace(bytes([byte]), b"\\%03o" % byte)
    if name in mounted:
        raise LedgerError(
            f"The ledger's file '{path.name}' is mounted by itself: its log and its head file lie "
            "elsewhere, so what is left could be spent twice.",
            hint="Mount the folder that it lies in.",
        )


def _created(path: Path) -> Identity:
    """Return which file `path` is; a new one is readable by its owner only.

    Questions and answers are in it. SQLite copies the rights to its log. Only a file that was not
    there is opened here, and `_opening` keeps SQLite away until it is closed again.
    """
    if not path.exists():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    facts = path.stat()
    if 0 < facts.st_size < SMALLEST:
        raise not_a_ledger(f"'{path.name}'")
    if (facts.st_dev, facts.st_ino) in _stranded:
        raise LedgerError(
            f"The ledger '{path.name}' was in use when this process was forked off, so it cannot "
            "be used here.",
            hint="Fork while no charge is under way, or start new processes instead.",
        )
    return facts.st_dev, facts.st_ino


def require_unused(path: Path) -> None:
    """Refuse while any process of this machine is connected to the ledger `path`.

    Guarantee: it asks for SQLite's own lock on the file itself, which everyone connected holds, so
        whatever was deleted or renamed beside it changes nothing. Closing the file here drops no lock:
        this process has none on it.
    """
    with _opening:
        try:
            facts = path.stat()
            if any(file.uses((facts.st_dev, facts.st_ino)) for file in list(_files)):
                raise in_use(f"'{path.name}'")
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        except OSError as error:
            raise unwritable(f"'{path.name}'") from error
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, SHARED_SIZE, SHARED_FIRST)
        except (BlockingIOError, PermissionError):
            raise in_use(f"'{path.name}'") from None
        finally:
            os.close(descriptor)


_opening = threading.Lock()
_forking = threading.Lock()
_files: weakref.WeakSet[SqliteFile] = weakref.WeakSet()
_resting: list[SqliteFile] = []
_forgotten: list[sqlite3.Connection] = []  # of a parent; closing one would act on its log
_stranded: set[Identity] = set()


def _before_fork() -> None:
    _forking.acquire()
    _resting.extend(file for file in list(_files) if file.close_before_fork())


def _after_fork_in_parent() -> None:
    while _resting:
        _resting.pop().reopen_after_fork()
    _forking.release()


def _after_fork_in_child() -> None:
    for file in list(_files):
        if file not in _resting:
            file.abandon_in_child()
    _after_fork_in_parent()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)
