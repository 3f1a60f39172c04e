"""One anonymized copy: made, written into the ledger as an exposure, and only then handed out; and what several k would leave.

Guarantee: none for the copy. Nobody gets one whose exposure is not recorded: commands, curator and
    server all come through here, and nothing else makes or measures one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from discreet.anonymize.risk import ClassSizes, IntruderRisk, risk_of
from discreet.anonymize.run import (
    Anonymized,
    AnonymizeRequest,
    groups_of,
    hierarchies_of,
    models_of,
    roles_of,
    run,
    searched,
    settings_of,
)
from discreet.anonymize.search import anonymize as anonymize_groups
from discreet.anonymize.source import AnonymizeSource, declared_source
from discreet.base.display import Progress, silent
from discreet.base.event import NonPrivate
from discreet.base.numbers import counted
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.base import Engine
from discreet.errors import InvalidInput
from discreet.privacy.ledger.ledger import Ledger

KS = (2, 3, 5, 7, 10, 15, 20, 30, 50, 100)
"""The k that a slider offers."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One k: what is left of the detail, what is left of the risk. No result if it is impossible."""

    k: int
    loss: float | None = None
    suppressed: int = 0
    classes: int = 0
    levels: dict[str, int] | None = None
    optimal: bool = False
    risk: IntruderRisk | None = None
    why_not: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"risk": None if self.risk is None else self.risk.to_json()}


def curve(
    source: AnonymizeSource,
    request: AnonymizeRequest,
    *,
    ks: Sequence[int] = KS,
    progress: Progress = silent,
) -> tuple[IntruderRisk, list[CurvePoint]]:
    """Return the risk of the table as it is, and one point for each k; the rows are counted once."""
    progress(0, len(ks) + 1, "counting")
    groups = searched(groups_of(source, request), request)
    hierarchies = hierarchies_of(source, request)
    models = models_of(request, groups, hierarchies)
    found = []
    for done, k in enumerate(ks, start=1):
        progress(done, len(ks) + 1, f"k = {k}")
        asked = replace(request, k=k, seconds=request.seconds / len(ks))
        try:
            result = anonymize_groups(
                groups, hierarchies, models=models, **settings_of(source, asked)
            )
        except InvalidInput as error:
            found.append(CurvePoint(k, why_not=error.message))
            continue
        sizes = ClassSizes.of(result.recoding.sizes)
        found.append(
            CurvePoint(
                k,
                loss=result.costs.loss,
                suppressed=result.suppressed,
                classes=result.classes,
                levels=result.levels,
                optimal=result.optimal,
                risk=risk_of(sizes, request.population),
            )
        )
    progress(len(ks) + 1, len(ks) + 1, "done")
    return risk_of(ClassSizes.of(groups.rows), request.population), found


class AnonymizeDesk(Protocol):
    """A catalog with its engine and its ledger, such as a curator."""

    @property
    def catalog(self) -> Catalog:
        """Return what is declared."""

    @property
    def engine(self) -> Engine:
        """Return what computes."""

    @property
    def ledger(self) -> Ledger:
        """Return what remembers."""


@dataclass(frozen=True, slots=True)
class ExposureLog:
    """The ledger that remembers a copy, and as one of which dataset and table."""

    ledger: Ledger
    dataset: str
    table: str


def anonymize(
    held: AnonymizeDesk,
    table: str,
    request: AnonymizeRequest,
    *,
    where: str | None = None,
    progress: Progress = silent,
) -> tuple[str, Anonymized]:
    """Return the dataset of a declared table, and its copy, remembered in the ledger of the catalog."""
    dataset, source = source_of(held, table, where)
    # Before it reads: what is refused tells of the rows too ("the table has fewer").
    _record_look(held, dataset, source, request, reason=f"a k-anonymous copy of {source.label}")
    memory = ExposureLog(held.ledger, dataset, source.label)
    return dataset, release(source, request, lambda: nullcontext(memory), progress=progress)


def measure_curve(
    held: AnonymizeDesk,
    table: str,
    request: AnonymizeRequest,
    *,
    where: str | None = None,
    progress: Progress = silent,
) -> tuple[IntruderRisk, list[CurvePoint]]:
    """Return the risk of a declared table, and what several k would leave of it; the look is recorded first."""
    dataset, source = source_of(held, table, where)
    reason = f"what k-anonymity of {source.label} would leave"
    _record_look(held, dataset, source, request, reason=reason)
    return curve(source, request, progress=progress)


def _record_look(
    held: AnonymizeDesk,
    dataset: str,
    source: AnonymizeSource,
    request: AnonymizeRequest,
    *,
    reason: str,
) -> None:
    columns = [f"{source.label}.{name}" for name in roles_of(source, request).quasi]
    held.ledger.record_look(dataset, reason=reason, columns=columns)


def source_of(held: AnonymizeDesk, table: str, where: str | None) -> tuple[str, AnonymizeSource]:
    """Return the dataset and the table in the engine of the catalog, hidden columns marked."""
    owner, found = held.catalog.named(table)
    return owner.name, declared_source(held.engine, owner, found, where=where)


def release(
    source: AnonymizeSource,
    request: AnonymizeRequest,
    memory: Callable[[], AbstractContextManager[ExposureLog]],
    *,
    progress: Progress = silent,
) -> Anonymized:
    """Return the copy; `memory` is asked for once it is made, so that a refusal exposes nothing."""
    made = run(source, request, progress=progress)
    progress(0, 1, "recording the exposure")
    with memory() as kept:
        event = exposure_of(
            kept.table,
            made.table.column_names,
            conditions=f"k = {request.k}",
            rows=made.table.num_rows,
        )
        earlier = expose(kept.ledger, kept.dataset, event)
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


def expose(ledger: Ledger, dataset: str, event: NonPrivate) -> int:
    """Return how many such releases there were before, after writing this one down, durably.

    Only then may the copy leave.

    Guarantee: none about persons. What this keeps is the memory: the dataset stays marked, and the
    columns are named wherever its budget or a later release from it is shown.
    """
    earlier = len(ledger.exposures(dataset))
    ledger.record_exposure(dataset, reason=event.reason, columns=event.columns)
    return earlier
