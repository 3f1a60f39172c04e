"""Ratings with whose they are: each person's ratings side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.engine.base import Held
from discreet.learn.measure.rows import Integers
from discreet.learn.measure.unit_rows import SealedUnitCodes, fetch_unit_codes
from discreet.ledger.entry import Receipt


@dataclass(frozen=True, slots=True, eq=False)
class PersonRatings:
    """Exact ratings, sorted by person; `starts` is where each person's begin. Never shown."""

    item: Integers
    level: Integers
    starts: Integers

    def __repr__(self) -> str:
        return "Ratings(hidden)"

    def people(self, batch: int) -> Iterator[list[slice]]:
        """Yield the places of the ratings of `batch` people at a time."""
        ends = np.append(self.starts[1:], len(self.item))
        each = [slice(int(a), int(b)) for a, b in zip(self.starts, ends, strict=True)]
        for start in range(0, len(each), batch):
            yield each[start : start + batch]


def fetch_ratings(held: Held, sealed: SealedUnitCodes, *, permit: Receipt) -> PersonRatings:
    """Return all ratings. After paying, and for sums of bounded vectors alone."""
    codes, unit = fetch_unit_codes(held, sealed, permit=permit)
    starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]]) if len(unit) else unit
    item, level = (codes[:, i].astype(np.int64) for i in range(2))
    return PersonRatings(item, level, starts.astype(np.int64))
