"""What the history adds up to: every limit in force, every bill and every version of the data.

All of it is rebuilt from the entries. A version says which state of some tables queries read, by a number that only grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias
from weakref import WeakMethod

from discreet.base.event import Cost, larger
from discreet.base.proof import ROOT, canonical
from discreet.errors import EngineFailed, InternalError, LedgerTampered
from discreet.privacy.ledger.budget import Account, Limit, is_below_zero
from discreet.privacy.ledger.checkpoint_records import EarlierEntries, RecentThenPast
from discreet.privacy.ledger.entry import (
    FREE_ANSWER,
    AccountState,
    ChargeOutcome,
    Entry,
    Incident,
    Link,
    run_after,
)
from discreet.privacy.ledger.store import ChainLinks

BEGAN = {
    "first": "it was asked about for the first time as it is declared now",
    "owner": "its owner said so",
    "period": "a new period began",
    "change": "its rows had changed",
    "declaration": "its declaration had changed",
    "lost": "the stored rows of the one before were gone",
}
"""Why versions begin."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version that is to begin: of which tables, which state of each, how declared, when and why.

    `group` is a table by the engine's name, or all tables of a dataset whose units are rows. `prints`
    has the fingerprint of each table that could be read: it depends on rows, so it is for the ledger
    and the owner alone. `declared` has a hash of every table's declaration.
    """

    group: str
    prints: Mapping[str, str]
    declared: Mapping[str, str]
    period: str
    why: str

    def to_json(self) -> dict[str, Any]:
        """Return what the history keeps."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DataVersion(NewVersion):
    """A version with its number, and when it began."""

    number: int = 0
    began: str = ""

    @classmethod
    def of(cls, data: Mapping[str, Any], *, began: str) -> DataVersion:
        """Return what the history kept."""
        if data["why"] not in BEGAN or type(data["number"]) is not int:
            raise ValueError(data["why"])
        return cls(
            group=data["group"],
            prints=dict(data["prints"]),
            declared=dict(data["declared"]),
            period=data["period"],
            why=data["why"],
            number=data["number"],
            began=began,
        )


UNKNOWN_LOSS = 1_000_000
"""More versions than a ledger of which nobody knows how much was lost can have had."""


@dataclass
class Versions:
    """The version in force of each group, and the greatest number that each table has had."""

    _latest: dict[str, DataVersion] = field(default_factory=dict)
    _greatest: dict[str, int] = field(default_factory=dict)
    _floor: int = 0
    """A number that no table has had, of those that have none here."""

    def latest(self, group: str) -> DataVersion | None:
        """Return the version in force of a group."""
        return self._latest.get(group)

    def next_number(self, new: NewVersion) -> int:
        """Return a number that none of these tables has had."""
        return 1 + max((self._number_of(table) for table in new.declared), default=self._floor)

    def enter(self, version: DataVersion) -> None:
        """Count a version that began; one that is not above all before it is none of ours.

        Guarantee: it ends every version of any of its tables, in whatever group that was.
        """
        if version.number < self.next_number(version):
            raise ValueError(version.number)
        for table in version.declared:
            self.leave_out(table, version.number)
        tables = version.declared.keys()
        going_on = {g: v for g, v in self._latest.items() if tables.isdisjoint(v.declared)}
        self._latest = {**going_on, version.group: version}

    def leave_out(self, table: str, number: int) -> None:
        """Give no version of a table this number any more, or a smaller one."""
        self._greatest[table] = max(self._number_of(table), number)

    def end_all(self, lost: int) -> None:
        """End every version after a restore; `lost` entries may each have begun one, -1 if unknown."""
        more = UNKNOWN_LOSS if lost < 0 else lost
        self._latest = {}
        self._greatest = {table: number + more for table, number in self._greatest.items()}
        self._floor += more

    def _number_of(self, table: str) -> int:
        return self._greatest.get(table, self._floor)

    def to_json(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {
            "latest": [asdict(version) for version in self._latest.values()],
            "greatest": self._greatest,
            "floor": self._floor,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Versions:
        """Return what `to_json` was told of."""
        latest = [DataVersion(**each) for each in data["latest"]]
        return cls({each.group: each for each in latest}, dict(data["greatest"]), data["floor"])


EVERY = 64
"""The chain's hash is remembered at every position that this divides."""
AccountKey: TypeAlias = tuple[str, str | None]
"""A budget, and the analyst whose share of it is meant; None is the budget as a whole."""


@dataclass  # without slots: `rest_on` changes several fields in one step
class Accounts:
    """Everything that follows from the history up to `position`.

    `charged` holds where each analyst's charges stand, oldest first; None is the local owner.
    `exposed` holds the columns of each dataset that left it without any guarantee, in order.
    `versions` has those that questions read, `earlier_contents` what earlier ledgers numbered instead.
    `requests` has where each analyst's request ids were paid; `outcomes` what became of them, and
    `sealed` the hash of what was answered. `beside` remembers what others than an analyst have paid
    (`refusal.py`). `asked` has what is asked by charges that have not ended, `incidents` the statements
    on which the database failed, by dataset and statement. `run` is where several charges made together
    begin and how many they are, while some of them are still to come.

    Where the accounts were opened from a checkpoint, `past` tells what came before it, and `charged`,
    `failed`, `milestones` and `asked` hold what came since. `failed` has where failures were entered,
    `milestones` hashes of the chain; `restored` is the last restore: a charge before it was begun.
    """

    position: int = -1
    hash: str = ROOT
    genesis: str = ROOT
    by_key: dict[AccountKey, Account] = field(default_factory=dict)
    requests: RecentThenPast[tuple[str | None, str], int] = field(default_factory=RecentThenPast)
    outcomes: RecentThenPast[int, ChargeOutcome] = field(default_factory=RecentThenPast)
    sealed: RecentThenPast[int, str] = field(default_factory=RecentThenPast)
    charged: dict[str | None, list[int]] = field(default_factory=dict)
    paid_by: dict[str, str] = field(default_factory=dict)
    earlier_contents: dict[str, dict[str, int]] = field(default_factory=dict)
    versions: Versions = field(default_factory=Versions)
    exposed: dict[str, dict[str, None]] = field(default_factory=dict)
    asked: dict[int, Incident] = field(default_factory=dict)
    incidents: dict[tuple[str, str], Incident] = field(default_factory=dict)
    beside: dict[AccountKey, tuple[tuple[int, Limit | None], Account]] = field(default_factory=dict)
    run: tuple[int, int] | None = None
    past: EarlierEntries | None = None
    failed: dict[int, int] = field(default_factory=dict)
    milestones: dict[int, str] = field(default_factory=dict)
    restored: int = -1

    def __post_init__(self) -> None:
        self.outcomes.earlier = self._looking_before()

    def rest_on(self, past: EarlierEntries) -> None:
        """Hold no longer what `past` tells, which covers everything up to here.

        In one step: an interrupt in the midst would leave accounts that count some of it twice.
        """
        fresh = Accounts(past=past)
        fresh.requests.earlier, fresh.sealed.earlier = past.request, past.seal
        fresh.outcomes.earlier = self._looking_before()
        changed = [
            "past",
            "requests",
            "outcomes",
            "sealed",
            "charged",
            "asked",
            "failed",
            "milestones",
        ]
        self.__dict__.update({name: getattr(fresh, name) for name in changed})

    def _looking_before(self) -> Callable[[int], ChargeOutcome | None]:
        """Return `_outcome_before` without holding on to these accounts: they go, with their checkpoint's open
        files, as soon as nobody has them."""
        method = WeakMethod(self._outcome_before)

        def look(position: int) -> ChargeOutcome | None:
            alive = method()
            assert alive is not None  # whoever looks has the accounts
            return alive(position)

        return look

    def _outcome_before(self, position: int) -> ChargeOutcome | None:
        found = None if self.past is None else self.past.outcome(position)
        # What was not begun when the backup was made may have been begun since.
        return _BEGUN if found is None and position < self.restored else found

    def last_charged(self, analyst: str | None, last: int) -> list[int]:
        """Return where the `last` charges of an analyst stand, oldest first."""
        since = self.charged.get(analyst, [])[-last:]
        earlier = self.past.charged(analyst, last - len(since)) if self.past else []
        return earlier + since

    def count_charged(self, analyst: str | None) -> int:
        """Return how many charges an analyst has made."""
        earlier = self.past.count(analyst) if self.past else 0
        return earlier + len(self.charged.get(analyst, ()))

    def link(self, store: ChainLinks, position: int) -> Link | None:
        """Return the link at `position`: one before the checkpoint is checked against the chain."""
        if self.past is not None and 0 <= position <= self.past.position:
            return self.past.link(position)
        return store.find(position)

    def stored(self, store: ChainLinks, position: int) -> Link:
        """Return the link at a position that these accounts know."""
        found = self.link(store, position)
        if found is None:
            raise InternalError(f"entry {position} vanished from the store")
        return found

    def account(self, budget: str, analyst: str | None = None) -> Account:
        """Return the account, new if nothing was ever entered in it."""
        found = self.by_key.get((budget, analyst))
        if found is None:
            found = self.by_key[budget, analyst] = Account()
        return found

    def apply(self, link: Link) -> None:
        """Enter one verified link."""
        rule = _RULES.get(link.kind)
        if rule is None:
            raise LedgerTampered(
                f"Entry {link.position} of the ledger is of an unknown kind, '{link.kind[:40]}'.",
                hint="Was it written by a newer version of Discreet?",
            )
        try:
            entry = Entry.of(link)
            together = entry.data.get("together") if entry.kind == "charge" else None
            self.run = run_after(self.run, entry.position, together)
            rule(self, entry)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            raise LedgerTampered(f"Entry {link.position} of the ledger is malformed.") from None
        if link.position == 0:
            self.genesis = link.hash
        self.position, self.hash = link.position, link.hash
        if link.position % EVERY == 0:
            self.milestones[link.position] = link.hash

    def forget_tried(self) -> None:
        """Count no charge any more that was tried in a transaction and is not durable."""
        for account in self.by_key.values():
            account.forget_tried()

    def require_whole(self) -> Accounts:
        """Return these accounts, or refuse a history that ends amid charges that were made together."""
        if self.run is not None:
            raise LedgerTampered(
                f"The ledger ends at entry {self.position}, amid charges that were made together.",
                hint="Restore a backup: discreet ledger restore PATH --reason TEXT.",
            )
        return self

    def totals(self) -> dict[AccountKey, Cost]:
        """Return the bound of every account that has paid anything."""
        return {key: account.top for key, account in self.by_key.items() if account.charges}

    def bounds(self) -> dict[AccountKey, Mapping[str, Any]]:
        """Return the totals as the JSON that is at hand."""
        return {key: account.bound for key, account in self.by_key.items() if account.charges}

    def keep_at_least(self, totals: Mapping[AccountKey, Cost]) -> None:
        """Raise the recorded bounds to `totals`: an entry that somebody forged may claim less."""
        for key, total in totals.items():
            account = self.account(*key)
            account.bound = larger([total, account.top]).to_json()


def _note(accounts: Accounts, entry: Entry) -> None:
    """Enter a line that moves no amount."""


def _expose(accounts: Accounts, entry: Entry) -> None:
    columns = accounts.exposed.setdefault(entry.data["dataset"], {})
    columns.update(dict.fromkeys(entry.data["columns"]))


def _earlier_content(accounts: Accounts, entry: Entry) -> None:
    """Enter what was written before versions had numbers of their own: one for each content."""
    table = entry.data["table"]
    seen = accounts.earlier_contents.setdefault(table, {})
    accounts.versions.leave_out(table, seen.setdefault(entry.data["fingerprint"], len(seen) + 1))


def _version(accounts: Accounts, entry: Entry) -> None:
    accounts.versions.enter(DataVersion.of(entry.data, began=entry.time))


def _limit(accounts: Accounts, entry: Entry) -> None:
    data = entry.data
    budget, analyst, new = data["budget"], data["analyst"], data["new"]
    limit = None if new is None else Limit.from_json(budget, analyst, new)
    accounts.account(budget, analyst).set_limit(limit)


def _charge(accounts: Accounts, entry: Entry) -> None:
    data, texts = entry.data, (canonical(entry.data["region"]), canonical(entry.data["cost"]))
    if is_below_zero(texts[1]):
        raise LedgerTampered(f"Entry {entry.position} of the ledger has an amount below 0.")
    accounts.requests[data["analyst"], data["request_id"]] = entry.position
    if "looks" not in data:
        # Written by 0.1.0, which did not say when it began: it may have looked.
        accounts.outcomes[entry.position] = _BEGUN
    else:
        accounts.asked[entry.position] = _statement(entry)
    accounts.charged.setdefault(data["analyst"], []).append(entry.position)
    accounts.paid_by.setdefault(data["dataset"], data["budget"])
    for analyst, bound in _bounds(data):
        account = accounts.account(data["budget"], analyst)
        account.add(*texts, bound=bound)


def _begun(accounts: Accounts, entry: Entry) -> None:
    accounts.outcomes[entry.data["charge"]] = _BEGUN


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


def _clear(accounts: Accounts, entry: Entry) -> None:
    cleared = entry.data["charge"]
    open_still = {key: each for key, each in accounts.incidents.items() if each.position != cleared}
    accounts.incidents = open_still


def _answered(accounts: Accounts, entry: Entry) -> None:
    accounts.asked.pop(entry.data["charge"], None)
    accounts.outcomes[entry.data["charge"]] = ChargeOutcome(AccountState.ANSWERED)
    accounts.sealed[entry.data["charge"]] = entry.data["digest"]


def _free(accounts: Accounts, entry: Entry) -> None:
    accounts.requests[entry.data["analyst"], entry.data["request_id"]] = entry.position
    accounts.outcomes[entry.position] = ChargeOutcome(AccountState.ANSWERED)
    accounts.sealed[entry.position] = entry.data["digest"]


def _failed(accounts: Accounts, entry: Entry) -> None:
    charge, error = entry.data["charge"], entry.data["error"]
    asked = _asked(accounts, charge) if error["kind"] == EngineFailed.__name__ else None
    accounts.asked.pop(charge, None)
    if asked is not None:
        accounts.incidents.setdefault((asked.dataset, asked.statement), asked)
    accounts.outcomes[charge] = ChargeOutcome(AccountState.FAILED, error)
    accounts.failed[charge] = entry.position


def _asked(accounts: Accounts, charge: int) -> Incident | None:
    """Return what is asked by a charge that has not ended."""
    if accounts.past is None or not 0 <= charge <= accounts.past.position:
        return accounts.asked.get(charge)
    known = accounts.outcomes.get(charge)
    paid = accounts.past.link(charge)
    if paid.kind != "charge" or (known is not None and known.state is not AccountState.BEGUN):
        return None
    entry = Entry.of(paid)
    return _statement(entry) if "looks" in entry.data else None


def _lost(accounts: Accounts, entry: Entry) -> None:
    accounts.asked.pop(entry.data["charge"], None)
    accounts.outcomes[entry.data["charge"]] = ChargeOutcome(AccountState.LOST)


_BEGUN = ChargeOutcome(AccountState.BEGUN)


def _restore(accounts: Accounts, entry: Entry) -> None:
    accounts.restored = entry.position
    lost = entry.data.get("lost", -1)
    if lost:
        accounts.versions.end_all(lost)
    for budget, analyst, total in entry.data["totals"]:
        accounts.account(budget, analyst).flatten(Cost.from_json(total))


def _bounds(data: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    yield None, data["total"]
    if data["analyst"] is not None:
        yield data["analyst"], data["share"]


_RULES: dict[str, Callable[[Accounts, Entry], None]] = {
    "genesis": _note,
    "exposure": _expose,
    "look": _note,
    "release": _note,
    "snapshot": _earlier_content,
    "version": _version,
    "limit": _limit,
    "charge": _charge,
    "begun": _begun,
    "answered": _answered,
    FREE_ANSWER: _free,
    "failed": _failed,
    "clear": _clear,
    "lost": _lost,
    # What was reserved stays charged in full, whatever was drawn of it or given back.
    "draw": _note,
    "settle": _note,
    "restore": _restore,
}
