"""Idempotency of charges: a request id that was used before gets its first receipt again, or a conflict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.cost import Quote
from discreet.errors import (
    AnswerLost,
    BudgetExceeded,
    LedgerTampered,
    RequestConflict,
)
from discreet.ledger.accounts import Accounts
from discreet.ledger.chain.links import is_whole
from discreet.ledger.entry import Entry, Payer, Receipt, receipt_of
from discreet.ledger.store.base import ChainLinks, Store


def repeated(
    store: Store, accounts: Accounts, payer: Payer, request_id: str, asked: str
) -> Receipt | None:
    """Return the receipt that this payer's request id got before, None if it is new.

    Ids are each analyst's own: another's use of the same id is neither seen nor in the way.
    """
    position = accounts.requests.get((payer.analyst, request_id))
    if position is None:
        return None
    paid = accounts.stored(store, position)
    require_body(Entry.of(paid).data, asked, request_id)
    receipt = receipt_of(paid, repeated=True)
    if receipt.payer != payer:
        raise LedgerTampered(f"The charge of request '{request_id}' is not what was asked.")
    return receipt


def require_body(data: Mapping[str, Any], asked: str, request_id: str) -> None:
    """Raise RequestConflict if the id stands for another question."""
    if data["body"] != asked:
        raise RequestConflict(
            f"The request id '{request_id}' was used before, for another question.",
            hint="Give every new question its own request id.",
        )


def require_same(
    store: Store, accounts: Accounts, receipt: Receipt, quote: Quote, texts: Mapping[str, str]
) -> None:
    """Refuse to begin under a charge that was made for other data, another price or another question.

    The same words may ask something else by now: a public table inside them has other values.

    What was begun before is not begun again, so its outcome is given out whatever has changed.
    """
    paid = _paid(store, accounts, receipt.position).data
    if receipt.position in accounts.outcomes:
        return
    now = (texts["snapshot"], texts["question"], quote.cost.to_json(), quote.region.to_json())
    if (paid["snapshot"], paid["question"], paid["cost"], paid["region"]) != now:
        raise RequestConflict(
            f"The request id '{receipt.request_id}' was paid for other data, another price or "
            "another question, and was not answered then.",
            hint="Ask under a new request id.",
        )


def require_fitting(accounts: Accounts, receipt: Receipt) -> None:
    """Refuse to begin under a charge that the limits in force do not allow.

    Every charge was checked when it was made, unless somebody wrote it into the store by hand, or
    the owner has lowered a limit since.
    """
    if receipt.position in accounts.outcomes:
        return
    payer = receipt.payer
    for account in (accounts.account(payer.budget), accounts.account(payer.budget, payer.analyst)):
        if account.limit is None or not account.limits.allows(account.peak()):
            raise BudgetExceeded(
                f"The request id '{receipt.request_id}' was charged, but the limits in force no "
                "longer allow that charge; it was not answered.",
                hint="Ask the data owner to raise the limit.",
            )


def require_held(accounts: Accounts, source: ChainLinks, receipt: Receipt) -> Mapping[str, Any]:
    """Return what the charge of `receipt` says, or refuse one that this history does not hold.

    A restore may have lost it, and another charge may stand at its position by now. What was paid stays
    counted: a restore that loses anything bills to everyone what the worst-hit person had paid.

    Guarantee: whoever holds a receipt of a lost charge begins nothing and ends nothing.
    """
    found = accounts.link(source, receipt.position)
    same = found is not None and found.kind == "charge" and found.hash == receipt.link
    if found is not None and same and is_whole(found):
        data, payer = Entry.of(found).data, receipt.payer
        named = (data["analyst"], data["dataset"], data["budget"], data["request_id"])
        if named == (payer.analyst, payer.dataset, payer.budget, receipt.request_id):
            return data
    raise AnswerLost(
        f"This ledger does not hold the charge of request '{receipt.request_id}': it was restored since, "
        "or is another one. What was paid stays counted."
    )


def _paid(store: Store, accounts: Accounts, position: int) -> Entry:
    return Entry.of(accounts.stored(store, position))
