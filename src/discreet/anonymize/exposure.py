"""The mark that an anonymized copy leaves in the ledger: a release without any guarantee."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.event import NonPrivate
from discreet.ledger.ledger import Ledger


def exposure_of(table: str, columns: Sequence[str], *, conditions: str, rows: int) -> NonPrivate:
    """Return the event of publishing these columns of a table, anonymized or not."""
    return NonPrivate(
        f"an anonymized copy of {table} ({conditions}; {rows:,} rows)",
        tuple(f"{table}.{column}" for column in columns),
    )


def expose(ledger: Ledger, dataset: str, event: NonPrivate, *, note: str = "") -> int:
    """Return how many such releases there were before, after writing this one down, durably.

    Only then may the copy leave.

    Guarantee: none about persons. What this keeps is the memory: the dataset stays marked, and the
    columns are named wherever its budget or a later release from it is shown.
    """
    earlier = len(ledger.exposures(dataset))
    ledger.record_exposure(dataset, reason=event.reason, columns=event.columns, note=note)
    return earlier
