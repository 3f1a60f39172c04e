"""Outcomes of paid requests: who may compute, and what has finally become of each of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from discreet.base.proof import Permit, permit_for
from discreet.errors import AnswerLost, DiscreetError, LedgerError, LedgerTampered, from_facts
from discreet.privacy.ledger.charge import require_held
from discreet.privacy.ledger.entry import AccountState, ChargeOutcome, Receipt
from discreet.privacy.ledger.session import CachedAccounts
from discreet.privacy.ledger.store import Store


class WaitOrAnswer(Enum):
    """What whoever holds a receipt and gets no permit is to do now."""

    OVER = "deliver what is stored"
    RUNNING = "wait"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The states of paid requests: paid, begun, and then answered, failed or lost for good.

    Guarantee: of all callers with receipts of one charge, in whatever threads and processes and
        whenever any of them is killed, `take` gives a permit to at most one, after the mark "begun" is
        durable; a receipt alone opens no rows. The first of answered, failed and lost that is entered is final. A charge that was
        begun is lost only once the process that began it has ended or let go. (note 0032)
    """

    store: Store
    kept: CachedAccounts

    def state(self, position: int) -> ChargeOutcome | None:
        """Return what has become of the charge at `position`; None: it was not begun."""
        with self.kept.current() as accounts:
            return accounts.outcomes.get(position)

    def take(self, receipt: Receipt) -> Permit | WaitOrAnswer:
        """Return the permit to one caller, once for ever; raise what a failed or lost request ended in."""
        known = self._known(receipt) if receipt.repeated else None
        if known is not None and known.state is AccountState.BEGUN and self.alive(receipt.position):
            return WaitOrAnswer.RUNNING
        if known is None or known.state is AccountState.BEGUN:
            known = self._settled(receipt)
        if known is None:
            return permit_for(receipt.payer.dataset, receipt.link)
        if known.state is AccountState.BEGUN:
            return WaitOrAnswer.RUNNING
        if known.state is AccountState.ANSWERED:
            return WaitOrAnswer.OVER
        raise error_of(known)

    def _known(self, receipt: Receipt) -> ChargeOutcome | None:
        with self.kept.current() as accounts:
            require_held(accounts, self.store, receipt)
            return accounts.outcomes.get(receipt.position)

    def _settled(self, receipt: Receipt) -> ChargeOutcome | None:
        """Return how the request stands after one exclusive look; None: begun now, by us."""
        position, claimed = receipt.position, False
        try:
            with self.kept.session() as session:
                require_held(session.accounts, session.writer, receipt)
                found = session.accounts.outcomes.get(position)
                if found is not None and found.state is not AccountState.BEGUN:
                    return found
                claimed = self.store.claim(position)
                if not claimed:
                    return ChargeOutcome(AccountState.BEGUN)
                session.append("begun" if found is None else "lost", {"charge": position})
        except BaseException:
            if claimed:
                self._let_go(position)
            raise
        if found is None:
            return None  # the claim is held until the outcome is entered
        self._let_go(position)
        return ChargeOutcome(AccountState.LOST)

    def alive(self, position: int) -> bool:
        """Return whether somebody works on the charge at `position` right now."""
        with self.kept.guarded():
            if not self.store.claim(position):
                return True
            self.store.let_go(position)
            return False

    def fail(self, receipt: Receipt, error: BaseException) -> None:
        """Enter how a begun request failed; the same words are its answer from now on.

        What was not foreseen is kept as lost: its own words might hold a value. A receipt of a lost
        history ends nothing, see `require_held`.
        """
        said = error if isinstance(error, DiscreetError) else AnswerLost()
        with self.kept.session() as session:
            require_held(session.accounts, session.writer, receipt)
            found = session.accounts.outcomes.get(receipt.position)
            if found is None or found.state is AccountState.BEGUN:
                session.append("failed", {"charge": receipt.position, "error": said.facts()})

    def let_go(self, receipt: Receipt) -> None:
        """Say that this process no longer works on it."""
        self._let_go(receipt.position)

    def _let_go(self, position: int) -> None:
        # A store that cannot be reached any more has dropped the claim by itself.
        with self.kept.guarded(), suppress(LedgerError):
            self.store.let_go(position)


def error_of(outcome: ChargeOutcome) -> DiscreetError:
    """Return the error that a failed or lost request ends in, every time in the same words."""
    said: dict[str, Any] | None = outcome.error
    return AnswerLost() if said is None else from_facts(said)


def missing_answer(request_id: str) -> LedgerTampered:
    """Return the error of a request whose answer was entered and is no longer there."""
    return LedgerTampered(
        f"The answer of request '{request_id}' is missing.",
        hint="Restore a backup: discreet ledger restore PATH --reason TEXT.",
    )
