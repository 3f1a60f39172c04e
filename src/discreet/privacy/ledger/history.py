"""The history of a ledger: its store found, checked from end to end, and compared with the head outside.

Whoever can write the store can append links with right hashes. The head outside lags after a crash, so
a link beyond it may be an honest one or a forged one. A forged charge costs budget; a forged limit
or restore would give some back, so the head announces such a link before it is committed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from discreet.base.event import Cost
from discreet.errors import CatalogError, InvalidInput, LedgerTampered
from discreet.privacy.ledger.accounts import AccountKey, Accounts
from discreet.privacy.ledger.budget import Limit, Policy
from discreet.privacy.ledger.checkpoint import due, make, opened, overtaken, require_same
from discreet.privacy.ledger.entry import Entry, Link, checked
from discreet.privacy.ledger.head import Head, HeadFile, KnownHead, known_heads
from discreet.privacy.ledger.postgres import PostgresStore
from discreet.privacy.ledger.sqlite import SqliteStore
from discreet.privacy.ledger.store import ChainLinks, Store

GUARDED = frozenset({"limit", "restore", "clear"})
"""The kinds of links that may leave more to spend, or to ask, than there was."""


def gives_back(item: Link) -> bool:
    """Return whether this link may leave more to spend, or to ask, than there was before it."""
    if item.kind not in GUARDED:
        return False
    return item.kind != "restore" or bool(Entry.of(item).data.get("totals", "unknown"))


def require_announced(
    later: Sequence[Link], head: Head, limits: Collection[Limit] | None = None
) -> None:
    """Raise LedgerTampered if a link beyond the head gives back what nobody announced.

    Links up to the one that the head announces are believed; so is a limit that the owner's own
    catalog, `limits`, puts in force (another machine with its own head may have entered it).

    Guarantee: whoever can write the store but not the head can add bills, and take none away.
    """
    hashes = [item.hash for item in later]
    start = hashes.index(head.announced) + 1 if head.announced in hashes else 0
    for item in later[start:]:
        if gives_back(item) and not _declared(item, limits):
            raise LedgerTampered(
                f"Entry {item.position} of the ledger, a '{item.kind}', lies beyond what its head "
                "file knows, and nobody announced it.",
                hint="Did another machine write it? Then copy its discreet.toml and head file. If "
                "not: discreet ledger restore PATH --reason TEXT.",
            )


def _declared(item: Link, limits: Collection[Limit] | None) -> bool:
    if item.kind != "limit" or limits is None:
        return False
    data = Entry.of(item).data
    budget, analyst, new = data["budget"], data["analyst"], data["new"]
    if new is None:
        return all((limit.budget, limit.analyst) != (budget, analyst) for limit in limits)
    return Limit.from_json(budget, analyst, new) in limits


_SETUP = frozenset({"genesis", "limit"})


def open_store(url: str, *, base: Path) -> Store:
    """Return the store that `url` names, to be shared; a relative file lies under `base`."""
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite" and rest.strip("/"):
        path = sqlite_path(rest, base=base)
        if not path.exists() and path.with_name(path.name + ".head").exists():
            raise LedgerTampered(
                f"The ledger '{path.name}' is missing, but its head file says that it existed.",
                hint="Put it back, or: discreet ledger restore PATH --reason TEXT.",
            )
        return SqliteStore(path)
    if scheme in ("postgresql", "postgres"):
        return PostgresStore(url, folder=base)
    raise InvalidInput(
        f"The ledger's address '{scheme}:...' is not one that we know.",
        hint='Write "sqlite:ledger.db" or "postgresql://...".',
    )


def sqlite_path(rest: str, *, base: Path) -> Path:
    """Return the file that "sqlite:REST" names; both sqlite:/x and sqlite:///x are absolute.

    A link to a file is followed: the ledger lies where the file does, with all that belongs to it.
    Where such files lie beside the link, the ledger was moved away without them: that is refused.
    """
    path = base / ("/" + rest.lstrip("/") if rest.startswith("/") else rest)
    try:
        end = path.resolve()
    except RuntimeError:
        raise InvalidInput(f"The ledger '{path.name}' is a link that leads to itself.") from None
    place = path
    while place.is_symlink():
        if any(place.with_name(place.name + ending).exists() for ending in (".head", "-wal")):
            raise LedgerTampered(
                f"The ledger '{place.name}' was moved away, without its log and its head file, and a "
                "link put in its place.",
                hint="Put the file back where the link is.",
            )
        place = place.parent / place.readlink()
    return end


def load(store: Store, limits: Collection[Limit] | None = None, *, whole: bool = False) -> Accounts:
    """Return the accounts of the history, or refuse it with one sentence.

    `whole`: every link is read, and the checkpoint, if there is one, compared with what it should
    say. Without it reading begins after the checkpoint that the head names, if that is sound.

    Guarantee: every link that is read is as it was written, and the history holds everything from
    the checkpoint, or else from its beginning, up to the head outside the store; so an old copy, a
    cut or an edited one is refused. What a checkpoint covers is checked when it is used (`Past`).
    What lies beyond the head gives nothing back, unless it was announced or is among the catalog's
    own `limits`. It holds what this process has seen before, or a restore that covers it (`KnownHeads`).
    """
    try:
        return _recognised(store, _load(store, limits, whole))
    except LedgerTampered:
        # Between the two reads another process may have been restoring, which it does under this
        # lock: look again, this time with nobody in between.
        with HeadFile(store.head_path).locked():
            return _recognised(store, _load(store, limits, whole))


def _load(store: Store, limits: Collection[Limit] | None, whole: bool) -> Accounts:
    head = HeadFile(store.head_path).read()  # before the links: it never leads them
    kept = opened(store, head)
    accounts = Accounts() if kept is None or whole else kept
    charged = accounts.position >= 0
    at_head, later = accounts.hash if head and head.position == accounts.position else None, []
    start = accounts.position + 1
    for item in checked(store.links(start=start), position=start, previous=accounts.hash):
        accounts.apply(item)
        if whole and kept is not None and item.position == kept.position:
            require_same(kept, accounts)
        charged = charged or item.kind not in _SETUP
        if head is not None and item.position == head.position:
            at_head = item.hash
        elif head is not None and item.position > head.position:
            later.append(item)
    accounts.require_whole()
    if head is None:
        # A crash right after the first commit leaves no head; nothing has been charged by then.
        if charged:
            raise _no_head(store)
    elif at_head != head.hash:
        raise _another_history(store, accounts, head)
    else:
        require_announced(later, head, limits)
        accounts.keep_at_least(head.totals)
    return accounts


def seen_in(accounts: Accounts) -> KnownHead | None:
    """Return what is to be remembered of these accounts; None if they have no entries."""
    if accounts.position < 0:
        return None
    return KnownHead(
        accounts.genesis, accounts.position, accounts.hash, accounts.bounds(), accounts.restored
    )


def _recognised(store: Store, accounts: Accounts) -> Accounts:
    """Return these accounts, or refuse a history without what this process has seen of it."""

    def hash_at(position: int) -> str | None:
        link = store.find(position)
        return None if link is None else link.hash

    def restores() -> Iterator[tuple[int, Mapping[AccountKey, Cost]]]:
        past = accounts.past
        for link in store.links(start=0) if past is None else past.links(start=0):
            if link.kind == "restore":
                totals = Entry.of(link).data["totals"]
                yield link.position, {(b, who): Cost.from_json(cost) for b, who, cost in totals}

    found = seen_in(accounts)
    known_heads.require(store.head_path, found, hash_at=hash_at, restores=restores)
    return accounts


def _no_head(store: Store) -> LedgerTampered:
    return LedgerTampered(
        f"The head file '{store.head_path.name}' is missing, so it cannot be told whether "
        "this ledger is complete.",
        hint="Put it back from a copy, or: discreet ledger restore PATH --reason TEXT.",
    )


def _another_history(store: Store, accounts: Accounts, head: Head) -> LedgerTampered:
    older = accounts.position < head.position
    return LedgerTampered(
        f"The ledger {store.name} is an old copy: it ends at entry {accounts.position}, but its "
        f"head is at {head.position}."
        if older
        else f"The ledger {store.name} is not the one that its head file belongs to.",
        hint="Put the right one back, or: discreet ledger restore PATH --reason TEXT.",
    )


def require_head(store: Store, accounts: Accounts) -> None:
    """Refuse to go on where the head outside knows an entry that this history does not hold.

    Called inside the exclusive transaction, before anything is appended: a store that has lost what
    it had committed, or that somebody else writes under another lock, grants nothing more.
    """
    head = HeadFile(store.head_path).read()
    if head is None:
        if any(account.charges for account in accounts.by_key.values()):
            raise _no_head(store)
        return
    if head.position == accounts.position:
        known: str | None = accounts.hash
    else:
        found = store.find(head.position)
        known = None if found is None else found.hash
    if known != head.hash:
        raise _another_history(store, accounts, head)


def catch_up(
    store: Store, source: ChainLinks, accounts: Accounts, limits: Collection[Limit] | None = None
) -> Accounts:
    """Return the accounts with what other processes have appended since the last look."""
    if accounts.position < 0:
        return load(store, limits)
    links = source.links(start=accounts.position)
    known = next(links, None)
    if known is None or known.hash != accounts.hash:
        return load(store, limits)  # restored by another process, or tampered with
    added = list(checked(links, position=accounts.position + 1, previous=accounts.hash))
    if any(map(gives_back, added)):
        return load(store, limits)  # seldom, and the head outside must know of it
    before = accounts.totals() if added else {}
    for item in added:
        accounts.apply(item)
    accounts.keep_at_least(before)
    return _recognised(store, accounts.require_whole())


def keep_checkpoint(
    store: Store, accounts: Accounts, limits: Collection[Limit] | None = None
) -> Accounts:
    """Return the accounts after making a checkpoint where one is due: these, or those read anew.

    Nothing depends on it but the time that the next opening takes, so what fails is passed over.
    """
    if not due(accounts):
        return accounts
    with suppress(Exception):  # the charge before it is durable, and not said to have failed
        require_head(store, accounts)
        if not make(store, accounts) and overtaken(store, accounts):
            return load(store, limits)  # from another process's checkpoint, later than ours
    return accounts


def limit_changes(accounts: Accounts, policy: Policy) -> list[dict[str, Any]]:
    """Return the changes of limits that bring `policy` in force, each as the facts of an entry."""
    wanted = {(limit.budget, limit.analyst): limit for limit in policy.limits()}
    changes: list[dict[str, Any]] = []
    for key in sorted({*wanted, *accounts.by_key}, key=lambda key: (key[0], key[1] or "")):
        account = accounts.by_key.get(key)
        old = account.limit if account else None
        new = wanted.get(key)
        if old == new:
            continue
        before = account.last_limit if account and account.charges else None
        if before and new and before.neighbours != new.neighbours:
            raise CatalogError(
                f"The neighbours of '{key[0]}' cannot change from {before.neighbours.value} to "
                f"{new.neighbours.value}: its charges were priced for the former.",
                hint="Write them back in discreet.toml.",
            )
        changes.append(
            {
                "budget": key[0],
                "analyst": key[1],
                "old": old.to_json() if old else None,
                "new": new.to_json() if new else None,
            }
        )
    return changes
