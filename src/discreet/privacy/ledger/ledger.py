"""The ledger: charge() is one atomic check-and-append, durable before it returns."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

from discreet.base.event import Quote
from discreet.base.proof import Permit, permit_for
from discreet.privacy.ledger.accounts import DataVersion, NewVersion
from discreet.privacy.ledger.answers import Answers, unsealed
from discreet.privacy.ledger.backup import bring_back, write_copy
from discreet.privacy.ledger.budget import Policy
from discreet.privacy.ledger.charge import (
    Charge,
    Incidents,
    charged,
    foreseen,
    known_account,
    priced,
    repeated,
)
from discreet.privacy.ledger.entry import (
    FREE_ANSWER,
    MARKS,
    Balance,
    Entry,
    Link,
    Payer,
    Receipt,
    SpentSoFar,
    checked_name,
    fingerprint,
)
from discreet.privacy.ledger.head import KnownHead, known_heads
from discreet.privacy.ledger.history import limit_changes, load, open_store
from discreet.privacy.ledger.outcomes import Outcomes
from discreet.privacy.ledger.refusal import RefusalCounts
from discreet.privacy.ledger.session import CachedAccounts, LedgerTransaction
from discreet.privacy.ledger.store import Store


class Ledger:
    """The budget book of one catalog; safe to share among threads, forks and processes.

    Guarantee: for every budget, the bound on the worst-hit person's bill over all granted charges
    satisfies the limit in force at each grant, whatever the number of processes and whenever any
    of them is killed (note 0011). No receipt exists without a charge that survives loss of power.
    """

    def __init__(self, store: Store, policy: Policy) -> None:
        self._store = store
        self._kept = kept = CachedAccounts(store, frozenset(policy.limits()))
        self.probes = RefusalCounts()
        self.outcomes = Outcomes(store, kept)
        self.stored = Answers(store, kept)
        self.incidents = Incidents(kept)

    @classmethod
    def open(
        cls,
        url: str,
        policy: Policy,
        *,
        base: Path,
        who: str = "owner",
        adopts: bool = True,
        known: KnownHead | None = None,
    ) -> Ledger:
        """Return the ledger at `url`, its history checked, with `policy` in force.

        `url` is "sqlite:FILE" (relative to `base`) or "postgresql://...". A limit that differs
        from the one in force is changed, and the change becomes an entry signed by `who`; unless
        `adopts` is False, for a child process of whoever had put `policy` in force: by now another may
        be. `known` is what that one has seen of this ledger.
        """
        store = open_store(url, base=base)
        known_heads.remember(store.head_path, known)
        try:
            ledger = cls(store, policy)
            if adopts:
                ledger._begin(policy, who)
        except BaseException:
            store.close()
            raise
        return ledger

    @property
    def identity(self) -> str:
        """Return what tells this ledger from every other one: the hash of its first entry."""
        return self._kept.accounts.genesis

    def _begin(self, policy: Policy, who: str) -> None:
        if self._kept.accounts.position < 0 or limit_changes(self._kept.accounts, policy):
            with self.session() as session:
                if session.accounts.position < 0:
                    session.append("genesis", {"ledger": uuid.uuid4().hex})
                for change in limit_changes(session.accounts, policy):
                    session.append("limit", change | {"who": who})
        # Whoever may charge has seen to it that there is a head, so a charge without one is a sign
        # of tampering, also when several processes give birth to one ledger.
        self._kept.advance()
        self._kept.keep_checkpoint()

    def charge(
        self,
        payer: Payer,
        quote: Quote,
        *,
        request_id: str,
        body: str,
        question: str = "",
        note: str = "",
        snapshot: str = "",
        asker: str = "",
    ) -> Receipt:
        """Return a receipt for `quote`, charged to everyone in its region.

        The same request id with the same body, from the same payer, returns its first receipt
        again, marked `repeated`, and charges nothing. Each analyst has a namespace of ids. Raises
        BudgetExceeded or RequestConflict; the latter also where nothing was begun under this id and
        the data or the price have changed since. `asker` is written down where another than the
        payer asked: it informs people and decides nothing.

        Guarantee: the check and the entry are one transaction that excludes all other processes;
        when this returns, the entry is on the disk and so is the head outside the store.
        """
        charge = Charge(quote, request_id, body, question, note, snapshot)
        return self.charge_all(payer, [charge], asker=asker)[0]

    def charge_all(
        self, payer: Payer, charges: Sequence[Charge], *, asker: str = ""
    ) -> tuple[Receipt, ...]:
        """Return a receipt for each bill of one statement, all of them charged or none.

        As `charge` for each of them. Whether all fit is decided before the first is entered, each
        on top of those before it.

        Guarantee: one transaction that excludes all other processes enters all of them, durably, or
        nothing: also where the process is killed at any moment of it. (note 0060)
        """
        checked = [charge.checked() for charge in charges]
        with self.session() as session:
            found = charged(session, self._store, payer, checked, probes=self.probes, asker=asker)
        return tuple(found)

    def receipt(self, payer: Payer, *, request_id: str, body: str) -> Receipt | None:
        """Return the receipt of this very request if it was charged before; nothing is charged.

        Raises RequestConflict where the id was used for another question.
        """
        asked = fingerprint(payer, f"charge {body}")
        with self._kept.current() as accounts:
            return repeated(self._store, accounts, payer, request_id, asked)

    def foreseen(self, payer: Payer, quote: Quote) -> tuple[Balance, Balance]:
        """Return the payer's balance now, and as it would be after this charge; charges nothing.

        An analyst foresees the own share only: the whole also holds what others asked.
        """
        with self._kept.current() as accounts:
            return foreseen(accounts, payer, quote)

    def check_room(self, payer: Payer, quote: Quote) -> None:
        """Refuse what `charge` would refuse for want of budget; charges nothing."""
        with self._kept.current() as accounts:
            priced(accounts, payer, quote, self.probes)

    def store_answer(self, receipt: Receipt, payload: bytes) -> bytes:
        """Return the answer now stored for `receipt`: `payload`, or the one that came first.

        Send what this returns, never `payload` itself: then a request that ran twice at once has
        one answer.
        """
        return self.stored.keep(receipt, payload)

    def stored_answer(self, request_id: str, analyst: str | None = None) -> bytes | None:
        """Return the answer that this analyst's request got, if one was stored."""
        return self.stored.by_id(request_id, analyst)

    def answers(
        self, analyst: str | None, dataset: str, snapshot: str, *, last: int = 1_000_000
    ) -> list[tuple[str, str, bytes]]:
        """Return (request id, question, answer) of what this analyst was told last, in order."""
        with self._kept.guarded():
            found = self._store.answers(
                dataset=dataset, analyst=analyst or "", snapshot=snapshot, last=last
            )
        return [
            (item.asked_as, item.question, item.payload)
            for item in self.stored.checked_against_chain(found)
        ]

    def find_answer(
        self, analyst: str | None, dataset: str, question: str, snapshot: str
    ) -> tuple[str, bytes] | None:
        """Return the latest (request id, answer) to this very question, if there is one."""
        with self._kept.guarded():
            found = self._store.latest_answer(
                dataset=dataset, analyst=analyst or "", snapshot=snapshot, question=question
            )
        for item in self.stored.checked_against_chain([found] if found else []):
            return item.asked_as, item.payload
        return None

    def record_exposure(
        self, dataset: str, *, reason: str, columns: Sequence[str] = (), note: str = ""
    ) -> Permit:
        """Write down that something leaves this dataset without any guarantee; return what may read it."""
        return self._record("exposure", dataset, reason, columns, note)

    def record_look(
        self, dataset: str, *, reason: str, columns: Sequence[str] = (), note: str = ""
    ) -> Permit:
        """Write down that the owner looks at rows without paying, which it permits; nothing may be released."""
        return self._record("look", dataset, reason, columns, note)

    def _record(
        self, kind: str, dataset: str, reason: str, columns: Sequence[str], note: str
    ) -> Permit:
        checked_name(dataset, name="dataset")
        data = {"dataset": dataset, "reason": reason, "columns": list(columns), "note": note}
        with self.session() as session:
            entered = session.append(kind, data)
        return permit_for(dataset, entered.hash)

    def version(self, group: str) -> DataVersion | None:
        """Return the version of these tables that is in force; None where none has begun."""
        with self._kept.current() as accounts:
            return accounts.versions.latest(group)

    def begin_version(self, new: NewVersion, *, after: DataVersion | None) -> DataVersion | None:
        """Return the version of these tables that begins now, in the place of `after`.

        None where another began since: whoever asks looks again.

        Guarantee: its number is above every number that any of its tables has had, in whatever group.
        """
        with self.session() as session:
            known = session.accounts.versions
            if known.latest(new.group) != after:
                return None
            session.append("version", new.to_json() | {"number": known.next_number(new)})
        return self.version(new.group)

    def exposures(self, dataset: str) -> list[Entry]:
        """Return every release from `dataset` that had no guarantee, oldest first."""
        return [
            entry
            for entry in self._entries()
            if entry.kind == "exposure" and entry.data["dataset"] == dataset
        ]

    def exposed(self, dataset: str) -> tuple[str, ...] | None:
        """Return the columns that left `dataset` without a guarantee; None if nothing ever did."""
        with self._kept.current() as accounts:
            found = accounts.exposed.get(dataset)
        return None if found is None else tuple(found)

    def spent(self, budget: str, analyst: str | None = None) -> SpentSoFar:
        """Return what the worst-hit person has paid, and who that is.

        Which people are the worst-hit follows from all analysts' questions: for the owner only.
        """
        with self._kept.current() as accounts:
            account = known_account(accounts, budget, analyst)
            bill = account.peak()
            worst = account.where(2 if bill.epsilon is None else 0)
            balance = asdict(account.balance(bill))
            return SpentSoFar(**balance, charges=account.charges, worst=worst)

    def balance(self, budget: str) -> Balance:
        """Return what the worst-hit person has paid, as the latest entry recorded it: no search."""
        with self._kept.current() as accounts:
            account = known_account(accounts, budget, None)
            return account.balance(account.top)

    @property
    def budgets(self) -> tuple[str, ...]:
        """Return the names of all budgets in force, sorted."""
        with self._kept.current() as accounts:
            keys = [key for key, account in accounts.by_key.items() if account.limit is not None]
        return tuple(sorted(budget for budget, analyst in keys if analyst is None))

    def history(self, budget: str | None = None, *, last: int | None = None) -> list[Entry]:
        """Return the `last` entries, oldest first: of one budget, or of the whole ledger.

        How a request ended is told with its charge (`standing`), not as entries of their own.
        """
        with self._kept.current() as accounts:
            end = accounts.position + 1
        reach = end if last is None else 4 * last
        while True:  # the earlier ones are not even read
            start = max(0, end - reach)
            found = [
                entry
                for entry in self._entries(start)
                if entry.kind not in MARKS
                and entry.kind != FREE_ANSWER
                and (budget is None or entry.data.get("budget") in (None, budget))
            ]
            if last is None or len(found) >= last or not start:
                return found if last is None else found[-last:] if last > 0 else []
            reach *= 2

    def charges(self, analysts: Collection[str | None], *, last: int) -> list[Entry]:
        """Return the `last` charges of these analysts, oldest first; no others are read."""
        if last <= 0:
            return []
        with self._kept.current() as accounts:
            places = [place for who in analysts for place in accounts.last_charged(who, last)]
            return [
                Entry.of(accounts.stored(self._store, place)) for place in sorted(places)[-last:]
            ]

    def charge_of(self, analyst: str | None, request_id: str) -> Entry | None:
        """Return the charge of this analyst's request; None if nothing was charged under its id."""
        with self._kept.current() as accounts:
            position = accounts.requests.get((analyst, request_id))
            return None if position is None else Entry.of(accounts.stored(self._store, position))

    def count(self, analysts: Collection[str | None]) -> int:
        """Return how many charges these analysts have made."""
        with self._kept.current() as accounts:
            return sum(map(accounts.count_charged, analysts))

    def verify(self) -> int:
        """Return how many entries there are, after checking each, every answer, head and store."""
        return self.examine()[0]

    def examine(self) -> tuple[int, int]:
        """Return how many entries there are, all checked, and how many answers lie outside the seal.

        Those were stored by 0.1.0: their bytes may have been changed by whoever can write the file.
        """
        with self._kept.guarded():
            self._store.examine()
            accounts = load(self._store, self._kept.limits, whole=True)
            return accounts.position + 1, unsealed(
                self._store, accounts, self._store.every_answer()
            )

    def backup(self, path: Path) -> int:
        """Return the number of entries copied to the new file `path`, as of one moment.

        The copy is a whole ledger in one SQLite file, whatever store this one lies in.
        """
        self.verify()
        with self.session() as session:  # nobody charges while we read
            links = list(session.writer.links(start=0))
            answers = list(self._store.every_answer())
        write_copy(path, links, answers)
        return len(links)

    @classmethod
    def restore(
        cls,
        url: str,
        policy: Policy,
        path: Path,
        *,
        base: Path,
        reason: str,
        who: str = "owner",
    ) -> Ledger:
        """Return the ledger at `url` after replacing its history by the backup at `path`.

        What was spent since the backup stays spent, see `bring_back`. The ledger at hand need not
        be in a state to be opened, but nobody may be using it.
        """
        bring_back(url, path, policy=policy, base=base, reason=reason, who=who)
        return cls.open(url, policy, base=base, who=who)

    def known(self) -> KnownHead | None:
        """Return what is remembered of this ledger, as of now: for a process that goes on from here."""
        with self._kept.current():
            return known_heads.at(self._store.head_path)

    def close(self) -> None:
        """Let go of the store and of all files; a later call opens and reads them again."""
        self._kept.close()

    def discard(self) -> None:
        """Close, and remember nothing of a ledger whose folder is thrown away."""
        self.close()
        known_heads.forget(self._store.head_path)

    def session(self) -> AbstractContextManager[LedgerTransaction]:
        """Return one exclusive transaction; what it appends is entered once it is durable."""
        return self._kept.session()

    def links(self, *, start: int = 0) -> list[Link]:
        """Return the history from `start` on exactly as it is stored: for excerpts of the chain."""
        return self._kept.links(start=start)

    def _entries(self, start: int = 0) -> list[Entry]:
        return [Entry.of(item) for item in self.links(start=start)]
