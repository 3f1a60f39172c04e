"""Stores of the history: the one protocol of all of them, and the SQL statements over entries and answers that they share."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from discreet.base.proof import canonical
from discreet.errors import LedgerBusy, LedgerTampered, NotALedger
from discreet.privacy.ledger.entry import Link

VERSION = 2
"""The version of the tables, since 0.1.0."""

TABLES = (
    """CREATE TABLE {p}entries (
        position BIGINT PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL,
        previous TEXT NOT NULL, hash TEXT NOT NULL)""",
    """CREATE TABLE {p}answers (
        request_id TEXT PRIMARY KEY, position BIGINT NOT NULL, analyst TEXT NOT NULL,
        dataset TEXT NOT NULL, question TEXT NOT NULL, payload {blob} NOT NULL,
        digest TEXT NOT NULL, snapshot TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX {p}answers_by_dataset ON {p}answers (dataset, analyst, snapshot)",
)
"""The tables of VERSION; {p} is a prefix, {blob} the type of bytes."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer that was paid for; `seal` ties its bytes to the charge. '' is the local owner.

    `request_id` is the `answer_key` of the request: unique, whoever chose the id.
    """

    request_id: str
    position: int
    analyst: str
    dataset: str
    question: str
    payload: bytes
    digest: str
    snapshot: str

    @property
    def asked_as(self) -> str:
        """Return the request id as its analyst wrote it."""
        return self.request_id.rpartition("\n")[2]

    def checked(self) -> StoredAnswer:
        """Return this answer if it is the one that its own digest was made for."""
        # A damaged record may come back with another type than was stored.
        if not isinstance(self.payload, bytes):
            raise damaged_answer(self)
        if self.digest != seal(self) and self.digest != old_seal(self):
            raise damaged_answer(self)
        return self


def seal(answer: StoredAnswer) -> str:
    """Return the hash of everything that an answer is stored with; it is entered in the chain."""
    facts = {
        "request_id": answer.request_id,
        "position": answer.position,
        "analyst": answer.analyst,
        "dataset": answer.dataset,
        "question": answer.question,
        "snapshot": answer.snapshot,
    }
    return hashlib.sha256(f"{canonical(facts)}\n".encode() + answer.payload).hexdigest()


def old_seal(answer: StoredAnswer) -> str:
    """Return the hash that 0.1.0 stored: of the bytes and the charge, in no chain."""
    return hashlib.sha256(
        f"{answer.request_id}\n{answer.position}\n".encode() + answer.payload
    ).hexdigest()


def damaged_answer(answer: StoredAnswer) -> LedgerTampered:
    """Return the refusal of an answer that is not what was stored."""
    return LedgerTampered(
        f"The stored answer of request '{answer.asked_as}' is damaged.",
        hint="Restore a backup: discreet ledger restore PATH --reason TEXT.",
    )


class ChainLinks(Protocol):
    """Anything that links can be read from: a store, or the inside of a transaction."""

    def links(self, *, start: int, stop: int | None = None) -> Iterator[Link]:
        """Yield the stored links from position `start` on, in order, those before `stop`.

        Of a store: at least those there are now.
        """
        ...

    def find(self, position: int) -> Link | None:
        """Return the link at `position`."""
        ...


class HistoryWriter(ChainLinks, Protocol):
    """The inside of one exclusive transaction."""

    def append(self, link: Link) -> None:
        """Add one link; a position that is taken is an error."""
        ...

    def add_answer(self, answer: StoredAnswer) -> bool:
        """Keep `answer` unless one with its request id is kept already; return whether it is."""
        ...

    def erase(self) -> None:
        """Remove every link and answer; only a restore does this."""
        ...


class Store(ChainLinks, Protocol):
    """Durable memory for one ledger, shared by any number of processes.

    Guarantee: of all processes, at most one is inside `exclusive` at a time, and it sees everything
    that was committed before. When `exclusive` ends without an exception, what was appended is
    durable: it survives kill -9 and loss of power. When it ends with one, nothing of it is kept,
    or, if the commit itself failed, it may be kept: in either case the caller must answer nothing.
    """

    @property
    def name(self) -> str:
        """Return what to call this store in a message, without any password."""
        ...

    @property
    def head_path(self) -> Path:
        """Return where the head of the chain is kept, outside the store."""
        ...

    def exclusive(self) -> AbstractContextManager[HistoryWriter]:
        """Return a transaction that ends with a durable commit."""
        ...

    def answer(self, request_id: str) -> StoredAnswer | None:
        """Return the stored answer of a request."""
        ...

    def answers(
        self, *, dataset: str, analyst: str, snapshot: str, last: int
    ) -> list[StoredAnswer]:
        """Return the `last` answers that one analyst got about one snapshot, oldest first."""
        ...

    def latest_answer(
        self, *, dataset: str, analyst: str, snapshot: str, question: str
    ) -> StoredAnswer | None:
        """Return the latest answer that one analyst got to this very question."""
        ...

    def claim(self, position: int) -> bool:
        """Return whether nobody who lives works on the charge at `position`; now the caller does.

        Guarantee: at most one thread of all processes holds a claim, and none that has ended.
        """
        ...

    def let_go(self, position: int) -> None:
        """End a claim; without one, nothing happens."""
        ...

    def every_answer(self) -> Iterator[StoredAnswer]:
        """Yield all answers, oldest first."""
        ...

    def examine(self) -> None:
        """Raise LedgerTampered if the store itself finds damage in its files."""
        ...

    def close(self) -> None:
        """Let go of the store; a later call opens it again."""
        ...


def require_version(version: int, *, name: str) -> None:
    """Refuse tables of another version."""
    if version > VERSION:
        raise NotALedger(
            f"{name} was written by a newer Discreet (tables version {version}, this one knows "
            f"{VERSION}).",
            hint="Install that version or a later one.",
        )
    if version != VERSION:
        raise NotALedger(f"{name} has tables of an unknown version, {version}.")


def held_too_long(name: str) -> LedgerBusy:
    """Return the refusal to wait any longer for another process."""
    return LedgerBusy(
        f"Another process held the ledger {name} for too long, so nothing was entered in it now.",
        hint="Try again in a moment. The history says what was charged before.",
    )


def lacks_tables(name: str) -> NotALedger:
    """Return the refusal of a ledger without the tables or columns of one."""
    return NotALedger(f"The ledger {name} lacks a table or a column; it is damaged or foreign.")


def not_a_ledger(name: str) -> NotALedger:
    """Return the refusal of something that exists but is no ledger."""
    return NotALedger(
        f"{name} is not a ledger of Discreet; it was left untouched.",
        hint="Name another file under [ledger] url in discreet.toml.",
    )


PAGE = 1000  # links read at a time
LAST = 2**63 - 1  # no position is beyond it

_LINK = ", ".join(field.name for field in fields(Link))
ANSWER = ", ".join(field.name for field in fields(StoredAnswer))
"""The columns of the table of answers."""


class SqlTables(ABC):
    """The tables of a history, whose names begin with `prefix`; ? stands for a value in a statement."""

    prefix = ""

    @abstractmethod
    def _select(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows of a statement."""

    @abstractmethod
    def _change(self, statement: str, *values: Any) -> int:
        """Return how many rows the statement changed, inside the transaction of `exclusive`."""

    def links(self, *, start: int, stop: int | None = None) -> Iterator[Link]:
        """Yield the stored links from position `start` on, before `stop`."""
        end = LAST if stop is None else stop
        # Page by page: the client holds all rows of a statement at once, no turn is held while the
        # caller thinks, and appending moves no page.
        page = f"WHERE position >= ? AND position < ? ORDER BY position LIMIT {PAGE}"
        while True:
            found = self._links(page, start, end)
            yield from found
            if len(found) < PAGE:
                return
            start = found[-1].position + 1

    def find(self, position: int) -> Link | None:
        """Return the link at `position`."""
        return next(iter(self._links("WHERE position = ?", position)), None)

    def _links(self, which: str, *values: Any) -> list[Link]:
        rows = self._select(f"SELECT {_LINK} FROM {self.prefix}entries {which}", *values)
        return [Link(*row) for row in rows]

    def append(self, link: Link) -> None:
        """Add one link."""
        self._change(
            f"INSERT INTO {self.prefix}entries ({_LINK}) VALUES (?, ?, ?, ?, ?)", *astuple(link)
        )

    def add_answer(self, answer: StoredAnswer) -> bool:
        """Keep `answer` unless one with its request id is kept already; return whether it is."""
        statement = (
            f"INSERT INTO {self.prefix}answers ({ANSWER}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING"
        )
        return self._change(statement, *astuple(answer)) == 1

    def erase(self) -> None:
        """Remove every link and answer."""
        self._change(f"DELETE FROM {self.prefix}entries")
        self._change(f"DELETE FROM {self.prefix}answers")

    def answer(self, request_id: str) -> StoredAnswer | None:
        """Return the stored answer of a request."""
        return next(iter(self._answers("WHERE request_id = ?", request_id)), None)

    def answers(
        self, *, dataset: str, analyst: str, snapshot: str, last: int
    ) -> list[StoredAnswer]:
        """Return the `last` answers that one analyst got about one snapshot, oldest first."""
        where = "WHERE dataset = ? AND analyst = ? AND snapshot = ?"
        latest = f"{where} ORDER BY position DESC LIMIT ?"
        return self._answers(latest, dataset, analyst, snapshot, last)[::-1]

    def latest_answer(
        self, *, dataset: str, analyst: str, snapshot: str, question: str
    ) -> StoredAnswer | None:
        """Return the latest answer that one analyst got to this very question."""
        where = "WHERE dataset = ? AND analyst = ? AND snapshot = ? AND question = ?"
        latest = f"{where} ORDER BY position DESC LIMIT 1"
        return next(iter(self._answers(latest, dataset, analyst, snapshot, question)), None)

    def _answers(self, which: str, *values: Any) -> list[StoredAnswer]:
        rows = self._select(f"SELECT {ANSWER} FROM {self.prefix}answers {which}", *values)
        return [StoredAnswer(*row).checked() for row in rows]
