"""Random lives of a ledger with every kind of entry, and all that a book knows, to compare two."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.base.event import EVERYONE, Positions, Region
from discreet.errors import BudgetExceeded, DiscreetError, EngineFailed, InvalidInput
from discreet.privacy.ledger import BudgetPolicy, Cap, Charge, Ledger, Payer, Policy, checkpoint
from discreet.privacy.ledger.accounts import Accounts, _asked
from discreet.privacy.ledger.checkpoint import facts_of
from discreet.privacy.ledger.entry import Entry
from discreet.privacy.ledger.history import load
from discreet.privacy.ledger.reports import record_state
from ledger_kit import begin, quote

URL = "sqlite:ledger.db"
WHO = (None, "alice", "bob")
REGIONS = (
    EVERYONE,
    *(Region.of({"sex": Positions.points([turn])}) for turn in range(3)),
    *(
        Region.of({"age": Positions.of([(turn, 9)]), "sex": Positions.points([0])})
        for turn in range(4)
    ),
    Region.of({"sex": Positions.of([])}),
)
AMOUNTS = ("1/10", "1/3", "0.05")


def checkpointed(ledger: Ledger) -> bool:
    """Return whether a checkpoint was made now, however little was entered."""
    with ledger.session() as session:
        accounts = session.accounts
    return checkpoint.make(ledger._store, accounts)


class Life:
    """A ledger to which something random happens, again and again."""

    def __init__(self, base: Path, seed: int) -> None:
        self.base = base
        self.rng = random.Random(seed)
        self.shares = {"alice": "300", "bob": "200"}
        self.limit = "400"
        self.names: list[tuple[Payer, str]] = []
        self.receipts: list[Any] = []
        self.copies: list[Path] = []
        self.made = 0
        self.ledger = self.opened()
        self.acts = [
            *[self.charge] * 4,
            *[self.take, self.answer, self.fail] * 2,
            self.together,
            self.free,
            self.reserved_before,
            self.expose,
            self.snapshot,
            self.version,
            self.release,
            self.move_limit,
            self.clear,
            self.lost,
            self.old_charge,
            self.copy,
        ]

    @property
    def policy(self) -> Policy:
        caps = {who: {"census": Cap.of(most)} for who, most in self.shares.items()}
        return Policy({"census": BudgetPolicy.of(self.limit), "more": BudgetPolicy.of("9")}, caps)

    def opened(self) -> Ledger:
        return Ledger.open(URL, self.policy, base=self.base)

    def live(self, steps: int, *, checkpoints: float = 0.15) -> None:
        for _ in range(steps):
            try:
                self.rng.choice(self.acts)()
            except (BudgetExceeded, InvalidInput, EngineFailed):
                continue
            if self.rng.random() < checkpoints:
                self.made += checkpointed(self.ledger)
            if self.rng.random() < 0.05:
                self.reopen()

    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = self.opened()

    def payer(self) -> Payer:
        who = self.rng.choice([None, *self.shares])
        return Payer(who, self.rng.choice(["census", "visits"]), "census")

    def name(self) -> str:
        return f"r{self.rng.randrange(10**9)}"

    def quote(self):
        return quote(self.rng.choice(AMOUNTS), self.rng.choice(REGIONS))

    def charge(self) -> None:
        payer, name = self.payer(), self.name()
        question = f"question {self.rng.randrange(4)}"
        self.receipts.append(
            self.ledger.charge(payer, self.quote(), request_id=name, body=name, question=question)
        )
        self.names.append((payer, name))

    def together(self) -> None:
        bills = [Charge(self.quote(), self.name(), "body") for _ in range(self.rng.choice([2, 3]))]
        self.receipts += self.ledger.charge_all(self.payer(), bills)

    def take(self) -> None:
        if self.receipts:
            receipt = self.rng.choice(self.receipts)
            try:
                self.ledger.outcomes.take(receipt)
            except DiscreetError:
                return
            self.ledger.outcomes.let_go(receipt)

    lost = take  # a second one that takes it finds that the first has let go

    def answer(self) -> None:
        if self.receipts:
            try:
                self.ledger.store_answer(self.rng.choice(self.receipts), self.rng.randbytes(9))
            except DiscreetError:
                return

    def fail(self) -> None:
        if self.receipts:
            error = self.rng.choice([EngineFailed("It failed."), ValueError("x")])
            self.ledger.outcomes.fail(self.rng.choice(self.receipts), error)

    def free(self) -> None:
        name = self.name()
        self.ledger.stored.keep_free(self.payer(), b"free", request_id=name, body=name)

    def reserved_before(self) -> None:
        """Enter what earlier versions did where an amount was reserved: it moves nothing."""
        with self.ledger.session() as session:
            session.append("draw", {"reservation": 2, "cost": quote("1/10").cost.to_json()})
            session.append("settle", {"reservation": 2, "kept": quote("1/10").cost.to_json()})

    def expose(self) -> None:
        columns = self.rng.sample(["age", "sex", "pay"], 2)
        self.ledger.record_exposure("census", reason="a test", columns=columns)
        self.ledger.record_look("census", reason="a test")

    def snapshot(self) -> None:
        """Enter what earlier versions did when they saw a content."""
        data = {"table": self.rng.choice(["people", "visits"])}
        with self.ledger.session() as session:
            session.append("snapshot", data | {"fingerprint": str(self.rng.randrange(5))})

    def version(self) -> None:
        begin(self.ledger, self.rng.choice(["people", "visits"]), str(self.rng.randrange(5)))

    def release(self) -> None:
        named = {"dataset": "census", "release": "first", "state": "draft"}
        record_state(self.ledger, **named, who="owner", digest="")

    def move_limit(self) -> None:
        self.limit = self.rng.choice(["400", "500", "450"])
        self.shares = dict(self.rng.sample([("alice", "300"), ("bob", "200"), ("eve", "90")], 2))
        self.reopen()

    def clear(self) -> None:
        for each in self.ledger.incidents.open()[:1]:
            self.ledger.incidents.clear(each.request_id, reason="a test")

    def old_charge(self) -> None:
        """Enter a charge as 0.1.0 did, which had no marks."""
        name = self.name()
        cost, region = quote("1/10").cost.to_json(), self.rng.choice(REGIONS).to_json()
        balance = {"limit_epsilon": "1", "limit_delta": "0", "epsilon": "0", "delta": "0"}
        data = {"request_id": name, "body": "x", "analyst": None, "dataset": "census"}
        data |= {"budget": "census", "cost": cost, "region": region, "event": "", "note": ""}
        data |= {"reserved": False, "question": "", "snapshot": "", "share": None}
        with self.ledger.session() as session:
            bound = session.accounts.account("census").peak().to_json()
            session.append("charge", data | {"total": bound, "before": balance, "after": balance})

    def copy(self) -> None:
        if self.copies and self.rng.random() < 0.5:
            self.ledger.close()
            path = self.rng.choice(self.copies)
            self.ledger = Ledger.restore(URL, self.policy, path, base=self.base, reason="a test")
            self.receipts, self.names = [], []
        else:
            self.copies.append(self.base / f"copy{len(self.copies)}.db")
            self.ledger.backup(self.copies[-1])


def everything(accounts: Accounts, whole: Accounts, store: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all that `accounts` knows, asked for by the names that `whole` knows."""
    yield "facts", facts_of(accounts)
    for key in [*whole.requests, (None, "nobody asked"), ("alice", "nobody asked")]:
        yield key, accounts.requests.get(key)
    charges = sorted(at for places in whole.charged.values() for at in places)
    for at in sorted({*charges, *whole.requests.values()}):
        yield (
            ("outcome", at),
            (accounts.outcomes.get(at), at in accounts.outcomes, accounts.sealed.get(at)),
        )
        yield ("asked", at), _asked(accounts, at)
        yield ("link", at), Entry.of(accounts.link(store, at))
    for who in (*WHO, "eve"):
        yield ("count", who), accounts.count_charged(who)
        for last in (1, 3, 10**6):
            yield ("last", who, last), accounts.last_charged(who, last)
    for key, account in accounts.by_key.items():
        if account.highest:
            yield ("peak", key), (account.peak(), account.where(0), account.top)


@contextmanager
def both(ledger: Ledger) -> Iterator[tuple[Accounts, Accounts]]:
    """Lend the book of the whole history, and the one that the checkpoint leads to."""
    limits = ledger._kept.limits
    yield load(ledger._store, limits, whole=True), load(ledger._store, limits)


def differences(ledger: Ledger) -> list[Any]:
    """Return what the book from the checkpoint knows otherwise than the whole history says."""
    with both(ledger) as (whole, short):
        expected = dict(everything(whole, whole, ledger._store))
        found = dict(everything(short, whole, ledger._store))
    return [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
