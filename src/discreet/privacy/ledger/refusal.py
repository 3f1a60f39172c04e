"""Refusals: why a charge does not fit, the greatest epsilon that still would, and what a refusal may reveal.

Limits what refusals reveal of other analysts' spending: coarse steps, and a limit on how often one is refused.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias, TypeVar

from discreet.base.event import FREE, Cost, Quote
from discreet.base.numbers import plain, plain_below
from discreet.errors import BudgetExceeded, TooManyRequests
from discreet.privacy.account.composition import Limits
from discreet.privacy.ledger.accounts import AccountKey, Accounts
from discreet.privacy.ledger.budget import Account, Limit, limits_of

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


T = TypeVar("T")
Told: TypeAlias = tuple[int, Mapping[AccountKey, int]]
"""An hour, and how often each was told in it."""

STEPS = 10
"""Others' spending counts, and is told, in this many steps of the limit, rounded up."""
MOST_REFUSALS = 20
"""How often an hour one analyst is told that something does not fit beside others' spending."""
HOUR = 3600
SINGLY = 32
"""So many new charges of others are entered one by one; where there are more, all are counted anew."""


def require_room(accounts: Accounts, key: AccountKey, quote: Quote) -> None:
    """Raise BudgetExceeded if the charge does not fit beside what others have used, rounded up.

    Guarantee: whether it fits, and every word of the refusal, follow from this analyst's own charges
        and from others' bills in the region rounded up to whole steps; so do not change while these
        stay within a step. What passes fits the budget itself, too. (note 0032)
    """
    total, mine = accounts.account(key[0]), in_region(accounts.account(*key), quote)
    if not has_room(accounts, key, quote, mine):
        theirs = _capped(accounts, key, quote, total.limits)
        raise no_room(total, quote, what_fits(total, quote, theirs + mine))


def has_room(accounts: Accounts, key: AccountKey, quote: Quote, mine: Cost) -> bool:
    """Return whether the charge fits beside what others have used, rounded up.

    `mine` is what the worst-hit person in its region has paid for this analyst's own charges.
    """
    if quote.cost == FREE:
        return True  # also where the limit was lowered below what others have used
    total = accounts.account(key[0])
    # Nobody has paid more than the top, so where that leaves room there is no need to look closer.
    if _fits(total.limits, coarse(total.top, total.limits), mine, quote):
        return True
    return _fits(total.limits, _capped(accounts, key, quote, total.limits), mine, quote)


def coarse(cost: Cost, limits: Limits) -> Cost:
    """Return a bill rounded up to whole steps of what the limits allow, component by component."""
    return Cost(
        epsilon=None if cost.epsilon is None else _up(cost.epsilon, limits.epsilon),
        delta=_up(cost.delta, limits.delta / 2),
        rho=None if cost.rho is None else _up(cost.rho, limits.rho),
        rho_delta=_up(cost.rho_delta, limits.rho_delta),
    )


def _up(amount: Fraction, limit: Fraction) -> Fraction:
    step = limit / STEPS
    return math.ceil(amount / step) * step if step else amount


def others_of(accounts: Accounts, key: AccountKey) -> Account:
    """Return the account of everybody else's charges, remembered; new ones are entered in it."""
    total, own = accounts.account(key[0]), accounts.account(*key)
    stamp = (total.charges - own.charges, total.limit)
    known = accounts.beside.get(key)
    if known is None or known[0] != stamp:
        accounts.beside.pop(key, None)  # whatever interrupts this: half of it is not remembered
        bills = total.bills - own.bills
        before = known[1] if known is not None and known[0][1] == total.limit else None
        if before is None or not _grown(before, total, bills):
            before = replace(total, bills=bills, _worst=None, _resolution=None, _tried=[])
        known = accounts.beside[key] = stamp, before
    return known[1]


def _grown(account: Account, total: Account, bills: Counter[tuple[str, str]]) -> bool:
    """Return whether `account` has `bills` now: where only few were added since, and none taken back."""
    more = bills - account.bills
    if account.highest != total.highest or more.total() > SINGLY or account.bills - bills:
        return False
    for texts in more.elements():
        account.add(*texts, bound=total.bound)
    return True


def _capped(accounts: Accounts, key: AccountKey, quote: Quote, limits: Limits) -> Cost:
    """Return others' bill in whole steps, but not above all that their shares ever allowed together.

    What the local owner asked has no share; it counts on top, in whole steps of its own. So nothing
    but steps and limits is told, also where a share was lowered below what it had paid. A share that
    fits by one of epsilon and rho may hold more of the other than its limit says: where one does,
    that one is not capped.

    Guarantee: never below others' bill in the region.
    """
    told = coarse(in_region(others_of(accounts, key), quote), limits)
    shares = [
        (limits_of(*account.highest), account.top)
        for (budget, analyst), account in accounts.by_key.items()
        if budget == key[0] and analyst not in (None, key[1]) and account.highest is not None
    ]
    owner = coarse(in_region(owner_of(accounts, key[0]), quote), limits)
    most = _together((share.epsilon, top.epsilon) for share, top in shares)
    most_rho = _together((share.rho, top.rho) for share, top in shares)
    return replace(
        told,
        epsilon=_least(told.epsilon, owner.epsilon, most),
        rho=_least(told.rho, owner.rho, most_rho),
    )


def _together(shares: Iterable[tuple[Fraction, Fraction | None]]) -> Fraction | None:
    """Return the sum of limits, each beside what was paid under it; None: somebody has paid more."""
    total = Fraction(0)
    for limit, paid in shares:
        if paid is None or paid > limit:
            return None
        total += limit
    return total


def owner_of(accounts: Accounts, budget: str) -> Account:
    """Return the account of what the local owner asked: all charges that came out of no share."""
    total = accounts.account(budget)
    bills = Counter(total.bills)
    for (name, analyst), account in accounts.by_key.items():
        if name == budget and analyst is not None:
            bills -= account.bills
    return replace(total, bills=bills, _worst=None, _resolution=None)


def _least(told: Fraction | None, owner: Fraction | None, most: Fraction | None) -> Fraction | None:
    if told is None or owner is None or most is None:
        return told
    return min(told, owner + most)


def _fits(limits: Limits, theirs: Cost, mine: Cost, quote: Quote) -> bool:
    return limits.allows(theirs + mine + quote.cost)


def no_room(total: Account, quote: Quote, left: Fraction = Fraction(0)) -> BudgetExceeded:
    """Return the refusal that an analyst gets when others' use leaves no room."""
    assert total.limit is not None
    asked = quote.cost.epsilon
    shown = "this" if asked is None else f"epsilon {plain(asked)}"
    step = plain(total.limit.epsilon.value / STEPS)
    fits = f"At most epsilon {plain_below(left)} fits here. " if left else "Nothing fits here. "
    return BudgetExceeded(
        f"The budget of '{total.limit.budget}' has no room for {shown} beside what others have used "
        "on the people whom this asks about. Nothing was charged.",
        hint=f"{fits}Others' use counts in steps of {step}; the data owner may raise the limit.",
        asked="" if asked is None else plain(asked),
        left=plain_below(left),
        limit=str(total.limit.epsilon),
    )


class RefusalCounts:
    """How often each analyst was told in this hour that others leave no room."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._hour = -1
        self._told: dict[AccountKey, int] = {}

    def so_far(self) -> Told:
        """Return how often whom, in this hour."""
        return self._hour, dict(self._told)

    def go_on(self, told: Told) -> None:
        """Count on from what another process has told."""
        self._hour, self._told = told[0], dict(told[1])

    def since(self, told: Told) -> list[tuple[int, str, str | None, int]]:
        """Return what was told here after `told`: hour, budget, analyst and how often."""
        before = told[1] if told[0] == self._hour else {}
        found = ((key, n - before.get(key, 0)) for key, n in self._told.items())
        return [(self._hour, *key, more) for key, more in found if more]

    def add(self, told: Iterable[tuple[int, str, str | None, int]]) -> None:
        """Count what a process that went on from here has told."""
        for hour, budget, analyst, times in told:
            if hour > self._hour:
                self._hour, self._told = hour, {}
            if hour == self._hour:
                key = (budget, analyst)
                self._told[key] = self._told.get(key, 0) + times

    def counted(self, key: AccountKey, look: Callable[[], T]) -> T:
        """Return what `look` finds; that it does not fit is told MOST_REFUSALS times an hour.

        Then nothing is looked up.

        Guarantee: an analyst learns of others' spending, for nothing, at most so many coarse answers
            an hour for each budget, from one server and the processes of its jobs: these go on from
            its count (`go_on`), and what they tell is added to it (`add`).
        """
        hour = int(self._clock() // HOUR)
        if hour != self._hour:
            self._hour, self._told = hour, {}
        if self._told.get(key, 0) >= MOST_REFUSALS:
            raise TooManyRequests(
                "Too many of your questions did not fit beside what others have used. Nothing was "
                "charged.",
                hint="Ask again in the next hour.",
            )
        try:
            return look()
        except BudgetExceeded:
            self._told[key] = self._told.get(key, 0) + 1
            raise
