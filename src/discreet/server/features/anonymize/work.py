"""Measuring and making an anonymized copy, as jobs: what left is recorded before it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.anonymize.curve import curve
from discreet.anonymize.exposure import expose
from discreet.anonymize.release import Memory, release
from discreet.anonymize.report import document
from discreet.anonymize.run import Anonymized
from discreet.report import to_fragment
from discreet.report import write as write_report
from discreet.report.rows import write_rows
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.anonymize.body import AnonymizeBody
from discreet.server.features.anonymize.releases import Releases, StoredRelease
from discreet.server.jobs.queue import Job
from discreet.server.plain_json import finite
from discreet.server.shelf import FRAGMENT


def measure(context: Context, who: Principal, asked: AnonymizeBody) -> Job:
    """Return the job that tries several k; the owner's look at exact counts is recorded first."""
    wish = asked.wish()

    def work(job: Job) -> dict[str, Any]:
        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                dataset, source = asked.source(curator)
                curator.ledger.record_look(
                    dataset,
                    reason=f"what k-anonymity of {source.label} would leave",
                    columns=[f"{source.label}.{name}" for name in source.named(wish.quasi)],
                )
                before, points = curve(source, wish, progress=job.advance)
            finally:
                job.stop = None
        found = {"before": before.to_json(), "points": [point.to_json() for point in points]}
        return finite(found)  # type: ignore[no-any-return]  # an object stays one

    return context.runner.submit(who.key, work, keep=True)


def make(context: Context, releases: Releases, who: Principal, asked: AnonymizeBody) -> Job:
    """Return the job that makes the copy: run, recorded as an exposure, then kept."""
    wish = asked.wish()
    releases.room()

    def work(job: Job) -> dict[str, Any]:
        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                dataset, source = asked.source(curator)
                memory = Memory(source.label, lambda event: expose(curator.ledger, dataset, event))
                made = release(source, wish, lambda: memory, progress=job.advance)
            finally:
                job.stop = None
        kept = releases.keep(
            StoredRelease.new(dataset, made.label, finite(made.to_json())),
            lambda place: _fill(job, made, place),
        )
        return {"release": kept.id, "dataset": dataset, **kept.facts}

    return context.runner.submit(who.key, work, keep=True)


def _fill(job: Job, made: Anonymized, place: Path) -> None:
    job.advance(0, 1, "writing the rows")
    write_rows(made.table, place / "rows.csv")
    write_rows(made.table, place / "rows.parquet")
    job.advance(0, 1, "drawing the report")
    report = document(made)
    write_report(report, place / "report.html")
    write_report(report, place / "report.json")
    (place / FRAGMENT).write_text(to_fragment(report), encoding="utf-8")
