"""What the child process of an anonymization does, and the shelf of its copies: recorded before they are kept."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from discreet.anonymize.release import anonymize, measure_curve
from discreet.anonymize.report import document
from discreet.anonymize.run import Anonymized, AnonymizeRequest
from discreet.server.bodies import finite
from discreet.server.jobs.child import TaskContext
from discreet.server.shelf import FRAGMENT, Kept, Shelf
from discreet.show import to_fragment
from discreet.show import write as write_report
from discreet.show.rows import write_rows

FILES = {
    "rows.csv": "CSV",
    "rows.parquet": "Parquet",
    "report.html": "report",
    "report.json": "report as JSON",
}
"""What can be downloaded, and what pages call it."""


@dataclass(frozen=True, slots=True)
class StoredRelease(Kept):
    """An anonymized copy that was made, and what it is worth."""

    id: str
    dataset: str
    table: str
    created: float
    facts: dict[str, Any]

    @classmethod
    def new(cls, dataset: str, table: str, facts: dict[str, Any]) -> Self:
        """Return a copy that is made now."""
        return cls(uuid.uuid4().hex, dataset, table, time.time(), facts)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, and which files there are."""
        return Kept.to_json(self) | {"files": list(FILES)}


class Releases(Shelf[StoredRelease]):
    """The anonymized copies of this server."""

    kind, files, most = StoredRelease, FILES, 100
    folder, listed_by = "anonymized", "/api/v1/anonymize"
    one, many = "anonymized copy", "anonymized copies"


def measure(
    context: TaskContext, *, table: str, where: str | None, request: AnonymizeRequest
) -> dict[str, Any]:
    """Return what several k would leave; the owner's look at exact counts is recorded first."""
    before, points = measure_curve(
        context.curator(), table, request, where=where, progress=context.advance
    )
    return finite({"before": before.to_json(), "points": [point.to_json() for point in points]})


def make(
    context: TaskContext, *, state: Path, table: str, where: str | None, request: AnonymizeRequest
) -> dict[str, Any]:
    """Return what an anonymized copy is: made, recorded as an exposure, then put on its shelf."""
    dataset, made = anonymize(
        context.curator(), table, request, where=where, progress=context.advance
    )
    kept = Releases(state).keep(
        StoredRelease.new(dataset, made.label, finite(made.to_json())),
        lambda place: _fill(context, made, place),
        inside=context.folder,
    )
    return {"release": kept.id, "dataset": dataset, **kept.facts}


def _fill(context: TaskContext, made: Anonymized, place: Path) -> None:
    context.advance(0, 1, "writing the rows")
    write_rows(made.table, place / "rows.csv")
    write_rows(made.table, place / "rows.parquet")
    context.advance(0, 1, "drawing the report")
    report = document(made)
    write_report(report, place / "report.html")
    write_report(report, place / "report.json")
    (place / FRAGMENT).write_text(to_fragment(report), encoding="utf-8")
