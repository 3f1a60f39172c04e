"""Making a copy, as a job: paid, fitted, drawn, reported, kept; in that order."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from discreet.api import Curator
from discreet.core.answer import Spent
from discreet.report import to_fragment, to_html
from discreet.report import write as write_report
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.synth.body import SynthSettings
from discreet.server.features.synth.copies import CODES, Copies, Copy, now
from discreet.server.jobs.queue import Job
from discreet.server.jobs.watched import watched
from discreet.server.plain_json import finite
from discreet.server.shelf import FRAGMENT
from discreet.synth.model_file import load_model
from discreet.synth.synthetic import Synthetic, SyntheticRows

FITTED, DRAWN, REHEARSED, WHOLE = 60, 70, 90, 100
"""Of a hundred steps: fitting ends here, then rows are written, then the report."""


def submit(context: Context, copies: Copies, who: Principal, wanted: SynthSettings) -> Job:
    """Return the job that makes the copy; refused at once where that can be known."""
    copies.room(wanted.analyst)

    def work(job: Job) -> dict[str, Any]:
        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                seen = _seen(curator, wanted.analyst, job, who)
                synthetic = wanted.synthesize(seen, _part(job, 0, FITTED))
                copy = _kept(job, copies, wanted, seen, synthetic)
            finally:
                job.stop = None
        return finite(synthetic.to_json() | {"copy": copy.id, "dataset": copy.dataset})  # type: ignore[no-any-return]  # an object stays one

    return context.runner.submit(who.key, work, request_id=wanted.request_id, keep=True, long=True)


def compare(context: Context, copies: Copies, who: Principal, copy: Copy) -> Job:
    """Return the job that compares a copy with the real rows; the look is recorded first.

    The copy is read from its own files, so nothing can be charged here, whatever the ledger holds.
    """

    def work(job: Job) -> dict[str, Any]:
        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                seen = _seen(curator, None, job, who)
                job.advance(0, 2, "reading the copy")
                made = _read(copies, copy)
                job.advance(1, 2, "comparing with the real rows")
                document = seen.synthesis_comparison(made, target=copy.target)
            finally:
                job.stop = None
        copies.add(copy, "comparison.html", to_html(document))
        job.advance(2, 2, "done")
        return {"copy": copy.id, "file": "comparison.html"}

    return context.runner.submit(who.key, work, keep=True, long=True)


def _read(copies: Copies, copy: Copy) -> Synthetic:
    """Return a kept copy as it was made; its price was paid then."""
    table = pq.read_table(copies.file(copy, "rows.parquet"))
    nothing = Spent(Fraction(0), Fraction(0))
    return Synthetic(
        saved=load_model(copies.file(copy, "model.json")),
        rows=SyntheticRows(table, copies.codes(copy)),
        method=copy.method,
        cost=nothing,
        before=nothing,
        after=nothing,
        limit=nothing,
        free=True,
        request_id="",
        notices=copy.notices,
        seconds=0.0,
    )


def _seen(curator: Curator, analyst: str | None, job: Job, who: Principal) -> Curator:
    """Return the curator as this payer sees it; one job reads in many small steps, told as one."""

    def tell(step: str) -> None:
        if step in ("charging", "charged"):
            job.tell(step)
        else:
            job.check()

    return watched(curator.seen_by(analyst), tell=tell, turn=job.turn, asker=who.name)


def _part(job: Job, start: int, end: int) -> Callable[[int, int, str], None]:
    """Return a listener that tells a stretch of the whole."""

    def told(done: int, of: int, what: str) -> None:
        part = min(1.0, done / of) if of else 1.0
        job.advance(start + round((end - start) * part), WHOLE, what)

    return told


def _kept(
    job: Job, copies: Copies, wanted: SynthSettings, curator: Curator, synthetic: Synthetic
) -> Copy:
    facts = synthetic.saved.facts
    copy = Copy(
        id=wanted.copy_id,
        dataset=str(facts["dataset"]),
        table=synthetic.encoding.table,
        method=synthetic.method,
        epsilon=str(wanted.wish.epsilon),
        rows=synthetic.table.num_rows,
        columns=tuple(synthetic.table.column_names),
        created=now(),
        analyst=wanted.analyst,
        notices=synthetic.notices,
        target=wanted.wish.target,
    )

    def fill(place: Path) -> None:
        job.advance(FITTED, WHOLE, "writing the rows")
        synthetic.write(place / "rows.csv")
        synthetic.write(place / "rows.parquet")
        synthetic.save_model(place / "model.json")
        np.save(place / CODES, synthetic.rows.codes, allow_pickle=False)
        job.advance(DRAWN, WHOLE, "rehearsing for the report")
        document = curator.synthesis_report(synthetic, target=wanted.wish.target)
        job.advance(REHEARSED, WHOLE, "drawing the report")
        write_report(document, place / "report.html")
        write_report(document, place / "report.json")
        (place / FRAGMENT).write_text(to_fragment(document), encoding="utf-8")

    kept = copies.keep(copy, fill)
    job.advance(WHOLE, WHOLE, "done")
    return kept
