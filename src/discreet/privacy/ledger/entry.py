"""Entries of the ledger: the hash chain that links them, who pays, what was charged, what has been spent.

Each link names the hash of the one before it, so no line can change unseen. Entries, receipts, balances and
the states of a paid request are frozen values; nothing here opens or writes a store.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from discreet.base.bill import Bill, Spent
from discreet.base.event import FREE, Cost, Region
from discreet.base.numbers import plain, read_fraction
from discreet.base.proof import canonical, link_hash
from discreet.errors import InvalidInput, LedgerTampered


@dataclass(frozen=True, slots=True)
class Link:
    """One line of the history exactly as it is stored; `body` is canonical JSON."""

    position: int
    kind: str
    body: str
    previous: str
    hash: str


def digest(position: int, kind: str, previous: str, body: str) -> str:
    """Return the hash of a link; the separators cannot occur in `kind` or `previous`."""
    return link_hash(f"{position}\n{kind}\n{previous}", body.encode())


def link(position: int, kind: str, data: dict[str, Any], *, previous: str) -> Link:
    """Return the next link of a chain whose last hash is `previous`."""
    body = canonical(data)
    return Link(position, kind, body, previous, digest(position, kind, previous, body))


def is_whole(item: Link) -> bool:
    """Return whether a link says what its hash was made of."""
    return item.hash == digest(item.position, item.kind, item.previous, item.body)


def checked(links: Iterable[Link], *, position: int, previous: str) -> Iterator[Link]:
    """Yield `links`, each after checking that it continues the chain.

    Guarantee: if the hash of the last link is known to be right, every byte of every link is what
    was written (SHA-256 has no known collisions). A flipped, missing, doubled or moved line raises
    LedgerTampered before the line is used.
    """
    for item in links:
        if item.position != position or item.previous != previous or not is_whole(item):
            raise LedgerTampered(
                f"The ledger's history is damaged at entry {position}: it does not match its own "
                "hash.",
                hint="Restore a backup: discreet ledger restore PATH --reason TEXT.",
            )
        yield item
        position, previous = item.position + 1, item.hash


SHORTEST_RUN = 2
"""Charges that were made together are at least so many; one alone is no run."""


def run_after(run: tuple[int, int] | None, position: int, together: Any) -> tuple[int, int] | None:
    """Return the run of charges that goes on after the entry at `position`, None if none does.

    Charges that were made together stand side by side in the chain; half of such a run is no history. A run is where it begins and how many they are: `run` the one that was open before the entry,
    `together` what the entry says of its own, None for every entry that is no part of one.

    Guarantee: raises ValueError unless every run is whole, unbroken and as long as all of it say.
    """
    if together is None:
        if run is not None:
            raise ValueError("a run of charges is broken off")
        return None
    first, many = together
    end = first + many
    started = position == first if run is None else run == (first, many)
    if not started or many < SHORTEST_RUN or position >= end:
        raise ValueError("a charge is not where its run says")
    return (first, many) if position + 1 < end else None


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


MAX_NAME = 200
"""Longest request id, analyst, dataset or budget name, in characters."""


@dataclass(frozen=True, slots=True)
class Payer:
    """Who asks, about what, and which budget pays; `analyst` None is the local owner."""

    analyst: str | None
    dataset: str
    budget: str

    def __post_init__(self) -> None:
        for name, value in (("dataset", self.dataset), ("budget", self.budget)):
            checked_name(value, name=name)
        if self.analyst is not None:
            checked_name(self.analyst, name="analyst")


@dataclass(frozen=True, slots=True)
class Balance:
    """How much of a limit is spent, for the worst-hit person."""

    limit_epsilon: Fraction
    limit_delta: Fraction
    epsilon: Fraction
    delta: Fraction

    @property
    def left(self) -> Fraction:
        """Return the epsilon that is left, never below 0."""
        return max(Fraction(0), self.limit_epsilon - self.epsilon)

    @property
    def spent(self) -> Spent:
        """Return what is spent."""
        return Spent(self.epsilon, self.delta)

    @property
    def limit(self) -> Spent:
        """Return what may be spent."""
        return Spent(self.limit_epsilon, self.limit_delta)

    def to_json(self) -> dict[str, str]:
        """Return exact text, the form that the history keeps."""
        return {each.name: str(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, str]) -> Balance:
        """Return the balance that `to_json` wrote."""
        return cls(*(read_fraction(data[each.name]) for each in fields(cls)))

    def __str__(self) -> str:
        return f"epsilon {plain(self.epsilon)} of {plain(self.limit_epsilon)}"


class BudgetAlert(Enum):
    """What an owner is told before questions are refused, and after."""

    NEARLY_SPENT = "nearly spent"
    SPENT = "spent"


def part_used(spent: Balance) -> Fraction:
    """Return the part of a limit that is used: of epsilon or of delta, whichever ends first."""
    parts = [spent.epsilon / spent.limit_epsilon]
    if spent.limit_delta:
        parts.append(spent.delta / spent.limit_delta)
    return min(Fraction(1), max(parts))


def alert_of(spent: Balance, mark: Fraction) -> BudgetAlert | None:
    """Return the alert of a budget whose owner wants to know from `mark` on; None before that."""
    used = part_used(spent)
    if used >= 1:
        return BudgetAlert.SPENT
    return BudgetAlert.NEARLY_SPENT if used >= mark else None


@dataclass(frozen=True, slots=True)
class SpentSoFar(Balance):
    """What a budget, or one analyst's share of it, has paid, and the people who paid most."""

    charges: int
    worst: Region


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of a durable charge: whoever holds one may ask `Outcomes.take` for the permit of its one look.

    `before` and `after` are the payer's own view: an analyst's share, or the owner's budget.
    `repeated`: the request id had been charged before; nothing was charged now. `link`: the hash of the
    charge in the chain, which is that of no other.
    """

    request_id: str
    position: int
    payer: Payer
    cost: Cost
    before: Balance
    after: Balance
    time: dt.datetime
    link: str
    repeated: bool = False

    @property
    def bill(self) -> Bill:
        """Return what is to be said of this charge; a repeated one costs nothing again."""
        cost = FREE if self.repeated else self.cost
        return replace(bill_of(cost, self.before, self.after), free=self.repeated)


def bill_of(cost: Cost, before: Balance, after: Balance) -> Bill:
    """Return the bill of a cost that leads a payer from one balance to another."""
    return Bill(
        cost=Spent.of(cost),
        before=before.spent,
        after=after.spent,
        limit=after.limit,
        free=cost == FREE,
    )


def free_bill(balance: Balance) -> Bill:
    """Return the bill of what nothing was charged for."""
    return bill_of(FREE, balance, balance)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the history, for people: its kind, when it was written, and its facts."""

    position: int
    kind: str
    time: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, link: Link) -> Entry:
        """Return what `link` says."""
        try:
            data = json.loads(link.body)
            return cls(link.position, link.kind, data["time"], data)
        except (KeyError, TypeError, ValueError):
            raise LedgerTampered(f"Entry {link.position} of the ledger is malformed.") from None


def receipt_of(link: Link, *, repeated: bool) -> Receipt:
    """Return the receipt of a charge."""
    data = Entry.of(link).data
    return Receipt(
        request_id=data["request_id"],
        position=link.position,
        payer=Payer(data["analyst"], data["dataset"], data["budget"]),
        cost=Cost.from_json(data["cost"]),
        before=Balance.from_json(data["before"]),
        after=Balance.from_json(data["after"]),
        time=dt.datetime.fromisoformat(data["time"]),
        link=link.hash,
        repeated=repeated,
    )


def fingerprint(payer: Payer, body: str) -> str:
    """Return what a request id stands for: this body, asked by this payer and nobody else.

    The payer is part of it so that nobody can fetch another analyst's answer by naming its id.
    """
    asked = {"analyst": payer.analyst, "dataset": payer.dataset, "budget": payer.budget}
    return hashlib.sha256(canonical(asked | {"body": body}).encode()).hexdigest()


def answer_key(analyst: str | None, request_id: str) -> str:
    """Return the name under which an answer is stored: each analyst has a namespace of their own.

    Names are printable, so the line break cannot occur in either of them. 0.1.0 had one namespace
    for all, and stored answers under the bare id.
    """
    return f"{analyst or ''}\n{request_id}"


def now() -> str:
    """Return the time in UTC; it informs people and decides nothing, clocks may be wrong."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def checked_name(text: str, *, name: str) -> str:
    """Return `text`, or refuse a name that is empty, too long or not printable."""
    if not text or len(text) > MAX_NAME or not text.isprintable():
        raise InvalidInput(
            f"{name} must be 1 to {MAX_NAME} printable characters.",
        )
    return text


def checked_text(text: str, *, name: str) -> str:
    """Return `text`, or refuse characters that not every store can keep."""
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidInput(f"{name} contains characters that cannot be stored.")
    return text
