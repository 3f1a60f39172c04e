"""Sealed codes with whose they are beside them: for sums of vectors that are bounded for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Integers
from discreet.core.unit import Neighbours
from discreet.engine.base import Engine, PaidReader, open_exact, require_paid
from discreet.errors import InvalidInput
from discreet.kernel.canonical import dataset_of
from discreet.kernel.facts import unit_codes_of
from discreet.kernel.seal import parse
from discreet.plan.ir import Scan
from discreet.synth.columns import Coded
from discreet.synth.measure.counters import PATIENCE, integers
from discreet.synth.measure.sealing import SealedSource, codes_sql, scans_of, source_of
from discreet.synth.shape import Codes


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
    if scan.unit is None:
        raise InvalidInput(
            "This protects people, but each row of the table is a unit of its own.",
            hint="Declare whose row it is: unit = 'person' in discreet.toml.",
        )
    plain = codes_sql(scan, engine, columns)
    sql = plain.replace(" FROM (", ", p.u AS u FROM (", 1)
    scans = scans_of(scan, engine)
    tree = parse(sql, engine.capabilities.dialect, engine.tree(sql))
    found = unit_codes_of(tree, tuple(column.size for column in columns), scans)
    neighbours = dataset_of(found, scans.tables).neighbours
    return SealedUnitCodes(sql, len(columns), found.rows, neighbours, source_of(found, scans))


def fetch_unit_codes(reader: PaidReader, sealed: SealedUnitCodes) -> tuple[Codes, Integers]:
    """Return the codes sorted by unit, and each row's unit from 0 on. After paying, for sums alone.

    Rows of a unit are sorted by their own codes: where they stood says nothing.
    """
    table = open_exact(require_paid(reader).run(sealed.sql, seconds=PATIENCE))
    columns = [integers(table.column(f"c{i}")) for i in range(sealed.width)]
    _, unit = np.unique(np.asarray(table.column("u").to_pylist()), return_inverse=True)
    order = np.lexsort((*reversed(columns), unit))
    codes = np.empty((len(unit), sealed.width), dtype=np.int32, order="F")
    for i, column in enumerate(columns):
        codes[:, i] = column[order]
    return codes, np.asarray(unit[order], dtype=np.int64)
