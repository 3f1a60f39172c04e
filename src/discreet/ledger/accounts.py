"""What the history adds up to: every limit in force and every bill, rebuilt from its entries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any, TypeAlias

from discreet.account.filter import Limits
from discreet.core.cost import FREE, Cost, larger
from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import EVERYONE, Region
from discreet.errors import EngineFailed, LedgerTampered
from discreet.ledger.chain.links import ROOT, Link, canonical
from discreet.ledger.entry import Balance, Entry
from discreet.ledger.integer_amounts import CEILING, COMPONENTS, Quanta
from discreet.ledger.policy import Limit
from discreet.ledger.worst.worst_hit import Worst

Key: TypeAlias = tuple[str, str | None]
"""A budget, and the analyst whose share of it is meant; None is the budget as a whole."""


@dataclass(slots=True)
class Account:
    """The bill of one budget or of one analyst's share of it.

    `bills` counts how often each (region, cost) was charged, as exact text; `bound` is what the
    latest entry recorded for the worst-hit person. The fast view `_worst` is derived from the bills
    when first needed, and again when the limit changes.
    """

    limit: Limit | None = None
    last_limit: Limit | None = None
    bound: Mapping[str, Any] = field(default_factory=FREE.to_json)
    charges: int = 0
    bills: Counter[tuple[str, str]] = field(default_factory=Counter)
    _highest: tuple[Epsilon, Delta] | None = None
    _limits: Limits | None = None
    _quanta: Quanta | None = None
    _worst: Worst | None = None

    def set_limit(self, limit: Limit | None) -> None:
        """Put `limit` in force; the counting unit follows the highest limit there ever was."""
        self.limit, self._limits, self._worst = limit, None, None
        if limit is not None:
            self.last_limit = limit
            old = self._highest
            self._highest = (
                (max(old[0], limit.epsilon), max(old[1], limit.delta))
                if old
                else (limit.epsilon, limit.delta)
            )

    @property
    def highest(self) -> tuple[Epsilon, Delta] | None:
        """Return the highest limits that ever were in force; None if there was none."""
        return self._highest

    @property
    def limits(self) -> Limits:
        """Return the filters of the limit in force."""
        assert self.limit is not None
        if self._limits is None:
            self._limits = limits_of(self.limit.epsilon, self.limit.delta)
        return self._limits

    def _view(self) -> tuple[Worst, Quanta]:
        if self._worst is None or self._quanta is None:
            assert self._highest is not None
            highest = limits_of(*self._highest)
            self._quanta = Quanta.of(highest.epsilon, highest.delta, highest.rho, highest.rho_delta)
            assert self.last_limit is not None
            neighbours = self.last_limit.neighbours
            self._worst = Worst(COMPONENTS, ceiling=(CEILING,) * COMPONENTS, neighbours=neighbours)
            self._worst.extend(self._billed(self._quanta))
        return self._worst, self._quanta

    def _billed(self, quanta: Quanta) -> Iterator[tuple[Region, tuple[int, ...]]]:
        for (region, cost), times in self.bills.items():
            if times:
                amounts = quanta.amounts(_cost(cost))
                yield _region(region), tuple(min(CEILING, times * amount) for amount in amounts)

    def peak(self) -> Cost:
        """Return a bound on what the worst-hit person has paid, component by component."""
        worst, quanta = self._view()
        return quanta.cost(tuple(worst.peak()))

    def peak_with(self, region: Region, cost: Cost) -> Cost:
        """Return that bound as it would be after charging `cost` to everyone in `region`."""
        worst, quanta = self._view()
        if region.empty:
            return quanta.cost(tuple(worst.peak()))
        return quanta.cost(tuple(worst.peak_with(region, quanta.amounts(cost))))

    def where(self, component: int) -> Region:
        """Return the people with the greatest bill."""
        return self._view()[0].where(component) if self.charges else EVERYONE

    @property
    def top(self) -> Cost:
        """Return the bound that the latest entry recorded; it needs no view."""
        return Cost.from_json(dict(self.bound))

    def balance(self, cost: Cost) -> Balance:
        """Return `cost` against the limit in force."""
        assert self.limit is not None
        epsilon, delta = self.limits.spent(cost)
        return Balance(self.limit.epsilon.value, self.limit.delta.value, epsilon, delta)

    def add(
        self, region: Mapping[str, Any], cost: Mapping[str, Any], *, bound: Mapping[str, Any]
    ) -> None:
        """Enter one charge that led to `bound`."""
        texts = canonical(dict(region)), canonical(dict(cost))
        self.charges += 1
        self.bound = bound
        box = _region(texts[0])
        if box.empty:
            return
        self.bills[texts] += 1
        if self._worst is not None and self._quanta is not None:
            self._worst.add(box, self._quanta.amounts(_cost(texts[1])))

    def swapped(self, region: Mapping[str, Any], old: Cost, new: Cost) -> Cost:
        """Return the bound as it would be after `swap`."""
        copy = replace(self, bills=Counter(self.bills))
        copy.swap(region, old, new, bound={})
        return copy.peak()

    def swap(
        self, region: Mapping[str, Any], old: Cost, new: Cost, *, bound: Mapping[str, Any]
    ) -> None:
        """Replace one charge of `old` by `new`."""
        box = canonical(dict(region))
        if _region(box).empty:
            return
        self.bills[box, canonical(old.to_json())] -= 1
        self.bills[box, canonical(new.to_json())] += 1
        self.bound, self._worst = bound, None

    def flatten(self, total: Cost) -> None:
        """Forget who paid what: from now on everyone has paid `total`."""
        self.bills = Counter({(canonical(EVERYONE.to_json()), canonical(total.to_json())): 1})
        self.charges += 1
        self.bound, self._worst = total.to_json(), None


class AccountState(Enum):
    """How far a paid request has come. One that was paid and not begun has no state yet."""

    BEGUN = "begun"
    ANSWERED = "answered"
    FAILED = "failed"
    LOST = "lost"


MARKS = frozenset(state.value for state in AccountState)
"""The kinds of entries that say how far a request has come, one for each state."""
ENDINGS = MARKS - {AccountState.BEGUN.value}
"""Those that end one. The head need not know them: cut off, a begun request is lost, for ever."""
FREE_ANSWER = "free"
"""The kind of entries that tie a request id to an answer that cost nothing."""


@dataclass(frozen=True, slots=True)
class ChargeOutcome:
    """What has become of a request; `error` is what a failed one says, in words."""

    state: AccountState
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Incident:
    """A statement on which the database failed after its charge, and who had asked it."""

    position: int
    dataset: str
    statement: str
    analyst: str | None
    request_id: str
    note: str


@dataclass(slots=True)
class Reservation:
    """An amount charged up front, and what has been drawn from it so far."""

    data: Mapping[str, Any]
    cost: Cost
    drawn: Cost = FREE
    settled: bool = False


@dataclass(slots=True)
class Accounts:
    """Everything that follows from the history up to `position`.

    `charged` holds where each analyst's charges stand, oldest first; None is the local owner.
    `exposed` holds the columns of each dataset that left it without any guarantee, in order.
    `requests` has where each analyst's request ids were paid; `outcomes` what became of them, and
    `sealed` the hash of what was answered. `beside` remembers what others than an analyst have paid
    (`beside.py`). `asked` has what is asked by charges that have not ended, `incidents` the statements
    on which the database failed, by dataset and statement.
    """

    position: int = -1
    hash: str = ROOT
    genesis: str = ROOT
    accounts: dict[Key, Account] = field(default_factory=dict)
    requests: dict[tuple[str | None, str], int] = field(default_factory=dict)
    outcomes: dict[int, ChargeOutcome] = field(default_factory=dict)
    sealed: dict[int, str] = field(default_factory=dict)
    charged: dict[str | None, list[int]] = field(default_factory=dict)
    paid_by: dict[str, str] = field(default_factory=dict)
    reservations: dict[int, Reservation] = field(default_factory=dict)
    snapshots: dict[str, dict[str, int]] = field(default_factory=dict)
    exposed: dict[str, dict[str, None]] = field(default_factory=dict)
    asked: dict[int, Incident] = field(default_factory=dict)
    incidents: dict[tuple[str, str], Incident] = field(default_factory=dict)
    beside: dict[Key, tuple[tuple[int, Limit | None], Account]] = field(default_factory=dict)

    def account(self, budget: str, analyst: str | None = None) -> Account:
        """Return the account, new if nothing was ever entered in it."""
        return self.accounts.setdefault((budget, analyst), Account())

    def apply(self, link: Link) -> None:
        """Enter one verified link."""
        rule = _RULES.get(link.kind)
        if rule is None:
            raise LedgerTampered(
                f"Entry {link.position} of the ledger is of an unknown kind, '{link.kind[:40]}'.",
                hint="Was it written by a newer version of Discreet?",
            )
        try:
            rule(self, Entry.of(link))
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            raise LedgerTampered(f"Entry {link.position} of the ledger is malformed.") from None
        if link.position == 0:
            self.genesis = link.hash
        self.position, self.hash = link.position, link.hash

    def after_refund(self, reservation: Reservation, kept: Cost) -> dict[str, Any]:
        """Return the bounds after a reservation shrinks to `kept`, as facts of an entry."""
        data, tops = reservation.data, {}
        for name, analyst in (("total", None), ("share", data["analyst"])):
            if name == "total" or analyst is not None:
                account = self.account(data["budget"], analyst)
                tops[name] = account.swapped(data["region"], reservation.cost, kept).to_json()
        return tops

    def totals(self) -> dict[Key, Cost]:
        """Return the bound of every account that has paid anything."""
        return {key: account.top for key, account in self.accounts.items() if account.charges}

    def keep_at_least(self, totals: Mapping[Key, Cost]) -> None:
        """Raise the recorded bounds to `totals`: an entry that somebody forged may claim less."""
        for key, total in totals.items():
            account = self.account(*key)
            account.bound = larger([total, account.top]).to_json()


def _note(book: Accounts, entry: Entry) -> None:
    """Enter a line that moves no amount."""


def _expose(book: Accounts, entry: Entry) -> None:
    columns = book.exposed.setdefault(entry.data["dataset"], {})
    columns.update(dict.fromkeys(entry.data["columns"]))


def _snapshot(book: Accounts, entry: Entry) -> None:
    versions = book.snapshots.setdefault(entry.data["table"], {})
    # Once for each content: entered again, two contents would have one number.
    versions.setdefault(entry.data["fingerprint"], len(versions) + 1)


def _limit(book: Accounts, entry: Entry) -> None:
    data = entry.data
    budget, analyst, new = data["budget"], data["analyst"], data["new"]
    limit = None if new is None else Limit.from_json(budget, analyst, new)
    book.account(budget, analyst).set_limit(limit)


def _charge(book: Accounts, entry: Entry) -> None:
    data, cost = entry.data, _amount(entry)
    book.requests[data["analyst"], data["request_id"]] = entry.position
    if "looks" not in data:
        # Written by 0.1.0, which did not say when it began: it may have looked.
        book.outcomes[entry.position] = _BEGUN
    elif not data["reserved"]:
        book.asked[entry.position] = _statement(entry)
    book.charged.setdefault(data["analyst"], []).append(entry.position)
    book.paid_by.setdefault(data["dataset"], data["budget"])
    for analyst, bound in _bounds(data):
        account = book.account(data["budget"], analyst)
        account.add(data["region"], data["cost"], bound=bound)
    if data["reserved"]:
        book.reservations[entry.position] = Reservation(data, cost)


def _draw(book: Accounts, entry: Entry) -> None:
    reservation = book.reservations[entry.data["reservation"]]
    reservation.drawn += _amount(entry)


def _amount(entry: Entry) -> Cost:
    cost = _cost(canonical(entry.data["cost"]))
    parts = (cost.epsilon, cost.delta, cost.rho, cost.rho_delta)
    if any(part is not None and part < 0 for part in parts):
        raise LedgerTampered(f"Entry {entry.position} of the ledger has an amount below 0.")
    return cost


def _settle(book: Accounts, entry: Entry) -> None:
    data = entry.data
    reservation = book.reservations[data["reservation"]]
    reservation.settled = True
    if data["kept"] is not None:
        kept = Cost.from_json(data["kept"])
        for analyst, bound in _bounds(data):
            account = book.account(data["budget"], analyst)
            account.swap(reservation.data["region"], reservation.cost, kept, bound=bound)


def _begun(book: Accounts, entry: Entry) -> None:
    book.outcomes[entry.data["charge"]] = _BEGUN


def _statement(entry: Entry) -> Incident:
    data = entry.data
    return Incident(
        entry.position,
        data["dataset"],
        data["question"] or data["note"],
        data["analyst"],
        data["request_id"],
        data["note"],
    )


def _clear(book: Accounts, entry: Entry) -> None:
    cleared = entry.data["charge"]
    open_still = {key: each for key, each in book.incidents.items() if each.position != cleared}
    book.incidents = open_still


def _answered(book: Accounts, entry: Entry) -> None:
    book.asked.pop(entry.data["charge"], None)
    book.outcomes[entry.data["charge"]] = ChargeOutcome(AccountState.ANSWERED)
    book.sealed[entry.data["charge"]] = entry.data["digest"]


def _free(book: Accounts, entry: Entry) -> None:
    book.requests[entry.data["analyst"], entry.data["request_id"]] = entry.position
    book.outcomes[entry.position] = ChargeOutcome(AccountState.ANSWERED)
    book.sealed[entry.position] = entry.data["digest"]


def _failed(book: Accounts, entry: Entry) -> None:
    asked = book.asked.pop(entry.data["charge"], None)
    if asked is not None and entry.data["error"]["kind"] == EngineFailed.__name__:
        book.incidents.setdefault((asked.dataset, asked.statement), asked)
    book.outcomes[entry.data["charge"]] = ChargeOutcome(AccountState.FAILED, entry.data["error"])


def _lost(book: Accounts, entry: Entry) -> None:
    book.asked.pop(entry.data["charge"], None)
    book.outcomes[entry.data["charge"]] = ChargeOutcome(AccountState.LOST)


_BEGUN = ChargeOutcome(AccountState.BEGUN)


def _restore(book: Accounts, entry: Entry) -> None:
    # What was not begun when the backup was made may have been begun since.
    for places in book.charged.values():
        for position in places:
            book.outcomes.setdefault(position, _BEGUN)
    for budget, analyst, total in entry.data["totals"]:
        book.account(budget, analyst).flatten(Cost.from_json(total))


def _bounds(data: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    yield None, data["total"]
    if data["analyst"] is not None:
        yield data["analyst"], data["share"]


_RULES: dict[str, Callable[[Accounts, Entry], None]] = {
    "genesis": _note,
    "exposure": _expose,
    "look": _note,
    "release": _note,
    "snapshot": _snapshot,
    "limit": _limit,
    "charge": _charge,
    "begun": _begun,
    "answered": _answered,
    FREE_ANSWER: _free,
    "failed": _failed,
    "clear": _clear,
    "lost": _lost,
    "draw": _draw,
    "settle": _settle,
    "restore": _restore,
}


@lru_cache(maxsize=256)
def limits_of(epsilon: Epsilon, delta: Delta) -> Limits:
    """Return the filters of a limit, remembered: their rho takes a search."""
    return Limits.of(epsilon, delta)


@lru_cache(maxsize=4096)
def _cost(text: str) -> Cost:
    return Cost.from_json(json.loads(text))


@lru_cache(maxsize=4096)
def _region(text: str) -> Region:
    return Region.from_json(json.loads(text))
