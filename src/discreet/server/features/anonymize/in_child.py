"""What the child process of an anonymization does: what left is recorded before it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.anonymize.release import anonymize, measure_curve
from discreet.anonymize.report import document
from discreet.anonymize.request import AnonymizeRequest
from discreet.anonymize.run import Anonymized
from discreet.report import to_fragment
from discreet.report import write as write_report
from discreet.report.rows import write_rows
from discreet.server.features.anonymize.releases import Releases, StoredRelease
from discreet.server.jobs.child import TaskContext
from discreet.server.plain_json import finite
from discreet.server.shelf import FRAGMENT


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
