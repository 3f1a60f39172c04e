"""What the child process of a synthetic copy does (paid, fitted, drawn, reported, kept; in that order), and its shelf."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from discreet.base.bill import NO_BILL
from discreet.base.display import Progress
from discreet.curator import Curator
from discreet.measure.shape import Codes
from discreet.server.access.tokens import AskedAs
from discreet.server.bodies import finite
from discreet.server.jobs.child import TaskContext
from discreet.server.shelf import FRAGMENT, Kept, Shelf
from discreet.show import to_fragment, to_html
from discreet.show import write as write_report
from discreet.work.synth.model_file import load_model
from discreet.work.synth.synthetic import Synthetic, SyntheticRows

FILES = {
    "rows.csv": "CSV",
    "rows.parquet": "Parquet",
    "model.json": "model",
    "report.html": "report",
    "report.json": "report as JSON",
    "comparison.html": "comparison",
}
"""What can be downloaded, and what pages call it."""
OWNERS_ONLY = frozenset({"comparison.html"})
"""Files that hold exact values."""
CODES = "codes.npy"


@dataclass(frozen=True, slots=True)
class Copy(Kept):
    """A synthetic copy that was made: all of it is paid for, so using it is free.

    `analyst` is whose share paid, None for the owner. `target` is the column that reports predict.
    """

    id: str
    dataset: str
    table: str
    method: str
    epsilon: str
    rows: int
    columns: tuple[str, ...]
    created: float
    analyst: str | None
    notices: tuple[str, ...]
    target: str | None = None
    compared: bool = False


class Copies(Shelf[Copy]):
    """The synthetic copies of this server, up to a limit: random ones are free and would fill the disk."""

    kind, files = Copy, FILES
    folder, listed_by = "synthetic", "/api/v1/synth"
    one, many = "synthetic copy", "synthetic copies"

    def codes(self, copy: Copy) -> Codes:
        """Return the rows of a copy as codes, for a comparison."""
        found: Codes = np.load(self.place(copy) / CODES, allow_pickle=False)
        return found

    def add(self, copy: Copy, name: str, text: str) -> Copy:
        """Return the copy with one more file."""
        (self.place(copy) / name).write_text(text, encoding="utf-8")
        found = replace(copy, compared=True) if name in OWNERS_ONLY else copy
        self.write_facts(self.place(copy), found)
        return found


FITTED, DRAWN, REHEARSED, WHOLE = 60, 70, 90, 100
"""Of a hundred steps: fitting ends here, then rows are written, then the report."""


def make(
    context: TaskContext,
    *,
    state: Path,
    kept_id: str,
    payer: AskedAs,
    target: str | None,
    asked: dict[str, Any],
) -> dict[str, Any]:
    """Return what a copy is, after it was made and put on its shelf."""
    seen = context.curator(payer.analyst)
    progress = _part(context, 0, FITTED)
    synthetic = seen.synthesize(progress=progress, **asked)
    facts = _facts(synthetic, kept_id, target, epsilon=str(asked["epsilon"]), payer=payer)
    copy = Copies(state).keep(
        facts, lambda place: _fill(context, seen, synthetic, target, place), inside=context.folder
    )
    context.advance(WHOLE, WHOLE, "done")
    return finite(synthetic.to_json() | {"copy": copy.id, "dataset": copy.dataset})


def compare(context: TaskContext, *, state: Path, copy_id: str) -> dict[str, Any]:
    """Return where the comparison of a copy with the real rows lies; the look is recorded first.

    The copy is read from its own files, so nothing can be charged here, whatever the ledger holds.
    """
    copies = Copies(state)
    copy = copies.find(copy_id)
    context.advance(0, 2, "reading the copy")
    made = _read(copies, copy)
    context.advance(1, 2, "comparing with the real rows")
    document = context.curator().synthesis_comparison(made, target=copy.target)
    copies.add(copy, "comparison.html", to_html(document))
    context.advance(2, 2, "done")
    return {"copy": copy.id, "file": "comparison.html"}


def _read(copies: Copies, copy: Copy) -> Synthetic:
    """Return a kept copy as it was made; its price was paid then."""
    table = pq.read_table(copies.file(copy, "rows.parquet"))
    return Synthetic(
        saved=load_model(copies.file(copy, "model.json")),
        rows=SyntheticRows(table, copies.codes(copy)),
        method=copy.method,
        bill=NO_BILL,
        request_id="",
        notices=copy.notices,
        seconds=0.0,
    )


def _part(context: TaskContext, start: int, end: int) -> Progress:
    """Return a listener that tells a stretch of the whole."""

    def told(done: int, of: int, what: str) -> None:
        part = min(1.0, done / of) if of else 1.0
        context.advance(start + round((end - start) * part), WHOLE, what)

    return told


def _facts(
    synthetic: Synthetic, copy_id: str, target: str | None, *, epsilon: str, payer: AskedAs
) -> Copy:
    return Copy(
        id=copy_id,
        dataset=str(synthetic.saved.facts["dataset"]),
        table=synthetic.encoding.table,
        method=synthetic.method,
        epsilon=epsilon,
        rows=synthetic.table.num_rows,
        columns=tuple(synthetic.table.column_names),
        created=time.time(),
        analyst=payer.analyst,
        notices=synthetic.notices,
        target=target,
    )


def _fill(
    context: TaskContext, curator: Curator, synthetic: Synthetic, target: str | None, place: Path
) -> None:
    context.advance(FITTED, WHOLE, "writing the rows")
    synthetic.write(place / "rows.csv")
    synthetic.write(place / "rows.parquet")
    synthetic.save_model(place / "model.json")
    np.save(place / CODES, synthetic.rows.codes, allow_pickle=False)
    context.advance(DRAWN, WHOLE, "rehearsing for the report")
    document = curator.synthesis_report(synthetic, target=target)
    context.advance(REHEARSED, WHOLE, "drawing the report")
    write_report(document, place / "report.html")
    write_report(document, place / "report.json")
    (place / FRAGMENT).write_text(to_fragment(document), encoding="utf-8")
