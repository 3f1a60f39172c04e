"""One transaction that charges one question or several, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.cost import Quote
from discreet.errors import InternalError
from discreet.ledger.accounts import Accounts
from discreet.ledger.entry import (
    Payer,
    Receipt,
    checked_name,
    checked_text,
    fingerprint,
    receipt_of,
)
from discreet.ledger.idempotency.repeating import repeated, require_fitting, require_same
from discreet.ledger.incidents import require_clear
from discreet.ledger.others_spending import RefusalCounts
from discreet.ledger.pricing import known_account, priced, priced_together
from discreet.ledger.session import LedgerTransaction
from discreet.ledger.store.base import Store


@dataclass(frozen=True, slots=True)
class Charge:
    """One question to be paid: its price and whom it touches, its id, and what the id stands for.

    `question` is what finds its answer again, `note` what people read, `snapshot` the version of
    the data that it is about.
    """

    quote: Quote
    request_id: str
    body: str
    question: str = ""
    note: str = ""
    snapshot: str = ""

    def checked(self) -> Charge:
        """Return this charge, or refuse a name or text that cannot be stored."""
        checked_name(self.request_id, name="request id")
        for name in ("question", "note", "snapshot"):
            checked_text(getattr(self, name), name=name)
        return self

    @property
    def texts(self) -> dict[str, str]:
        """Return what the entry says beside the price."""
        return {"question": self.question, "note": self.note, "snapshot": self.snapshot}


def charged(
    session: LedgerTransaction,
    store: Store,
    payer: Payer,
    charges: Sequence[Charge],
    *,
    probes: RefusalCounts,
    asker: str = "",
) -> list[Receipt]:
    """Return a receipt for each charge: an old one where its id was paid before, else a new one.

    Guarantee: nothing is appended unless every new charge fits, each on top of those before it. Their
        entries are one unbroken run of the chain, and each says where the run begins and how long it
        is, so half of one is refused wherever it is read.
    """
    if len({charge.request_id for charge in charges}) != len(charges):
        raise InternalError("two charges of one statement have the same request id")
    if asker:
        checked_name(asker, name="asker")
    known_account(session.accounts, payer.budget, payer.analyst)  # also for what was paid before
    found: dict[str, Receipt] = {}
    new: list[tuple[Charge, str]] = []
    for charge in charges:
        asked = fingerprint(payer, f"charge {charge.body}")
        old = repeated(store, session.accounts, payer, charge.request_id, asked)
        if old is None:
            require_clear(session.accounts, payer, charge.texts)
            new.append((charge, asked))
            continue
        require_same(store, session.accounts, old, charge.quote, charge.texts)
        require_fitting(session.accounts, old)
        found[charge.request_id] = old
    facts = _facts(session.accounts, payer, [charge.quote for charge, _ in new], probes)
    run = {"together": [session.next_position, len(new)]} if len(new) > 1 else {}
    for (charge, asked), bounds in zip(new, facts, strict=True):
        data = bounds | {
            "request_id": charge.request_id,
            "body": asked,
            "analyst": payer.analyst,
            "dataset": payer.dataset,
            "budget": payer.budget,
            "cost": charge.quote.cost.to_json(),
            "region": charge.quote.region.to_json(),
            "event": repr(charge.quote.event),
            "reserved": False,
            "looks": 1,
            **charge.texts,
            **run,
            **({"asker": asker} if asker else {}),
        }
        item = session.append("charge", data)
        found[charge.request_id] = receipt_of(item, repeated=False)
    return [found[charge.request_id] for charge in charges]


def _facts(
    accounts: Accounts, payer: Payer, quotes: Sequence[Quote], probes: RefusalCounts
) -> list[dict[str, Any]]:
    """Return the bounds that each charge of a run leads to, or raise because they do not all fit."""
    if len(quotes) == 1:
        return [priced(accounts, payer, quotes[0], probes)]
    return priced_together(accounts, payer, quotes, probes) if quotes else []
