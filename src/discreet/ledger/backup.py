"""Copies of a ledger, and the way back: what was spent since the copy stays spent."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core.cost import Cost
from discreet.errors import InvalidInput, LedgerTampered, NotALedger
from discreet.ledger.book import Account, Book, Key
from discreet.ledger.entry import checked_text, now
from discreet.ledger.head import Head, HeadFile
from discreet.ledger.history import ROOT, Link, checked, link
from discreet.ledger.loading import open_store, sqlite_path
from discreet.ledger.store import Store, StoredAnswer
from discreet.ledger.store_sqlite import SqliteStore


def write_copy(path: Path, links: Iterable[Link], answers: Iterable[StoredAnswer]) -> None:
    """Write a whole ledger into the new file `path`, synced before this returns."""
    if path.exists():
        raise InvalidInput(f"'{path.name}' exists already; a backup never overwrites a file.")
    copy = SqliteStore(path)
    try:
        with copy.exclusive() as writer:
            for item in links:
                writer.append(item)
            for answer in answers:
                writer.add_answer(answer)
    finally:
        copy.close()
        HeadFile(copy.head_path).remove_lock()


def bring_back(url: str, path: Path, *, base: Path, reason: str, who: str) -> None:
    """Replace the history at `url` by the backup at `path`.

    Guarantee: let T be what the worst-hit person had paid according to the head outside the store.
    If the backup does not end with that head, everyone counts as having paid T from now on: whoever
    paid less pays more than the truth, nobody less. T covers every earlier restore, too. If there
    is no head, how much is lost is unknown, and every budget counts as fully spent (the owner may
    raise its limit, which is recorded). The owner's reason is part of the history.
    """
    if not reason.strip():
        raise InvalidInput("A restore needs the owner's reason.", hint="Give it with --reason.")
    checked_text(reason, name="reason")
    book, links, answers = _read(path)
    store = _reachable(url, base=base)
    file = HeadFile(store.head_path)
    with ExitStack() as stack:
        with store.exclusive() as writer:
            stack.enter_context(file.locked())
            head, damaged = _head(file)
            if head is not None and head.ledger != book.genesis:
                raise InvalidInput(
                    f"'{path.name}' is a backup of another ledger; nothing was changed."
                )
            data = {"time": now(), "reason": reason, "who": who, "head_damaged": damaged}
            lost = _lost(book, links, head)
            data |= {"lost": lost, "totals": _totals(book, head) if lost else []}
            last = link(book.position + 1, "restore", data, previous=book.hash)
            writer.erase()
            for item in (*links, last):
                writer.append(item)
            for answer in answers:
                writer.add_answer(answer)
        book.apply(last)
        file.write(Head(book.genesis, book.position, book.hash, book.totals()))
    store.close()


def _read(path: Path) -> tuple[Book, list[Link], list[StoredAnswer]]:
    if not path.is_file():
        raise InvalidInput(f"There is no backup '{path.name}'.")
    copy = SqliteStore(path)
    try:
        links = list(checked(copy.links(start=0), position=0, previous=ROOT))
        answers = list(copy.every_answer())
    finally:
        copy.close()
        HeadFile(copy.head_path).remove_lock()
    book = Book()
    for item in links:
        book.apply(item)
    if not links:
        raise NotALedger(f"The backup '{path.name}' is empty.")
    return book, links, answers


def _reachable(url: str, *, base: Path) -> Store:
    """Return the store even if its file is missing or beyond use; that one is put aside."""
    path = sqlite_path(url.partition(":")[2], base=base)
    if not url.startswith("sqlite:"):
        return open_store(url, base=base)
    try:
        return SqliteStore(path)
    except (LedgerTampered, NotALedger):
        aside = f"{path.name}.replaced-{time.strftime('%Y%m%d-%H%M%S')}"
        for ending in ("", "-wal", "-shm"):
            part = path.with_name(path.name + ending)
            if part.exists():
                part.rename(path.with_name(aside + ending))
        return SqliteStore(path)


def _head(file: HeadFile) -> tuple[Head | None, bool]:
    try:
        return file.read(), False
    except LedgerTampered:
        return None, True


def _lost(book: Book, links: list[Link], head: Head | None) -> int:
    """Return how many entries are lost, -1 if that is unknown, 0 if none is."""
    if head is None:
        return -1
    if head.position > book.position:
        return head.position - book.position
    return 0 if links[head.position].hash == head.hash else -1


def _totals(book: Book, head: Head | None) -> list[list[Any]]:
    """Return what everyone counts as having paid, for every account."""
    known: Mapping[Key, Cost] = head.totals if head else {}
    own = book.totals()
    found: list[list[Any]] = []
    for key in sorted({*known, *own, *_limited(book)}, key=lambda key: (key[0], key[1] or "")):
        costs = [totals[key] for totals in (known, own) if key in totals]
        if head is None:
            costs.append(_everything(book.accounts[key]))
        if costs:
            found.append([*key, _larger(costs).to_json()])
    return found


def _limited(book: Book) -> set[Key]:
    return {key for key, account in book.accounts.items() if account.limit is not None}


def _everything(account: Account) -> Cost:
    if account.limit is None:
        return account.top
    limit = account.limits
    return Cost(limit.epsilon, limit.delta, None, limit.rho_delta)


def _larger(costs: list[Cost]) -> Cost:
    return Cost(
        epsilon=_most([cost.epsilon for cost in costs]),
        delta=max(cost.delta for cost in costs),
        rho=_most([cost.rho for cost in costs]),
        rho_delta=max(cost.rho_delta for cost in costs),
    )


def _most(parts: list[Fraction | None]) -> Fraction | None:
    known = [part for part in parts if part is not None]
    return max(known) if len(known) == len(parts) else None
