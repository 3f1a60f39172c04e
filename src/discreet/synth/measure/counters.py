"""Exact marginals as GROUP BY over codes that are stored once: the engine counts, rows stay there.

Where very many marginals of a small table are asked for, its codes are fetched once, packed into few
numbers a row, and counted here; larger tables never leave the engine. Another counter takes rows in memory:
for benchmarks, tests and tables that are already codes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.engine.base import PaidReader, open_exact, require_paid
from discreet.synth.measure.sealing import SealedCodes
from discreet.synth.shape import Codes, Columns, Counts, Shape, joint_codes


class MemoryCounter:
    """Exact marginals of a matrix of codes."""

    def __init__(self, codes: Codes, shape: Shape) -> None:
        self._codes = codes[:, : shape.width].astype(np.int64, order="F")  # read by column
        self._shape = shape

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals."""
        return [self._marginal(columns) for columns in wanted]

    def _marginal(self, columns: Columns) -> Counts:
        place = joint_codes(self._codes, columns, self._shape.sizes)
        counts = np.bincount(place, minlength=self._shape.cells(columns))
        return counts.reshape(self._shape.of(columns))


BATCH = 16
"""Marginals counted by one statement: fewer round trips, and none of them runs for long."""

PATIENCE = 3600.0
"""Seconds for one batch."""

MANY = 64
"""From so many marginals at once, fetching the codes pays."""

MOST_CELLS = 50_000_000
"""Rows times columns of codes that are held in memory at most: 400 MB."""

REMEMBERED = 256 << 20
"""Bytes of exact marginals that are kept: adaptive methods ask for the same ones every round."""


def store_codes(reader: PaidReader, codes: SealedCodes) -> SqlCounter:
    """Return the counter of codes, stored for as long as the state is held. After paying."""
    return SqlCounter(reader, require_paid(reader).keep(_judged(codes).sql), codes.shape)


def unstored_counter(reader: PaidReader, codes: SealedCodes) -> SqlCounter:
    """Return the counter of codes that are read where they are: for a single look. After paying."""
    return SqlCounter(reader, f"({_judged(codes).sql}) AS z", codes.shape)


def _judged(codes: SealedCodes) -> SealedCodes:
    if not isinstance(codes, SealedCodes):
        raise TypeError("The kernel comes before a look: only sealed codes are counted.")
    return codes


class SqlCounter:
    """Counts marginals of stored codes; see `discreet.synth.measure.private_marginals.Counter`.

    Guarantee: every statement counts rows of sealed codes, by some of their columns, and nothing else;
        so a marginal is what `discreet.kernel.facts.SelectedCodes` says: each row lies in one of its cells.
    """

    def __init__(self, reader: PaidReader, relation: str, shape: Shape) -> None:
        self._reader = require_paid(reader)
        self._relation = relation
        self._shape = shape
        self._known: OrderedDict[Columns, Counts] = OrderedDict()
        self._bytes = 0
        self._fetched: MemoryCounter | None = None
        self._large = False

    def __repr__(self) -> str:
        return "SqlCounter(hidden)"

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals, each in the shape of its columns."""
        found: dict[Columns, Counts] = {c: self._known[c] for c in wanted if c in self._known}
        fresh = [columns for columns in dict.fromkeys(wanted) if columns not in found]
        if len(fresh) >= MANY and self._fetched is None and not self._large:
            self._fetch()
        if self._fetched is not None:
            found |= dict(zip(fresh, self._fetched.marginals(fresh), strict=True))
            return [found[columns].copy() for columns in wanted]
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            for columns, counts in zip(batch, self._count(batch), strict=True):
                found[columns] = counts
                self._remember(columns, counts)
        return [found[columns].copy() for columns in wanted]

    def _fetch(self) -> None:
        """Bring the codes of a small table here; a large one stays where it is."""
        count = self._reader.run(f"SELECT COUNT(*) AS n FROM {self._relation}", seconds=PATIENCE)
        rows = int(integers(open_exact(count).column("n"))[0])
        if rows * self._shape.width > MOST_CELLS:
            self._large = True
            return
        groups = _packed(self._shape)
        packs = ", ".join(f"{_pack(group, self._shape)} AS k{i}" for i, group in enumerate(groups))
        sql = f"SELECT {packs} FROM {self._relation}"
        table = open_exact(self._reader.run(sql, seconds=PATIENCE))
        codes = np.empty((rows, self._shape.width), dtype=np.int32, order="F")
        for i, group in enumerate(groups):
            rest = integers(table.column(f"k{i}"))
            for column in reversed(group):
                rest, codes[:, column] = np.divmod(rest, self._shape.sizes[column])
        self._fetched = MemoryCounter(codes, self._shape)

    def _count(self, batch: Sequence[Columns]) -> list[Counts]:
        sql = " UNION ALL ".join(
            _group(i, columns, self._shape, self._relation) for i, columns in enumerate(batch)
        )
        table = open_exact(self._reader.run(sql, seconds=PATIENCE))
        which, place, rows = (integers(table.column(name)) for name in ("m", "k", "n"))
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


def _packed(shape: Shape) -> list[list[int]]:
    """Return the columns in groups whose codes fit together into one whole number of 62 bits."""
    groups: list[list[int]] = [[]]
    cells = 1
    for column, size in enumerate(shape.sizes):
        if cells * size >= 2**62:
            groups.append([])
            cells = 1
        groups[-1].append(column)
        cells *= size
    return groups


def _pack(columns: Sequence[int], shape: Shape) -> str:
    place = "CAST(0 AS BIGINT)"
    for column in columns:
        place = f"({place} * {shape.sizes[column]} + c{column})"
    return place


def _group(number: int, columns: Columns, shape: Shape, relation: str) -> str:
    """Return the SELECT of one marginal: grouped by bare columns, each group told by its place."""
    place = _pack(columns, shape)
    by = f" GROUP BY {', '.join(f'c{column}' for column in columns)}" if columns else ""
    return f"SELECT {number} AS m, {place} AS k, COUNT(*) AS n FROM {relation}{by}"


def integers(column: pa.ChunkedArray) -> Counts:
    """Return a column of whole numbers as an array."""
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    whole = column.cast(pa.int64()).combine_chunks()
    return np.from_dlpack(whole).astype(np.int64, copy=False)
