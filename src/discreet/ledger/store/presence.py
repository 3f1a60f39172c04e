"""Who uses a ledger's file: everyone holds one shared lock, so that a restore can be alone."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import LedgerBusy, LedgerWriteFailed

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
