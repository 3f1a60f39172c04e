"""release(): one anonymized copy: made, written into the ledger as an exposure, and only then handed out.

Guarantee: none for the copy. Nobody gets one whose exposure is not recorded: commands, curator and
    server all come through here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from discreet.anonymize.request import AnonymizeRequest
from discreet.anonymize.run import Anonymized, run
from discreet.anonymize.source import AnonymizeSource
from discreet.core.event import NonPrivate
from discreet.core.numbers import counted
from discreet.core.progress import Progress, silent
from discreet.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Memory:
    """Under which table a copy is remembered; `record` writes the event, and counts those before."""

    table: str
    record: Callable[[NonPrivate], int]


def release(
    source: AnonymizeSource,
    wish: AnonymizeRequest,
    memory: Callable[[], Memory],
    *,
    progress: Progress = silent,
) -> Anonymized:
    """Return the copy; `memory` is asked for once it is made, so that a refusal leaves no trace."""
    made = run(source, wish, progress=progress)
    progress(0, 1, "recording the exposure")
    kept = memory()
    event = exposure_of(
        kept.table,
        made.table.column_names,
        conditions=f"k = {wish.k}",
        rows=made.table.num_rows,
    )
    earlier = kept.record(event)
    if not earlier:
        return made
    notice = (
        f"{counted(earlier, 'earlier release')} of this data set without a guarantee: two copies of the same "
        "people can be intersected, and then neither holds what it says."
    )
    return replace(made, notices=(*made.notices, notice))


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
