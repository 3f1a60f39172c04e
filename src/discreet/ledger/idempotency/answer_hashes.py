"""Stored answers checked against their hashes in the chain."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.errors import LedgerTampered
from discreet.ledger.accounts import Accounts
from discreet.ledger.entry import Entry
from discreet.ledger.loading import catch_up
from discreet.ledger.store.base import Store, StoredAnswer, damaged_answer, seal


def checked_against_chain(store: Store, accounts: Accounts, answer: StoredAnswer) -> StoredAnswer:
    """Return `answer` if the chain says the same of it; `accounts` must not be older than `answer`.

    Guarantee: analyst, dataset, question, snapshot, request and payload are what was stored when the
    charge was answered, as surely as the chain is intact: their hash is an entry of it. An answer
    of 0.1.0, which made no such entry, is held to what its charge says; its bytes are not sealed.
    """
    digest = accounts.sealed.get(answer.position)
    if digest is None:
        _require_as_charged(store, accounts, answer)
    elif digest != seal(answer):
        raise damaged_answer(answer)
    return answer


def unsealed(store: Store, accounts: Accounts, answers: Iterable[StoredAnswer]) -> int:
    """Return how many of `answers` were stored by 0.1.0, after checking each, and that none lacks.

    `accounts` is older than `answers`: what was stored in between is held to the accounts as they are then.
    """
    sealed, found, later = tuple(accounts.sealed), set(), []
    old = 0
    for answer in answers:
        found.add(answer.position)
        try:
            checked_against_chain(store, accounts, answer)
            old += answer.position not in accounts.sealed
        except LedgerTampered:
            later.append(answer)
    if later:
        accounts = catch_up(store, store, accounts)
        for answer in later:
            checked_against_chain(store, accounts, answer)
    for position in sealed:
        if position not in found:
            raise LedgerTampered(
                f"The answer of the charge at entry {position} is missing.",
                hint="Restore a backup: discreet ledger restore PATH --reason TEXT.",
            )
    return old


def _require_as_charged(store: Store, accounts: Accounts, answer: StoredAnswer) -> None:
    if accounts.requests.get((answer.analyst or None, answer.asked_as)) != answer.position:
        raise LedgerTampered(f"Answer '{answer.asked_as}' was never paid for.")
    found = accounts.link(store, answer.position)
    paid = {} if found is None else Entry.of(found).data
    said = (answer.dataset, answer.question, answer.snapshot)
    told = (paid.get("dataset"), paid.get("question", ""), paid.get("snapshot", ""))
    if said != told or "looks" in paid:  # whoever writes "looks" enters every answer, too
        raise damaged_answer(answer)
