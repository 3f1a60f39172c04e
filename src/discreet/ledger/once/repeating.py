"""A request id that was used before: its first receipt again, or a conflict."""

from __future__ import annotations

from discreet.core.cost import Quote
from discreet.errors import InternalError, RequestConflict
from discreet.ledger.accounts import Accounts
from discreet.ledger.entry import Entry, Payer, Receipt, receipt_of
from discreet.ledger.store.base import Store


def repeated(
    store: Store, book: Accounts, payer: Payer, request_id: str, asked: str
) -> Receipt | None:
    """Return the receipt that this payer's request id got before, None if it is new.

    Ids are each analyst's own: another's use of the same id is neither seen nor in the way.
    """
    position = book.requests.get((payer.analyst, request_id))
    if position is None:
        return None
    data = _paid(store, position).data
    if data["body"] != asked:
        raise RequestConflict(
            f"The request id '{request_id}' was used before, for another question.",
            hint="Give every new question its own request id.",
        )
    return receipt_of(position, data, repeated=True)


def require_same(
    store: Store, book: Accounts, receipt: Receipt, quote: Quote, snapshot: str
) -> None:
    """Refuse to begin under a charge that was made for other data or another price.

    What was begun before is not begun again, so its outcome is given out whatever has changed.
    """
    paid = _paid(store, receipt.position).data
    if paid["reserved"] or receipt.position in book.outcomes:
        return
    now = (snapshot, quote.cost.to_json(), quote.region.to_json())
    if (paid["snapshot"], paid["cost"], paid["region"]) != now:
        raise RequestConflict(
            f"The request id '{receipt.request_id}' was paid for other data or another price, and "
            "was not answered then.",
            hint="Ask under a new request id.",
        )


def _paid(store: Store, position: int) -> Entry:
    found = store.find(position)
    if found is None:
        raise InternalError(f"entry {position} vanished inside a transaction")
    return Entry.of(found)
