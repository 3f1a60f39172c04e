"""What every store says to its tables in SQL: the same statements over entries and answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import astuple, fields
from typing import Any

from discreet.ledger.chain.links import Link
from discreet.ledger.store.base import StoredAnswer

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
