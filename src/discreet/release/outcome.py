"""One look for one charge: whatever comes after a charge is stored, final, and returned again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from discreet.errors import LedgerError, StillRunning
from discreet.ledger.entry import Receipt
from discreet.ledger.ledger import Ledger
from discreet.ledger.outcomes import Turn, missing_answer

PATIENCE = 60.0
"""Seconds to wait for somebody else's answer to the same request."""
SHORTEST, LONGEST = 0.005, 0.25
"""Seconds between two looks at whether it is there."""


def once(
    ledger: Ledger,
    receipt: Receipt,
    compute: Callable[[], bytes],
    *,
    patience: float = PATIENCE,
) -> bytes:
    """Return the one answer of a paid request: stored before, computed now, or by somebody else.

    Guarantee: over all threads, processes, crashes and repetitions, `compute` is called at most
        once for each charge, after the mark "begun" is durable. What it returns or raises is entered
        before it is passed on, and is what every later call gets, without touching a row. A request
        whose computing process ended without an outcome raises AnswerLost, for ever; one that is
        being computed is waited for, then StillRunning. (note 0032)
    """
    end, pause = time.monotonic() + patience, SHORTEST
    stored = _stored(ledger, receipt) if receipt.repeated else None
    while stored is None:
        turn = ledger.outcomes.take(receipt)
        if turn is Turn.MINE:
            return _computed(ledger, receipt, compute)
        if turn is Turn.OVER:
            stored = _stored(ledger, receipt)
            if stored is None:
                raise missing_answer(receipt.request_id)
        elif time.monotonic() >= end:
            raise StillRunning
        else:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)
    return stored


def _stored(ledger: Ledger, receipt: Receipt) -> bytes | None:
    return ledger.stored_answer(receipt.request_id, receipt.payer.analyst)


def _computed(ledger: Ledger, receipt: Receipt, compute: Callable[[], bytes]) -> bytes:
    try:
        return ledger.store_answer(receipt, compute())
    except BaseException as error:
        # If this cannot be written either, the request stays begun, and is lost from now on.
        with suppress(LedgerError):
            ledger.outcomes.fail(receipt, error)
        raise
    finally:
        ledger.outcomes.let_go(receipt)
