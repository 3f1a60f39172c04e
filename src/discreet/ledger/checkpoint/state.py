"""The accounts as a checkpoint keeps them: what is small as JSON, what grows with every request as records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from discreet.core.numbers import Delta, Epsilon
from discreet.errors import LedgerTampered
from discreet.ledger.accounts import AccountKey, Accounts
from discreet.ledger.checkpoint.earlier_entries import analyst_key, outcome_value, request_key
from discreet.ledger.checkpoint.parts import Records, latest, number
from discreet.ledger.idempotency.states import Incident
from discreet.ledger.policy import Limit
from discreet.ledger.versions import Versions
from discreet.ledger.worst.account import Account

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
