"""Exact marginals as GROUP BY over codes that are stored once: the engine counts, rows stay there."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from discreet.engine.base import Engine, open_exact
from discreet.ledger.entry import Receipt
from discreet.synth.shape import Columns, Counts, Shape

BATCH = 16
"""Marginals counted by one statement: fewer round trips, and none of them runs for long."""

PATIENCE = 3600.0
"""Seconds for one batch."""

REMEMBERED = 256 << 20
"""Bytes of exact marginals that are kept: adaptive methods ask for the same ones every round."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Proof that the owner's look was written into the ledger; what is seen may not be released."""

    dataset: str


Permit: TypeAlias = Receipt | Looked
"""What must be in hand before rows are read: a receipt, or a recorded look of the owner."""


def store_codes(engine: Engine, sql: str, *, snapshot: str, permit: Permit) -> str:
    """Return the relation of the stored codes, computed now unless they are there. After paying."""
    assert isinstance(permit, Receipt | Looked), "a charge comes before a look"
    digest = hashlib.sha256(repr((snapshot, sql)).encode()).hexdigest()[:24]
    return engine.materialise(f"codes_{digest}", sql)


class SqlCounter:
    """Counts marginals of stored codes; see `discreet.synth.door.Counter`."""

    def __init__(self, engine: Engine, relation: str, shape: Shape, permit: Permit) -> None:
        assert isinstance(permit, Receipt | Looked), "a charge comes before a look"
        self._engine = engine
        self._relation = relation
        self._shape = shape
        self._known: OrderedDict[Columns, Counts] = OrderedDict()
        self._bytes = 0

    def __repr__(self) -> str:
        return "SqlCounter(hidden)"

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals, each in the shape of its columns."""
        found: dict[Columns, Counts] = {c: self._known[c] for c in wanted if c in self._known}
        fresh = [columns for columns in dict.fromkeys(wanted) if columns not in found]
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            for columns, counts in zip(batch, self._count(batch), strict=True):
                found[columns] = counts
                self._remember(columns, counts)
        return [found[columns].copy() for columns in wanted]

    def _count(self, batch: Sequence[Columns]) -> list[Counts]:
        sql = " UNION ALL ".join(
            _group(i, columns, self._shape, self._relation) for i, columns in enumerate(batch)
        )
        table = open_exact(self._engine.run(sql, seconds=PATIENCE))
        which, place, rows = (_integers(table.column(name)) for name in ("m", "k", "n"))
        counts = []
        for i, columns in enumerate(batch):
            mine = which == i
            dense = np.zeros(self._shape.cells(columns), dtype=np.int64)
            dense[place[mine]] = rows[mine]
            counts.append(dense.reshape(self._shape.of(columns)))
        return counts

    def _remember(self, columns: Columns, counts: Counts) -> None:
        self._known[columns] = counts
        self._bytes += counts.nbytes
        while self._bytes > REMEMBERED and self._known:
            _, gone = self._known.popitem(last=False)
            self._bytes -= gone.nbytes


def _group(number: int, columns: Columns, shape: Shape, relation: str) -> str:
    """Return the SELECT of one marginal: grouped by bare columns, each group told by its place."""
    place = "CAST(0 AS BIGINT)"
    for column, size in zip(columns, shape.of(columns), strict=True):
        place = f"({place} * {size} + c{column})"
    by = f" GROUP BY {', '.join(f'c{column}' for column in columns)}" if columns else ""
    return f"SELECT {number} AS m, {place} AS k, COUNT(*) AS n FROM {relation}{by}"


def _integers(column: pa.ChunkedArray) -> Counts:
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    whole = column.cast(pa.int64()).combine_chunks()
    return np.from_dlpack(whole).astype(np.int64, copy=False)
