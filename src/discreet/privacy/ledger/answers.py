"""Stored answers: kept with their charge, checked against the hash in the chain, given out under their request id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.base.event import FREE, Positions, Region
from discreet.errors import LedgerTampered
from discreet.privacy.ledger.accounts import Accounts
from discreet.privacy.ledger.charge import known_account, repeated, require_body, require_held
from discreet.privacy.ledger.entry import (
    AccountState,
    Entry,
    Payer,
    Receipt,
    answer_key,
    checked_name,
    checked_text,
    fingerprint,
)
from discreet.privacy.ledger.history import catch_up
from discreet.privacy.ledger.outcomes import error_of, missing_answer
from discreet.privacy.ledger.session import CachedAccounts
from discreet.privacy.ledger.store import Store, StoredAnswer, damaged_answer, seal


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


NOBODY = Region.of({"": Positions.of([])})
"""Where there is nobody: a free answer reads no rows."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered, by request id and by question.

    Guarantee: the first answer that is stored for a charge, or for a free request, is the only one;
        its hash is an entry of the chain, and whatever does not match it is not given out.
    """

    store: Store
    kept: CachedAccounts

    def keep(self, receipt: Receipt, payload: bytes) -> bytes:
        """Return the answer now stored for `receipt`: `payload`, or the one that came first."""
        with self.kept.session() as session:
            paid = require_held(session.accounts, session.writer, receipt)
            answer = _sealed(receipt.position, paid, payload)
            known = session.accounts.outcomes.get(receipt.position)
            if known is not None and known.state in (AccountState.FAILED, AccountState.LOST):
                raise error_of(known)  # that was said already, and stays so
            # 0.1.0 entered no outcomes, so there a look into the table must tell.
            first = "looks" in paid and (known is None or known.state is AccountState.BEGUN)
            kept = (
                None if first else self._kept(session.accounts, paid["analyst"], receipt.request_id)
            )
            if kept is None and known is not None and known.state is AccountState.ANSWERED:
                raise missing_answer(receipt.request_id)
            if kept is None:
                session.writer.add_answer(answer)
                entered = {"charge": receipt.position, "digest": answer.digest}
                session.append("answered", entered)
        return payload if kept is None else self.checked_against_chain([kept])[0].payload

    def keep_free(
        self, payer: Payer, payload: bytes, *, request_id: str, body: str, note: str = ""
    ) -> bool:
        """Return whether `payload` is now the answer of a request that nobody pays for.

        The id stands for it from now on. It is no evidence of its own: it is found under its id,
        never as an answer to a question. False where the id has a charge or an answer already.
        """
        checked_name(request_id, name="request id")
        asked = fingerprint(payer, f"charge {body}")
        with self.kept.session() as session:
            if repeated(self.store, session.accounts, payer, request_id, asked) is not None:
                return False
            said = {
                "request_id": request_id,
                "body": asked,
                "note": checked_text(note, name="note"),
            }
            data = _unpaid(session.accounts, payer) | said
            answer = _sealed(session.next_position, data, payload)
            session.append("free", data | {"digest": answer.digest})
            session.writer.add_answer(answer)
            return True

    def finished(self, analyst: str | None, *, request_id: str, body: str) -> bytes | None:
        """Return what this request was answered before, whatever its tables are called by now.

        None: it is new, or has not ended. Raises what a failed one ended in, and RequestConflict
        where the id was used for another question. Whoever has no share any more is told nothing.
        """
        with self.kept.current() as accounts:
            position = accounts.requests.get((analyst, request_id))
            known = None if position is None else accounts.outcomes.get(position)
            if position is None or known is None or known.state is AccountState.BEGUN:
                return None
            data = Entry.of(accounts.stored(self.store, position)).data
            account = accounts.by_key.get((data["budget"], analyst))
            if account is None or account.limit is None:
                return None
            payer = Payer(analyst, data["dataset"], data["budget"])
            require_body(data, fingerprint(payer, f"charge {body}"), request_id)
        if known.state is not AccountState.ANSWERED:
            raise error_of(known)
        return self.by_id(request_id, analyst)

    def by_id(self, request_id: str, analyst: str | None) -> bytes | None:
        """Return the answer that this analyst's request got, if one was stored."""
        with self.kept.current() as accounts:
            found = self._kept(accounts, analyst, request_id)
        return self.checked_against_chain([found])[0].payload if found else None

    def checked_against_chain(self, answers: list[StoredAnswer]) -> list[StoredAnswer]:
        """Return `answers` if the chain says the same of each."""
        # The accounts come after the answers: then they have the entries that were stored with them.
        with self.kept.current() as accounts:
            return [checked_against_chain(self.store, accounts, answer) for answer in answers]

    def _kept(
        self, accounts: Accounts, analyst: str | None, request_id: str
    ) -> StoredAnswer | None:
        # Who paid is read from the chain, which cannot be edited unseen. 0.1.0 used the bare id.
        position = accounts.requests.get((analyst, request_id))
        if position is None:
            return None
        names = (answer_key(analyst, request_id), request_id)
        kept = (self.store.answer(name) for name in names)
        return next((item for item in kept if item and item.position == position), None)


def _sealed(position: int, data: Mapping[str, Any], payload: bytes) -> StoredAnswer:
    answer = StoredAnswer(
        request_id=answer_key(data["analyst"], data["request_id"]),
        position=position,
        analyst=data["analyst"] or "",
        dataset=data["dataset"],
        question=data["question"],
        payload=payload,
        digest="",
        snapshot=data["snapshot"],
    )
    return replace(answer, digest=seal(answer))


def _unpaid(accounts: Accounts, payer: Payer) -> dict[str, Any]:
    account = known_account(accounts, payer.budget, payer.analyst)
    balance = account.balance(account.peak()).to_json()
    return {
        "analyst": payer.analyst,
        "dataset": payer.dataset,
        "budget": payer.budget,
        "cost": FREE.to_json(),
        "region": NOBODY.to_json(),
        "reserved": False,
        "question": "",
        "snapshot": "",
        "before": balance,
        "after": balance,
    }
