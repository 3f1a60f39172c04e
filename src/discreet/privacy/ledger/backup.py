"""Copies of a ledger, and the way back: what was spent since the copy stays spent."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.base.event import Cost, larger
from discreet.base.numbers import Delta, Epsilon
from discreet.base.proof import ROOT
from discreet.errors import InvalidInput, LedgerTampered, NotALedger
from discreet.privacy.ledger.accounts import AccountKey, Accounts
from discreet.privacy.ledger.budget import Policy, limits_of
from discreet.privacy.ledger.entry import Link, checked, checked_text, link, now
from discreet.privacy.ledger.head import Head, HeadFile, KnownHead, known_heads
from discreet.privacy.ledger.history import require_announced, seen_in, sqlite_path
from discreet.privacy.ledger.postgres import PostgresStore
from discreet.privacy.ledger.sqlite import SqliteStore
from discreet.privacy.ledger.sqlite_file import alone, require_unused
from discreet.privacy.ledger.store import HistoryWriter, Store, StoredAnswer


def write_copy(path: Path, links: Iterable[Link], answers: Iterable[StoredAnswer]) -> None:
    """Write a whole ledger into the new file `path`, synced before this returns."""
    if path.exists():
        raise InvalidInput(f"'{path.name}' exists already; a backup never overwrites a file.")
    copy = SqliteStore(path, shared=False)
    try:
        with copy.exclusive() as writer:
            for item in links:
                writer.append(item)
            for answer in answers:
                writer.add_answer(answer)
    finally:
        copy.close()
        HeadFile(copy.head_path).remove_lock()


def bring_back(url: str, path: Path, *, policy: Policy, base: Path, reason: str, who: str) -> None:
    """Replace the history at `url` by the backup at `path`, while nobody uses that ledger.

    Guarantee: let T be what the worst-hit person had paid according to the head outside the store,
    and to the store as far as it goes on from that head. If the backup does not end there, everyone
    counts as having paid T from now on: whoever paid less pays more than the truth, nobody less. T
    covers every earlier restore, too, and what this process has seen before. If there is no head, how much is lost is unknown, and every
    budget and every share counts as spent up to the highest limit that the backup, the ledger at
    hand or `policy` knows (the owner may raise it, which is recorded). A backup that goes on beyond
    the head is believed upwards only, as the store itself is. Raises LedgerBusy while any other
    process, or this one, is connected. The owner's reason is part of the history.
    """
    if not reason.strip():
        raise InvalidInput("A restore needs the owner's reason.", hint="Give it with --reason.")
    checked_text(reason, name="reason")
    _require_a_copy(url, path, base=base)
    accounts, links, answers = _read(path)
    with _alone(url, base=base) as store, ExitStack() as stack:
        file = HeadFile(store.head_path)
        with store.exclusive() as writer:
            stack.enter_context(file.locked())
            known = _known(file, writer, known_heads.at(file.path))
            if not known.ledgers <= {accounts.genesis}:
                raise InvalidInput(
                    f"'{path.name}' is a backup of another ledger; nothing was changed."
                )
            _believed_upwards(links, known, policy)
            data = {"time": now(), "reason": reason, "who": who, "head_damaged": known.damaged}
            lost = _lost(accounts, links, known)
            totals = _totals(accounts, known, policy) if lost else []
            data |= {"lost": lost, "totals": totals}
            last = link(accounts.position + 1, "restore", data, previous=accounts.hash)
            writer.erase()
            for item in (*links, last):
                writer.append(item)
            for answer in answers:
                writer.add_answer(answer)
        accounts.apply(last)
        if known.outside:
            accounts.keep_at_least(known.outside.totals)
        known_heads.put_back(file.path, seen_in(accounts))
        file.write(Head(accounts.genesis, accounts.position, accounts.hash, accounts.totals()))


def _require_a_copy(url: str, path: Path, *, base: Path) -> None:
    if url.startswith("sqlite:"):
        own = sqlite_path(url.partition(":")[2], base=base)
        if own.exists() and path.exists() and own.samefile(path):
            raise InvalidInput(f"'{path.name}' is the ledger itself, not a backup of it.")


@contextmanager
def _alone(url: str, *, base: Path) -> Iterator[Store]:
    """Lend the store while nobody else is connected; a file beyond use is put aside."""
    if not url.startswith("sqlite:"):
        store: Store = PostgresStore(url, folder=base, alone=True)
        with closing(store):
            yield store
        return
    path = sqlite_path(url.partition(":")[2], base=base)
    with alone(path):
        require_unused(path)  # whoever is connected, although the lock of `alone` was deleted
        with closing(_reachable(path)) as store:
            yield store


def _read(path: Path) -> tuple[Accounts, list[Link], list[StoredAnswer]]:
    if not path.is_file():
        raise InvalidInput(f"There is no backup '{path.name}'.")
    if not path.stat().st_size:
        raise NotALedger(f"The backup '{path.name}' is empty.")
    copy = SqliteStore(path, shared=False)
    with closing(copy):
        links = list(checked(copy.links(start=0), position=0, previous=ROOT))
        answers = list(copy.every_answer())
    if not links:
        raise NotALedger(f"The backup '{path.name}' is empty.")
    return _accounts(links).require_whole(), links, answers


def _accounts(links: Iterable[Link]) -> Accounts:
    accounts = Accounts()
    for item in links:
        accounts.apply(item)
    return accounts


def _reachable(path: Path) -> Store:
    """Return the store even if its file is missing or beyond use; that one is put aside."""
    try:
        return SqliteStore(path, shared=False)
    except (LedgerTampered, NotALedger):
        aside = f"{path.name}.replaced-{time.strftime('%Y%m%d-%H%M%S')}"
        for ending in ("", "-wal", "-shm"):
            part = path.with_name(path.name + ending)
            if part.exists():
                part.rename(path.with_name(aside + ending))
        return SqliteStore(path, shared=False)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the ledger at hand: its head, if any, and its accounts as far as they go.

    `outside` is the head as its file says it, `head` the same as far as the store goes on from there.
    `seen` is what this process has seen of it before.
    """

    outside: Head | None
    head: Head | None
    damaged: bool
    at_hand: Accounts
    seen: KnownHead | None

    @property
    def ledgers(self) -> set[str]:
        """Return which ledgers were here: one, or none if that cannot be told."""
        found = {each.ledger for each in (self.seen, self.head) if each}
        if not self.head and self.at_hand.position >= 0:
            found.add(self.at_hand.genesis)
        return found


def _known(file: HeadFile, writer: HistoryWriter, seen: KnownHead | None) -> _Known:
    outside, damaged = _head(file)
    head = outside
    try:
        links = list(checked(writer.links(start=0), position=0, previous=ROOT))
        accounts = _accounts(links)
    except LedgerTampered:
        links, accounts = [], Accounts()
    if head and head.position < len(links) and links[head.position].hash == head.hash:
        # A kill between commit and head: the store has more than the head has heard of.
        # What lies beyond may be forged, so it is believed upwards only.
        accounts.keep_at_least(head.totals)
        head = Head(accounts.genesis, accounts.position, accounts.hash, accounts.totals())
    return _Known(outside, head, damaged, accounts, seen)


def _head(file: HeadFile) -> tuple[Head | None, bool]:
    try:
        return file.read(), False
    except LedgerTampered:
        return None, True


def _believed_upwards(links: list[Link], known: _Known, policy: Policy) -> None:
    """Refuse a backup that gives back, beyond the head, what nobody announced: it may be forged."""
    head = known.outside
    if head is None or len(links) <= head.position or links[head.position].hash != head.hash:
        return
    try:
        require_announced(links[head.position + 1 :], head, list(policy.limits()))
    except LedgerTampered as error:
        raise LedgerTampered(
            f"The backup cannot be believed; nothing was changed. {error.message}",
            hint="Take an older backup. If another machine wrote this one, copy its head file first.",
        ) from None


def _lost(accounts: Accounts, links: list[Link], known: _Known) -> int:
    """Return how many entries are lost, -1 if that is unknown, 0 if none is."""
    if known.head is None:
        return -1
    ends = [(each.position, each.hash) for each in (known.head, known.seen) if each is not None]
    furthest = max(position for position, _ in ends)
    if furthest > accounts.position:
        return furthest - accounts.position
    return 0 if all(links[position].hash == each for position, each in ends) else -1


def _totals(backup: Accounts, known: _Known, policy: Policy) -> list[list[Any]]:
    """Return what everyone counts as having paid, for every account."""
    totals: list[Mapping[AccountKey, Cost]] = [backup.totals(), known.at_hand.totals()]
    if known.seen is not None:
        totals.append(known.seen.totals())
    if known.head is not None:
        totals.append(known.head.totals)
    else:
        totals += [_everything(backup), _everything(known.at_hand), _limits(policy)]
    return [
        [*key, larger([each[key] for each in totals if key in each]).to_json()]
        for key in sorted(set().union(*totals), key=lambda key: (key[0], key[1] or ""))
    ]


def _everything(accounts: Accounts) -> dict[AccountKey, Cost]:
    highest = {key: account.highest for key, account in accounts.by_key.items()}
    return {key: _whole(*most) for key, most in highest.items() if most is not None}


def _limits(policy: Policy) -> dict[AccountKey, Cost]:
    return {
        (limit.budget, limit.analyst): _whole(limit.epsilon, limit.delta)
        for limit in policy.limits()
    }


def _whole(epsilon: Epsilon, delta: Delta) -> Cost:
    limits = limits_of(epsilon, delta)
    return Cost(limits.epsilon, limits.delta, None, limits.rho_delta)
