"""Synthetic copies that were made, and the shelf that they lie on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.server.shelf import Kept, Shelf, ShelfRules
from discreet.synth.encoding.shape import Codes

FILES = {
    "rows.csv": "text/csv; charset=utf-8",
    "rows.parquet": "application/vnd.apache.parquet",
    "model.json": "application/json",
    "report.html": "text/html; charset=utf-8",
    "report.json": "application/json",
    "comparison.html": "text/html; charset=utf-8",
}
"""What can be downloaded, and its media type."""
OWNERS_ONLY = frozenset({"comparison.html"})
"""Files that hold exact values."""
CODES = "codes.npy"
# Random copies are free, so without an end to it anybody could fill the disk.
RULES = ShelfRules("synthetic", "synthetic copy", "synthetic copies", "/api/v1/synth", files=FILES)


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
    """The synthetic copies of this server."""

    kind, rules = Copy, RULES

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
