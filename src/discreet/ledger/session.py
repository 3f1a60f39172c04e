"""One exclusive transaction on the ledger, with the book as it stands inside it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from discreet.ledger.accounts import Accounts
from discreet.ledger.chain.links import Link, link
from discreet.ledger.entry import now
from discreet.ledger.store.base import HistoryWriter


class LedgerTransaction:
    """What may be read and appended until the transaction commits.

    `book` holds everything committed before, by whatever process; what is appended here enters it
    only once it is durable.
    """

    def __init__(self, writer: HistoryWriter, book: Accounts) -> None:
        self.writer = writer
        self.book = book
        self.added: list[Link] = []

    @property
    def next_position(self) -> int:
        """Return where the next link will stand."""
        return (self.added[-1] if self.added else self.book).position + 1

    def find(self, position: int) -> Link | None:
        """Return the link at `position` as it was committed."""
        return next(self.writer.links(start=position, stop=position + 1), None)

    def append(self, kind: str, data: dict[str, Any]) -> Link:
        """Return the new link; it counts once the session ends without an exception."""
        last = self.added[-1] if self.added else self.book
        item = link(last.position + 1, kind, {"time": now()} | data, previous=last.hash)
        self.writer.append(item)
        self.added.append(item)
        return item


class LedgerTransactions(Protocol):
    """Whatever can open a session: the ledger."""

    def session(self) -> AbstractContextManager[LedgerTransaction]:
        """Return one exclusive transaction."""
        ...
