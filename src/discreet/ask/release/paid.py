"""paid(): charge, mark as begun, compute with a paid reader, store the outcome; in that order, in every room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from discreet.ask.release.outcome import once
from discreet.data.engines.base import Held, PaidReader
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import Payer, Receipt
from discreet.privacy.ledger.ledger import Ledger

Compute: TypeAlias = Callable[[PaidReader, Receipt], bytes]
"""What is done once for a charge: from the rows, and from what was paid, to what is stored."""


def paid(
    payer: Payer, charge: Charge, compute: Compute, *, held: Held, ledger: Ledger
) -> tuple[Receipt, bytes]:
    """Return the receipt of one paid piece of work, and what is stored of it; see `paid_together`."""
    (found,) = paid_together(payer, [(charge, compute)], held=held, ledger=ledger)
    return found


def paid_together(
    payer: Payer, works: Sequence[tuple[Charge, Compute]], *, held: Held, ledger: Ledger
) -> list[tuple[Receipt, bytes]]:
    """Return for each piece of work its receipt and what is stored of it; `held` is what it reads.

    Guarantee: all charges are made, in one transaction, before anything is computed, or none is. Each
        `compute` is called once at most for its charge, over all processes and crashes, after the mark
        "begun" is durable, with the only reader that its permit opens. What it returns or raises is
        stored before it is passed on, and is what the same request id gets from then on (`once`).
    """
    if not works:
        return []
    receipts = ledger.charge_all(payer, [charge for charge, _ in works])
    return [
        (receipt, _stored(receipt, compute, held, ledger))
        for receipt, (_, compute) in zip(receipts, works, strict=True)
    ]


def _stored(receipt: Receipt, compute: Compute, held: Held, ledger: Ledger) -> bytes:
    return once(ledger, receipt, lambda permit: compute(held.paid(permit), receipt))
