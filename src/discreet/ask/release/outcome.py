"""Idempotent paid requests: whatever comes after a charge is stored, final, and returned again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from discreet.base.proof import Permit
from discreet.errors import AnswerLost, LedgerBusy, LedgerError, LedgerWriteFailed, StillRunning
from discreet.privacy.ledger.entry import Receipt
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.ledger.outcomes import WaitOrAnswer, missing_answer

PATIENCE = 60.0
"""Seconds to wait for somebody else's answer to the same request."""
PAUSES = (0.1, 0.5, 2.0)
"""Seconds before storing an answer that is in hand is tried again."""
SHORTEST, LONGEST = 0.005, 0.25
"""Seconds between two looks at whether it is there."""


def once(
    ledger: Ledger,
    receipt: Receipt,
    compute: Callable[[Permit], bytes],
    *,
    patience: float = PATIENCE,
) -> bytes:
    """Return the one answer of a paid request: stored before, computed now, or by somebody else.

    Guarantee: over all threads, processes, crashes and repetitions, `compute` is called at most
        once for each charge, after the mark "begun" is durable, with the permit that this gave. What it returns or raises is entered
        before it is passed on, and is what every later call gets, without touching a row. A request
        whose computing process ended without an outcome raises AnswerLost, for ever; one that is
        being computed is waited for, then StillRunning. (note 0032)
    """
    end, pause = time.monotonic() + patience, SHORTEST
    stored = _stored(ledger, receipt) if receipt.repeated else None
    while stored is None:
        try:
            turn = ledger.outcomes.take(receipt)
        except LedgerBusy:
            raise LedgerBusy(
                "The ledger is in use by another process. The charge stands.",
                hint="Ask again under the same request id: nothing is charged twice.",
            ) from None
        if isinstance(turn, Permit):
            return _computed(ledger, receipt, partial(compute, turn))
        if turn is WaitOrAnswer.OVER:
            stored = _stored(ledger, receipt)
            if stored is None:
                raise missing_answer(receipt.request_id)
        elif time.monotonic() >= end:
            raise StillRunning
        else:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)
    return stored


def _kept(ledger: Ledger, receipt: Receipt, answer: bytes) -> bytes:
    """Return the answer after storing it; a lost connection or a busy ledger is tried again.

    If it cannot be stored, it is lost, and that is what is entered: whatever the ledger lacked just
    now, rows were looked at, so asking again under this id will not help.
    """
    for pause in PAUSES:
        try:
            return ledger.store_answer(receipt, answer)
        except (LedgerBusy, LedgerWriteFailed):
            time.sleep(pause)
    try:
        return ledger.store_answer(receipt, answer)
    except LedgerBusy:
        raise _lost(ledger, receipt) from None
    except BaseException:
        _ended(ledger, receipt, AnswerLost())
        raise


def _stored(ledger: Ledger, receipt: Receipt) -> bytes | None:
    return ledger.stored_answer(receipt.request_id, receipt.payer.analyst)


def _computed(ledger: Ledger, receipt: Receipt, compute: Callable[[], bytes]) -> bytes:
    try:
        return _kept(ledger, receipt, _looked(ledger, receipt, compute))
    finally:
        ledger.outcomes.let_go(receipt)


def _looked(ledger: Ledger, receipt: Receipt, compute: Callable[[], bytes]) -> bytes:
    try:
        return compute()
    except (LedgerBusy, LedgerWriteFailed):
        # Its own words are of another entry, and say that nothing was charged and that one may ask again.
        raise _lost(ledger, receipt) from None
    except BaseException as error:
        _ended(ledger, receipt, error)
        raise


def _lost(ledger: Ledger, receipt: Receipt) -> AnswerLost:
    """Enter that the answer is lost for want of the ledger, and return what says so."""
    lost = AnswerLost(
        "The ledger was in use by another process for too long, so the answer could not be kept "
        "and is lost; the charge stands."
    )
    _ended(ledger, receipt, lost)
    return lost


def _ended(ledger: Ledger, receipt: Receipt, error: BaseException) -> None:
    # If this cannot be written either, the request stays begun, and is lost from now on.
    with suppress(LedgerError):
        ledger.outcomes.fail(receipt, error)
