"""Synthetic copies that were made, and the shelf that they lie on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.server.shelf import Kept, Shelf
from discreet.synth.encoding.shape import Codes

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
