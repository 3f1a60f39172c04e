"""Checkpoints: what a history added up to at one of its entries, so that opening need not read what came before.

Only the checkpoint that the head outside names is believed. The accounts are kept as JSON where they are small and as
records where they grow with every request. The files lie beside the head. First the new part, then the checkpoint
itself, are written under names that nothing refers to; then they and their names are synced; then one slot of the
head names the checkpoint by its digest. So at every moment the head names a whole one, or none. (note 0071)
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

from discreet.base import files
from discreet.base.numbers import Delta, Epsilon
from discreet.base.proof import canonical
from discreet.errors import LedgerTampered
from discreet.privacy.ledger.accounts import AccountKey, Accounts, Versions
from discreet.privacy.ledger.budget import Account, Limit
from discreet.privacy.ledger.checkpoint_records import (
    CheckpointPart,
    EarlierEntries,
    PartFacts,
    Records,
    analyst_key,
    encoded,
    latest,
    merged,
    number,
    outcome_value,
    request_key,
)
from discreet.privacy.ledger.entry import Incident, Link, digest
from discreet.privacy.ledger.head import Head, HeadFile
from discreet.privacy.ledger.store import Store

VERSION = 4
"""Raised whenever the same history adds up to other accounts, or the accounts to other bytes."""


def facts_of(accounts: Accounts) -> dict[str, Any]:
    """Return everything of `accounts` that is not in `records_of`, in the order that it has there.

    Bills are counted by (region, cost), of which there are far fewer than charges; their texts are
    kept once for all accounts.
    """
    accounts.require_whole()
    texts: dict[str, int] = {}
    told = [_account(key, account, texts) for key, account in accounts.by_key.items()]
    analysts = {*accounts.charged, *(accounts.past.counts if accounts.past else ())}
    return {
        "version": VERSION,
        "ledger": accounts.genesis,
        "position": accounts.position,
        "hash": accounts.hash,
        "restored": accounts.restored,
        "texts": list(texts),
        "accounts": told,
        "counts": [
            [who, accounts.count_charged(who)]
            for who in sorted(analysts, key=lambda who: (who is not None, who))
        ],
        "paid_by": accounts.paid_by,
        "earlier_contents": accounts.earlier_contents,
        "versions": accounts.versions.to_json(),
        "exposed": [[dataset, list(columns)] for dataset, columns in accounts.exposed.items()],
        "incidents": [
            [each.position, each.dataset, each.statement, each.analyst, each.request_id, each.note]
            for each in accounts.incidents.values()
        ],
    }


def records_of(accounts: Accounts) -> dict[str, Records]:
    """Return the records of everything that `accounts` holds since its checkpoint."""
    return {
        "requests": {request_key(*key): number(at) for key, at in accounts.requests.items()},
        "outcomes": {
            number(at): outcome_value(each, accounts.failed.get(at, 0), accounts.sealed.get(at))
            for at, each in accounts.outcomes.items()
        },
        "charged": {
            analyst_key(who) + number(at): b""
            for who, places in accounts.charged.items()
            for at in places
        },
        "milestones": {number(at): bytes.fromhex(mark) for at, mark in accounts.milestones.items()},
    }


def accounts_from(facts: Mapping[str, Any]) -> Accounts:
    """Return the accounts that `facts_of` was told of, without their records."""
    texts = facts["texts"]
    accounts = Accounts(facts["position"], facts["hash"], facts["ledger"])
    accounts.restored = facts["restored"]
    for data in facts["accounts"]:
        key, account = _account_from(data, texts)
        accounts.by_key[key] = account
    accounts.paid_by = dict(facts["paid_by"])
    accounts.earlier_contents = {
        table: dict(seen) for table, seen in facts["earlier_contents"].items()
    }
    accounts.versions = Versions.from_json(facts["versions"])
    accounts.exposed = {dataset: dict.fromkeys(columns) for dataset, columns in facts["exposed"]}
    incidents = [Incident(*data) for data in facts["incidents"]]
    accounts.incidents = {(each.dataset, each.statement): each for each in incidents}
    return accounts


def _account(key: AccountKey, account: Account, texts: dict[str, int]) -> list[Any]:
    def number_of(text: str) -> int:
        return texts.setdefault(text, len(texts))

    highest = account.highest
    bills = account.bills.items()
    return [
        *key,
        account.limit.to_json() if account.limit else None,
        account.last_limit.to_json() if account.last_limit else None,
        [str(highest[0].value), str(highest[1].value)] if highest else None,
        dict(account.bound),
        account.charges,
        [[number_of(region), number_of(cost), times] for (region, cost), times in bills],
    ]


def _account_from(data: list[Any], texts: list[str]) -> tuple[AccountKey, Account]:
    budget, analyst, limit, last_limit, highest, bound, charges, bills = data
    account = Account(
        limit=None if limit is None else Limit.from_json(budget, analyst, limit),
        last_limit=None if last_limit is None else Limit.from_json(budget, analyst, last_limit),
        bound=bound,
        charges=charges,
        bills=Counter({(texts[region], texts[cost]): times for region, cost, times in bills}),
        _highest=None if highest is None else (Epsilon.of(highest[0]), Delta.of(highest[1])),
    )
    return (budget, analyst), account


def require_same(kept: Accounts, replayed: Accounts) -> None:
    """Raise LedgerTampered unless a checkpoint says what the whole history up to it says.

    Bounds are not compared: they are what entries claim, and never below what the head had.
    """
    past = kept.past
    assert past is not None
    same = _comparable(kept) == _comparable(replayed)
    for name, records in records_of(replayed).items():
        pairs = zip_longest(sorted(records.items()), latest(past.parts, name))
        same = same and all(expected == found for expected, found in pairs)
    if not same:
        raise LedgerTampered(
            f"The ledger's checkpoint at entry {kept.position} does not say what its history says.",
            hint="Stop every process that uses it and remove its files, those with 'checkpoint-' in "
            "their names: it is then opened from its whole history.",
        )


def _comparable(accounts: Accounts) -> dict[str, Any]:
    facts = facts_of(accounts)
    for account in facts["accounts"]:
        account[5] = None
    return facts


LEAST = 8192
"""So many entries are worth a checkpoint: reading them takes half a second."""
LARGEST = 1_000_000
"""Records of a part beyond which it is not merged into a larger one."""


def due(accounts: Accounts) -> bool:
    """Return whether enough was entered since the last checkpoint.

    The bills are written anew each time, so where there are many it takes more entries: the work for
    one entry stays the same.
    """
    since = accounts.position - _base(accounts)
    if since < LEAST or accounts.run is not None:
        return False
    return since >= sum(len(account.bills) for account in accounts.by_key.values()) // 4


def _base(accounts: Accounts) -> int:
    return -1 if accounts.past is None else accounts.past.position


def make(store: Store, accounts: Accounts) -> bool:
    """Return whether `accounts` rests on a new checkpoint now; False where another process is faster.

    `accounts` must hold everything up to its position as the store has it, and the caller must have seen
    the store hold it (`require_head`): the head may name it only if it never leads.

    Guarantee: whatever fails, and whenever this process is killed, the head names a checkpoint that is
        whole and follows from the history, or none. Nothing else that the head says becomes less.
    """
    file = HeadFile(store.head_path)
    with _only_one(store.head_path) as mine:
        if not mine:
            return False
        if file.read() is None or overtaken(store, accounts):
            return False
        try:
            return _made(store, accounts, file)
        finally:  # what was half written takes room that charges need
            with suppress(OSError):
                _remove_others(file)


def _made(store: Store, accounts: Accounts, file: HeadFile) -> bool:
    facts, past = _written(store, accounts)
    content = canonical(facts).encode("ascii")
    name = hashlib.sha256(content).hexdigest()
    files.write_synced(_checkpoint_path(store.head_path, name), content)
    files.sync_folder(store.head_path.parent)
    at_hand = Head(accounts.genesis, accounts.position, accounts.hash, accounts.totals())
    if not _stored(store.find(accounts.position), accounts.position, accounts.hash):
        return False  # restored or replaced meanwhile: it will be read again
    done = file.name_checkpoint(at_hand.naming(accounts.position, name))
    if done:
        accounts.rest_on(past)
    return done


def overtaken(store: Store, accounts: Accounts) -> bool:
    """Return whether a later checkpoint than the one under `accounts` is named, and can be used."""
    head = HeadFile(store.head_path).read()
    if head is None or head.checkpoint is None or head.checkpoint[0] <= _base(accounts):
        return False
    return opened(store, head) is not None


def _written(store: Store, accounts: Accounts) -> tuple[dict[str, Any], EarlierEntries]:
    """Return the facts of a new checkpoint, its parts on the disk, and the past that it makes."""
    records: dict[str, Records] = records_of(accounts)
    parts = list(accounts.past.parts) if accounts.past else []
    # A part whose name another process has removed lives on in the new one.
    gone = not all(part.path.exists() for part in parts)
    while parts and (gone or _together(parts[-1], records)):
        records = merged(parts.pop(), records)
    content, about = encoded(records)
    path = _part_path(store.head_path, about.digest)
    files.write_synced(path, content)
    parts.append(CheckpointPart(path, about))
    facts = facts_of(accounts) | {"parts": [part.facts.to_json() for part in parts]}
    return facts, EarlierEntries(
        store, accounts.position, accounts.hash, tuple(parts), dict(facts["counts"])
    )


def _together(older: CheckpointPart, newer: Mapping[str, Records]) -> bool:
    """Return whether to merge: parts grow by doubling, so few are searched and each record moves seldom."""
    many = sum(map(len, newer.values()))
    return older.facts.records <= 2 * many and older.facts.records + many <= LARGEST


def opened(store: Store, head: Head | None) -> Accounts | None:
    """Return the accounts of the checkpoint that `head` names; None if there is none that can be believed.

    Guarantee: it is byte for byte the one that was named when the head was written, and the store has
        the entry that it ends with. Whatever is missing, damaged, older or of another ledger is None.
    """
    if head is None or head.checkpoint is None:
        return None
    position, name = head.checkpoint
    try:
        content = _checkpoint_path(store.head_path, name).read_bytes()
        if hashlib.sha256(content).hexdigest() != name:
            return None
        facts = json.loads(content)
        if (facts["version"], facts["ledger"]) != (VERSION, head.ledger):
            return None
        if facts["position"] != position or position > head.position:
            return None
        parts = [PartFacts(*data) for data in facts["parts"]]
        opened_parts = [
            CheckpointPart(_part_path(store.head_path, part.digest), part) for part in parts
        ]
        accounts = accounts_from(facts)
    except (OSError, ValueError, KeyError, TypeError, IndexError, LedgerTampered):
        return None
    if not _stored(store.find(position), position, accounts.hash):
        return None
    accounts.rest_on(
        EarlierEntries(store, position, accounts.hash, tuple(opened_parts), dict(facts["counts"]))
    )
    return accounts


def _stored(found: Link | None, position: int, expected: str) -> bool:
    """Return whether the store has the link with this hash at `position`, and the hash is its own."""
    if found is None or found.hash != expected:
        return False
    return digest(position, found.kind, found.previous, found.body) == expected


def _checkpoint_path(head: Path, name: str) -> Path:
    return head.with_name(f"{head.name}.checkpoint-{name}")


def _part_path(head: Path, name: str) -> Path:
    return head.with_name(f"{head.name}.part-{name}")


@contextmanager
def _only_one(head: Path) -> Iterator[bool]:
    """Yield whether no other process of this machine is making a checkpoint."""
    path = head.with_name(f"{head.name}.checkpoint.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        # Said aloud: a child that was forked meanwhile has the descriptor, too, and keeps it.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _remove_others(file: HeadFile) -> None:
    """Remove every file of a checkpoint that neither slot of the head names."""
    kept: set[Path] = set()
    for head in file.slots():
        if head.checkpoint is not None:
            path = _checkpoint_path(file.path, head.checkpoint[1])
            with suppress(OSError, ValueError, KeyError, TypeError):
                parts = json.loads(path.read_bytes())["parts"]
                kept |= {path, *(_part_path(file.path, part[0]) for part in parts)}
    ours = (f"{file.path.name}.checkpoint-", f"{file.path.name}.part-")
    for path in list(file.path.parent.iterdir()):
        if path.name.startswith(ours) and path not in kept:
            path.unlink(missing_ok=True)
