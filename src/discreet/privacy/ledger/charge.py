"""Charges: whether one fits, or several together, and the one transaction that charges all of them or none.

A request id that was used before gets its first receipt again, or a conflict.

Work for each unit is public, the total is not: that a database runs out of time or memory may depend
on the rows, which no budget accounts for. So a statement shows that once, not as often as it is asked;
and since a statement can be put in other words, whoever has MOST_OPEN of them open asks nothing new of
that dataset until the owner has looked at one (`Incidents`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.base.event import FREE, Cost, Quote
from discreet.errors import (
    AnswerLost,
    BudgetExceeded,
    EngineFailed,
    InternalError,
    InvalidInput,
    LedgerTampered,
    RequestConflict,
    UnknownName,
)
from discreet.privacy.ledger.accounts import Accounts
from discreet.privacy.ledger.budget import Account
from discreet.privacy.ledger.entry import (
    Balance,
    Entry,
    Incident,
    Payer,
    Receipt,
    checked_name,
    checked_text,
    fingerprint,
    is_whole,
    receipt_of,
)
from discreet.privacy.ledger.refusal import (
    RefusalCounts,
    has_room,
    in_region,
    no_room,
    refusal,
    refusal_together,
    require_room,
)
from discreet.privacy.ledger.session import CachedAccounts, LedgerTransaction
from discreet.privacy.ledger.store import ChainLinks, Store


def known_account(accounts: Accounts, budget: str, analyst: str | None) -> Account:
    """Return the account that such a payer draws on, or refuse a name that is not in force."""
    account = accounts.by_key.get((budget, None))
    if account is None or account.limit is None:
        known = sorted(key[0] for key, item in accounts.by_key.items() if item.limit and not key[1])
        raise UnknownName(
            f"There is no budget '{budget}'.", hint=f"Budgets: {', '.join(known) or 'none'}."
        )
    if analyst is None:
        return account
    share = accounts.by_key.get((budget, analyst))
    if share is None or share.limit is None:
        raise UnknownName(
            f"Analyst '{analyst}' has no share in the budget '{budget}'.",
            hint=f"Add it to discreet.toml under [analysts.{analyst}].",
        )
    return share


def priced(accounts: Accounts, payer: Payer, quote: Quote, probes: RefusalCounts) -> dict[str, Any]:
    """Return the bounds before and after the charge, or raise because it does not fit.

    An analyst's own share comes first, and exactly; of what others have used a refusal tells only
    what `RefusalCounts` allows. The budget itself is checked in any case.
    """
    total = _payable(accounts, payer)
    own, share = total, None
    if payer.analyst is not None:
        own = known_account(accounts, payer.budget, payer.analyst)
        share = _fitting(own, quote)

    def bound() -> Cost:
        if payer.analyst is not None:
            require_room(accounts, (payer.budget, payer.analyst), quote)
        after = total.peak_with(quote.region, quote.cost)
        if not _allows(total, quote, after):
            raise refusal(total, quote) if payer.analyst is None else no_room(total, quote)
        return after

    # Whatever refuses beside others' bills is told as often as `RefusalCounts` allows, and no more.
    after = bound() if share is None else probes.counted((payer.budget, payer.analyst), bound)
    own_after = after if share is None else share
    return {
        "total": after.to_json(),
        "share": None if share is None else share.to_json(),
        "before": own.balance(own.peak()).to_json(),
        "after": own.balance(own_after).to_json(),
    }


def priced_together(
    accounts: Accounts, payer: Payer, quotes: Sequence[Quote], probes: RefusalCounts
) -> list[dict[str, Any]]:
    """Return the bounds before and after each of several charges, or raise: not all of them fit.

    Each is priced on top of those before it, which the accounts count from here on: they must become
    entries now, or be forgotten (`Accounts.forget_tried`). All of them are held to the own share
    first, then all of them to the others' room and to the budget, and a refusal says nothing of
    single ones. So it tells of others' use one coarse thing, and counts as one.
    """
    total = _payable(accounts, payer)
    if payer.analyst is None:
        found = _tried(total, quotes, refusal_together(total, quotes))
        return [_fact(each, None) for each in found]
    key = payer.budget, payer.analyst
    own = known_account(accounts, *key)
    shares = _tried(own, quotes, refusal_together(own, quotes))
    refused = refusal_together(total, quotes, others=True)

    def totals() -> list[_Tried]:
        for quote, share in zip(quotes, shares, strict=True):
            if not has_room(accounts, key, quote, share.inside):
                raise refused
        return _tried(total, quotes, refused)

    sums = probes.counted(key, totals)
    return [_fact(whole, share) for whole, share in zip(sums, shares, strict=True)]


@dataclass(frozen=True, slots=True)
class _Tried:
    """One of several charges on one account: the bill of its region, and the bounds around it."""

    inside: Cost
    before: Balance
    after: Balance
    bound: Cost


def _tried(account: Account, quotes: Sequence[Quote], refused: Exception) -> list[_Tried]:
    """Return what several charges lead to, one on top of another, or refuse them."""
    for region in {quote.region: None for quote in quotes}:
        mine = [quote.cost for quote in quotes if quote.region == region]
        asked = sum(mine[1:], mine[0])
        # Seen before anything is tried: to forget a try means to count all charges anew.
        if asked != FREE and not account.limits.allows(account.peak_with(region, asked)):
            raise refused
    found = []
    for quote in quotes:
        inside, before = in_region(account, quote), account.balance(account.peak())
        bill = account.peak_with(quote.region, quote.cost)
        if not _allows(account, quote, bill):
            raise refused
        account.try_charge(quote.region, quote.cost)
        found.append(_Tried(inside, before, account.balance(bill), bill))
    return found


def _fact(whole: _Tried, share: _Tried | None) -> dict[str, Any]:
    own = whole if share is None else share
    return {
        "total": whole.bound.to_json(),
        "share": None if share is None else share.bound.to_json(),
        "before": own.before.to_json(),
        "after": own.after.to_json(),
    }


def _payable(accounts: Accounts, payer: Payer) -> Account:
    """Return the budget that pays, or refuse to pay for a dataset from another than before."""
    total = known_account(accounts, payer.budget, None)
    paid_by = accounts.paid_by.get(payer.dataset, payer.budget)
    if paid_by != payer.budget:
        raise InvalidInput(
            f"Dataset '{payer.dataset}' has been paid from the budget '{paid_by}', and what was "
            "spent there cannot be left behind.",
            hint=f"Set budget = '{paid_by}' for it in discreet.toml.",
        )
    return total


def foreseen(accounts: Accounts, payer: Payer, quote: Quote) -> tuple[Balance, Balance]:
    """Return the payer's own balance before and after a charge that is not made.

    `after` is what `priced` would record, also where the charge would not fit; a bill beyond all
    counting is told as the plain sum, which does not fit either.
    """
    own = known_account(accounts, payer.budget, payer.analyst)
    before = own.balance(own.peak())
    bill = own.peak_with(quote.region, quote.cost)
    if bill.epsilon is None and (bill.rho is None or not own.limits.delta):
        more = quote.cost.epsilon or max(Fraction(1), own.limits.epsilon)
        return before, replace(before, epsilon=before.epsilon + more)
    return before, own.balance(bill)


def _fitting(account: Account, quote: Quote) -> Cost:
    after = account.peak_with(quote.region, quote.cost)
    if not _allows(account, quote, after):
        raise refusal(account, quote)
    return after


def _allows(account: Account, quote: Quote, after: Cost) -> bool:
    """Return whether a charge fits; one that costs nobody anything fits where a limit was lowered, too."""
    return quote.cost == FREE or account.limits.allows(after)


MOST_OPEN = 3
"""Open incidents of one analyst in one dataset, after which nothing more is charged to them there."""


def require_clear(accounts: Accounts, payer: Payer, texts: Mapping[str, Any]) -> None:
    """Refuse, before the charge, a statement on which the database failed before.

    Guarantee: for one analyst and dataset the database fails on at most MOST_OPEN paid statements
        between two clearings by the owner, however they are worded; each was charged for.
    """
    dataset = payer.dataset
    mine = [each for each in accounts.incidents.values() if _of(each) == (payer.analyst, dataset)]
    if len(mine) >= MOST_OPEN and payer.analyst is not None:
        raise EngineFailed(
            f"The database failed on {len(mine)} of your questions about '{dataset}', so nothing "
            "more is asked of it until the data owner clears one. Nothing was charged.",
            hint="Ask the data owner: discreet ledger clear.",
        )
    if (dataset, texts["question"] or texts["note"]) in accounts.incidents:
        raise EngineFailed(
            "The database failed on this very question before, so it stays refused until the data "
            "owner clears it. Nothing was charged.",
            hint="Ask something smaller, or ask the data owner: discreet ledger clear.",
        )


def _of(incident: Incident) -> tuple[str | None, str]:
    return incident.analyst, incident.dataset


@dataclass(frozen=True, slots=True)
class Incidents:
    """The open incidents, and how the owner ends one."""

    kept: CachedAccounts

    def open(self) -> list[Incident]:
        """Return what is refused now, oldest first. For the owner: it tells what others asked."""
        with self.kept.current() as accounts:
            return sorted(accounts.incidents.values(), key=lambda found: found.position)

    def clear(self, request_id: str, *, reason: str, who: str = "owner") -> int:
        """Return how many incidents of this request id are cleared now; it becomes an entry."""
        checked_text(reason, name="reason")
        with self.kept.session() as session:
            found = [
                incident
                for incident in session.accounts.incidents.values()
                if incident.request_id == request_id
            ]
            if not found:
                raise UnknownName(
                    f"No question is refused because of request '{request_id}'.",
                    hint="`discreet ledger clear` without a name lists what is refused.",
                )
            for incident in found:
                session.append(
                    "clear",
                    {"charge": incident.position, "reason": reason, "who": who},
                )
            return len(found)


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
