"""Whether a charge fits, and the bounds that it leads to."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.core.cost import Cost, Quote
from discreet.errors import InvalidInput, UnknownName
from discreet.ledger.accounts import Account, Accounts
from discreet.ledger.entry import Balance, Payer
from discreet.ledger.others_spending import Probes, no_room
from discreet.ledger.refusal import refusal


def known_account(book: Accounts, budget: str, analyst: str | None) -> Account:
    """Return the account that such a payer draws on, or refuse a name that is not in force."""
    account = book.accounts.get((budget, None))
    if account is None or account.limit is None:
        known = sorted(key[0] for key, item in book.accounts.items() if item.limit and not key[1])
        raise UnknownName(
            f"There is no budget '{budget}'.", hint=f"Budgets: {', '.join(known) or 'none'}."
        )
    if analyst is None:
        return account
    share = book.accounts.get((budget, analyst))
    if share is None or share.limit is None:
        raise UnknownName(
            f"Analyst '{analyst}' has no share in the budget '{budget}'.",
            hint=f"Add it to discreet.toml under [analysts.{analyst}].",
        )
    return share


def priced(book: Accounts, payer: Payer, quote: Quote, probes: Probes) -> dict[str, Any]:
    """Return the bounds before and after the charge, or raise because it does not fit.

    An analyst's own share comes first, and exactly; of what others have used a refusal tells only
    what `Probes` allows. The budget itself is checked in any case.
    """
    total = known_account(book, payer.budget, None)
    paid_by = book.paid_by.get(payer.dataset, payer.budget)
    if paid_by != payer.budget:
        raise InvalidInput(
            f"Dataset '{payer.dataset}' has been paid from the budget '{paid_by}', and what was "
            "spent there cannot be left behind.",
            hint=f"Set budget = '{paid_by}' for it in discreet.toml.",
        )
    own, share = total, None
    if payer.analyst is not None:
        own = known_account(book, payer.budget, payer.analyst)
        share = _fitting(own, quote)
        probes.require_room(book, (payer.budget, payer.analyst), quote)
    after = total.peak_with(quote.region, quote.cost)
    if not total.limits.allows(after):
        raise refusal(total, quote) if payer.analyst is None else no_room(total, quote)
    own_after = after if share is None else share
    return {
        "total": after.to_json(),
        "share": None if share is None else share.to_json(),
        "before": own.balance(own.peak()).to_json(),
        "after": own.balance(own_after).to_json(),
    }


def foreseen(book: Accounts, payer: Payer, quote: Quote) -> tuple[Balance, Balance]:
    """Return the payer's own balance before and after a charge that is not made.

    `after` is what `priced` would record, also where the charge would not fit; a bill beyond all
    counting is told as the plain sum, which does not fit either.
    """
    own = known_account(book, payer.budget, payer.analyst)
    before = own.balance(own.peak())
    bill = own.peak_with(quote.region, quote.cost)
    if bill.epsilon is None and (bill.rho is None or not own.limits.delta):
        more = quote.cost.epsilon or max(Fraction(1), own.limits.epsilon)
        return before, replace(before, epsilon=before.epsilon + more)
    return before, own.balance(bill)


def _fitting(account: Account, quote: Quote) -> Cost:
    after = account.peak_with(quote.region, quote.cost)
    if not account.limits.allows(after):
        raise refusal(account, quote)
    return after
