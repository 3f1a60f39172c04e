"""Sealed codes with whose they are beside them: for sums of vectors that are bounded for each unit."""

from __future__ import annotations

from collections.abc import Sequence
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
from discreet.synth.encoding.shape import Codes
from discreet.synth.measure.codes_sql import codes_sql
from discreet.synth.measure.sealing import SealedSource
from discreet.synth.measure.sql_counter import PATIENCE


@dataclass(frozen=True, slots=True)
class SealedUnitCodes:
    """A SELECT of codes and units that may run; a unit has at most `rows` of them."""

    sql: str
    width: int
    rows: int
    neighbours: Neighbours
    source: SealedSource


def seal_unit_codes(scan: Scan, engine: Engine, columns: Sequence[Coded]) -> SealedUnitCodes:
    """Return the SELECT of codes with their units, judged. An unfit one never runs."""
    if scan.unit is None or scan.dataset is None:
        raise InvalidInput(
            "This protects people, but each row of the table is a unit of its own.",
            hint="Declare whose row it is: unit = 'person' in discreet.toml.",
        )
    plain = codes_sql(scan, engine, columns)
    sql = plain.replace(" FROM (", ", p.u AS u FROM (", 1)
    scans = declared_scans([(scan.dataset, scan.table)], engine)
    tree = parse(sql, engine.capabilities.dialect, engine.tree(sql))
    found = unit_codes_of(tree, tuple(column.size for column in columns), scans)
    dataset = dataset_of(found, scans.tables)
    region = region_of(found, scans.tables, lambda *_: None, home)
    source = SealedSource(dataset.name, region)
    return SealedUnitCodes(sql, len(columns), found.rows, dataset.neighbours, source)


def fetch_unit_codes(
    held: Held, sealed: SealedUnitCodes, *, permit: Receipt
) -> tuple[Codes, Integers]:
    """Return the codes sorted by unit, and each row's unit from 0 on. After paying, for sums alone.

    Rows of a unit are sorted by their own codes: where they stood says nothing.
    """
    if not isinstance(permit, Receipt):
        raise TypeError("a charge comes before a look")
    table = open_exact(held.run(sealed.sql, seconds=PATIENCE))
    columns = [_whole(table.column(f"c{i}")) for i in range(sealed.width)]
    _, unit = np.unique(np.asarray(table.column("u").to_pylist()), return_inverse=True)
    order = np.lexsort((*reversed(columns), unit))
    codes = np.empty((len(unit), sealed.width), dtype=np.int32, order="F")
    for i, column in enumerate(columns):
        codes[:, i] = column[order]
    return codes, np.asarray(unit[order], dtype=np.int64)


def _whole(column: pa.ChunkedArray) -> Integers:
    return np.asarray(column.cast(pa.int64()).to_numpy(), dtype=np.int64)
