"""Whether a charge fits, or several together, and the bounds that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.core.cost import FREE, Cost, Quote
from discreet.errors import InvalidInput, UnknownName
from discreet.ledger.accounts import Accounts
from discreet.ledger.entry import Balance, Payer
from discreet.ledger.others_spending import RefusalCounts, has_room, no_room, require_room
from discreet.ledger.refusal import in_region, refusal, refusal_together
from discreet.ledger.worst.account import Account


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
