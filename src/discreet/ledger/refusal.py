"""Why a charge does not fit, and the greatest epsilon that still would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.core.cost import Cost, Quote
from discreet.core.numbers import plain, plain_below
from discreet.errors import BudgetExceeded
from discreet.ledger.policy import Limit
from discreet.ledger.worst.account import Account

_STEPS = 12  # halvings in the search for what fits: finer than the two digits that are shown


def refusal(account: Account, quote: Quote) -> BudgetExceeded:
    """Return the error for a quote that `account` does not allow."""
    limit = account.limit
    assert limit is not None
    asked = quote.cost.epsilon
    before = in_region(account, quote)
    left = what_fits(account, quote, before)
    whose = f"'{limit.budget}'"
    if limit.analyst is not None:
        whose = f"analyst '{limit.analyst}' in {whose}"
    if asked is not None and quote.cost.delta and not left:
        without = replace(quote, cost=Cost(asked, Fraction(0), None, Fraction(0)))
        room = what_fits(account, without, before)
        if room:
            return _no_delta(limit, whose, asked, room, quote.cost.delta)
    shown = "more" if asked is None else f"epsilon {plain(asked)}"
    words = f"epsilon {plain_below(left)}" if left else "nothing"
    hint = f"Lower epsilon to {plain_below(left)}, or ask" if left else "Ask"
    return BudgetExceeded(
        f"The budget of {whose} does not allow {shown}: of epsilon {limit.epsilon}, {words} is "
        "left for the people whom this asks about. Nothing was charged.",
        hint=f"{hint} the data owner to raise the limit.",
        asked="" if asked is None else plain(asked),
        left=plain_below(left),
        limit=str(limit.epsilon),
    )


def _no_delta(
    limit: Limit, whose: str, asked: Fraction, room: Fraction, delta: Fraction
) -> BudgetExceeded:
    """Return the error for a quote whose delta does not fit, with the epsilon that would."""
    has = (
        f"has delta {limit.delta}, of which too little is left"
        if limit.delta.value
        else "has no delta"
    )
    short = (
        f" Of epsilon {limit.epsilon}, epsilon {plain_below(room)} is left for the people whom this asks about."
        if room < asked
        else ""
    )
    return BudgetExceeded(
        f"The budget of {whose} {has}, and this needs delta {plain(delta)}.{short} Nothing was charged.",
        hint="Ask without delta, or ask the data owner to declare at least twice as much for it.",
        asked=plain(asked),
        left=plain(Fraction(0)),
        limit=str(limit.epsilon),
    )


def refusal_together(
    account: Account, quotes: Sequence[Quote], *, others: bool = False
) -> BudgetExceeded:
    """Return the error for several quotes that `account` does not allow together.

    Its words follow from the quotes and the limit alone, whichever of them did not fit. `others`:
    it is what others have used that leaves no room.
    """
    limit = account.limit
    assert limit is not None
    whose = f"'{limit.budget}'"
    if limit.analyst is not None:
        whose = f"analyst '{limit.analyst}' in {whose}"
    costs = [quote.cost.epsilon for quote in quotes]
    asked = None if None in costs else sum((each or Fraction(0) for each in costs), Fraction(0))
    shown = "" if asked is None else f", epsilon {plain(asked)} in all"
    beside = " beside what others have used" if others else ""
    return BudgetExceeded(
        f"The budget of {whose} does not allow the {len(quotes)} private questions of this "
        f"statement together{beside}{shown}. Nothing was charged.",
        hint="Lower epsilon, ask for less at once, or ask the data owner to raise the limit of "
        f"epsilon {limit.epsilon}.",
        asked="" if asked is None else plain(asked),
        limit=str(limit.epsilon),
    )


def what_fits(account: Account, quote: Quote, before: Cost) -> Fraction:
    """Return an epsilon below the asked one that the account would allow after `before`, or 0.

    By sums of epsilon this is the greatest one. Where only the sums of rho have room, it is an
    estimate: rho shrinks about as the square of epsilon.
    """
    cost = quote.cost
    if cost.epsilon is None:
        return Fraction(0)
    by_sum = Fraction(0)
    assert account.limit is not None
    if before.epsilon is not None:
        room = account.limit.epsilon.value - before.epsilon
        full = Cost(account.limit.epsilon.value, before.delta + cost.delta, None, Fraction(0))
        if room > 0 and account.limits.allows(full):
            by_sum = min(room, cost.epsilon)
    if cost.rho is None or before.rho is None:
        return by_sum
    low, high = Fraction(0), Fraction(1)
    for _ in range(_STEPS):
        share = (low + high) / 2
        rho = before.rho + share * share * cost.rho
        fits = account.limits.allows(
            Cost(None, Fraction(1), rho, before.rho_delta + cost.rho_delta)
        )
        low, high = (share, high) if fits else (low, share)
    by_rho = _two_digits(cost.epsilon * low * Fraction(99, 100))
    return max(by_sum, by_rho)


def in_region(account: Account, quote: Quote) -> Cost:
    """Return what the worst-hit person inside the region has paid: a probe larger than any bill."""
    limit = account.limits
    probe = Cost(limit.epsilon, Fraction(0), limit.rho, Fraction(0))
    bill = account.peak_with(quote.region, probe)
    everyone = account.peak_with(quote.region, quote.cost)
    return Cost(
        epsilon=None if bill.epsilon is None else max(Fraction(0), bill.epsilon - limit.epsilon),
        delta=max(Fraction(0), everyone.delta - quote.cost.delta),
        rho=None if bill.rho is None else max(Fraction(0), bill.rho - limit.rho),
        rho_delta=max(Fraction(0), everyone.rho_delta - quote.cost.rho_delta),
    )


def _two_digits(value: Fraction) -> Fraction:
    if value <= 0:
        return Fraction(0)
    digits = 0
    while value * Fraction(10) ** digits < 10:
        digits += 1
    scale = Fraction(10) ** digits
    return Fraction(int(value * scale)) / scale
