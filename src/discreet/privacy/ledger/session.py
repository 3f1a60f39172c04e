"""The accounts of a ledger, brought up to date before every use, and the transactions that extend it."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from discreet.errors import DiscreetError, LedgerBusy, LedgerError
from discreet.privacy.ledger.accounts import Accounts
from discreet.privacy.ledger.budget import Limit
from discreet.privacy.ledger.entry import ENDINGS, Link, link, now
from discreet.privacy.ledger.head import Head, HeadFile, known_heads
from discreet.privacy.ledger.history import (
    catch_up,
    gives_back,
    keep_checkpoint,
    load,
    require_head,
    seen_in,
)
from discreet.privacy.ledger.store import HistoryWriter, Store

PAUSE = 256
"""Entries between two looks at whether a checkpoint is due."""


class LedgerTransaction:
    """What may be read and appended until the transaction commits.

    `accounts` holds everything committed before, by whatever process; what is appended here enters it
    only once it is durable.
    """

    def __init__(self, writer: HistoryWriter, accounts: Accounts) -> None:
        self.writer = writer
        self.accounts = accounts
        self.added: list[Link] = []

    @property
    def next_position(self) -> int:
        """Return where the next link will stand."""
        return (self.added[-1] if self.added else self.accounts).position + 1

    def append(self, kind: str, data: dict[str, Any]) -> Link:
        """Return the new link; it counts once the session ends without an exception."""
        last = self.added[-1] if self.added else self.accounts
        item = link(last.position + 1, kind, {"time": now()} | data, previous=last.hash)
        self.writer.append(item)
        self.added.append(item)
        return item


class CachedAccounts:
    """What the history in a store adds up to, for all threads of a process and its forks.

    Guarantee: whoever reads it has seen everything that was committed before, by whatever process;
    whoever extends it does so alone, and has what was appended on the disk, and in the head outside,
    before anything depends on it (note 0011).
    """

    def __init__(self, store: Store, limits: Collection[Limit]) -> None:
        self.limits = limits
        self.accounts = load(store, limits)
        self._store = store
        self._head = HeadFile(store.head_path)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._next_checkpoint = 0

    @contextmanager
    def session(self) -> Iterator[LedgerTransaction]:
        """Return one exclusive transaction; what it appends is entered once it is durable."""
        with self.guarded(), self._whole():
            try:
                with self._store.exclusive() as writer:
                    self.accounts = catch_up(self._store, writer, self.accounts, self.limits)
                    require_head(self._store, self.accounts)
                    session = LedgerTransaction(writer, self.accounts)
                    yield session
                    if self.accounts.position >= 0 and any(map(gives_back, session.added)):
                        self.announce(session.added[-1].hash)
            except BaseException:
                self.accounts.forget_tried()
                raise
            for item in session.added:
                self.accounts.apply(item)
            if session.added:
                known_heads.remember(self._store.head_path, seen_in(self.accounts))
            if any(item.kind not in ENDINGS for item in session.added):
                self.advance()
            if self.accounts.position >= self._next_checkpoint:
                self.keep_checkpoint()
                self._next_checkpoint = self.accounts.position + PAUSE

    @contextmanager
    def current(self) -> Iterator[Accounts]:
        """Lend the accounts as of now; nobody else of this process changes it meanwhile."""
        with self.guarded(), self._whole():
            self.accounts = catch_up(self._store, self._store, self.accounts, self.limits)
            yield self.accounts

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Throw the accounts away if anything but a plain refusal ends this: they may be half-way.

        An interrupt or a lack of memory comes between any two lines, also while a charge is entered.
        What the history says is read anew at the next use.
        """
        try:
            yield
        except BaseException as error:
            refused = isinstance(error, DiscreetError) and not isinstance(error, LedgerError)
            if not refused and not isinstance(error, LedgerBusy):
                self.accounts = Accounts(genesis=self.accounts.genesis)
            raise

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Keep the other threads of this process out."""
        if self._pid != os.getpid():
            # Another thread of the parent may have held the lock at the fork.
            self._lock, self._pid = threading.RLock(), os.getpid()
        with self._lock:
            yield

    def links(self, *, start: int) -> list[Link]:
        """Return the history from `start` on; what a checkpoint covers is checked against it."""
        with self.current() as accounts:
            if accounts.past is not None and start <= accounts.past.position:
                return accounts.past.links(start=start)
            return list(self._store.links(start=start))

    def advance(self) -> None:
        """Let the head outside know how far the history goes."""
        self._head.advance(self._as_head())

    def announce(self, announced: str) -> None:
        """Let the head outside know of the link with this hash before it is committed."""
        self._head.announce(self._as_head(announced))

    def _as_head(self, announced: str = "") -> Head:
        accounts = self.accounts
        return Head(
            accounts.genesis, accounts.position, accounts.hash, accounts.totals(), announced
        )

    def keep_checkpoint(self) -> None:
        """Make a checkpoint where one is due."""
        self.accounts = keep_checkpoint(self._store, self.accounts, self.limits)

    def close(self) -> None:
        """Let go of the store and of all files; a later call opens and reads them again."""
        with self.guarded():
            self._store.close()
            if self.accounts.past is not None:
                self.accounts.past.close()
                self.accounts = Accounts(genesis=self.accounts.genesis)
