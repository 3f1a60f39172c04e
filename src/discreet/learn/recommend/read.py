"""Ratings with whose they are: a sealed read, and each person's ratings side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.catalog.axes import home
from discreet.core.unit import Neighbours
from discreet.engine.base import Engine, Held, open_exact
from discreet.errors import InvalidInput
from discreet.kernel.derive.scans import dataset_of, region_of
from discreet.kernel.seal import parse
from discreet.kernel.unit_codes import unit_codes_of
from discreet.learn.measure.rows import Integers
from discreet.ledger.entry import Receipt
from discreet.plan.ir import Scan
from discreet.release.sealing import declared_scans
from discreet.synth.encoding.columns import Coded
from discreet.synth.measure.codes_sql import codes_sql
from discreet.synth.measure.sealing import SealedSource
from discreet.synth.measure.sql_counter import PATIENCE


@dataclass(frozen=True, slots=True)
class SealedRatings:
    """A SELECT of items, ratings and units that may run; a unit has at most `rows` of them."""

    sql: str
    rows: int
    neighbours: Neighbours
    source: SealedSource


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


def seal_ratings(scan: Scan, engine: Engine, item: Coded, rating: Coded) -> SealedRatings:
    """Return the SELECT of ratings with their units, judged. An unfit one never runs."""
    if scan.unit is None or scan.dataset is None:
        raise InvalidInput(
            "Recommendations protect people, but each row of this table is a unit of its own.",
            hint="Declare whose rating it is: unit = 'person' in discreet.toml.",
        )
    plain = codes_sql(scan, engine, [item, rating])
    sql = plain.replace(" FROM (", ", p.u AS u FROM (", 1)
    scans = declared_scans([(scan.dataset, scan.table)], engine)
    tree = parse(sql, engine.capabilities.dialect, engine.tree(sql))
    found = unit_codes_of(tree, (item.size, rating.size), scans)
    dataset = dataset_of(found, scans.tables)
    region = region_of(found, scans.tables, lambda *_: None, home)
    return SealedRatings(sql, found.rows, dataset.neighbours, SealedSource(dataset.name, region))


def fetch_ratings(held: Held, sealed: SealedRatings, *, permit: Receipt) -> PersonRatings:
    """Return all ratings. After paying, and for sums of bounded vectors alone."""
    if not isinstance(permit, Receipt):
        raise TypeError("a charge comes before a look")
    table = open_exact(held.run(sealed.sql, seconds=PATIENCE))
    item, level = (_whole(table.column(name)) for name in ("c0", "c1"))
    _, unit = np.unique(np.asarray(table.column("u").to_pylist()), return_inverse=True)
    order = np.lexsort((level, item, unit))
    unit = unit[order]
    starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]]) if len(unit) else unit
    return PersonRatings(item[order], level[order], starts.astype(np.int64))


def _whole(column: pa.ChunkedArray) -> Integers:
    return np.asarray(column.cast(pa.int64()).to_numpy(), dtype=np.int64)
