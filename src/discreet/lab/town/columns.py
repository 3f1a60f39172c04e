"""Seeded chance for the example data, Arrow columns from codes, and Parquet files written chunk by chunk.

No guarantee hangs on this chance, so numpy.random will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.base.arrays import Bits, Floats, Integers

CHUNK = 250_000
"""People made at a time. Part of the recipe: another size makes another town from the same seed."""


class Stream(IntEnum):
    """What a generator is for. Each table and chunk has its own, so none disturbs another."""

    PEOPLE = 0
    VISITS = 1
    VOTERS = 2
    RATINGS = 3
    GENOTYPES = 4
    DOSING = 5
    BENCH = 6
    FILMS = 7


def stream(seed: int, purpose: Stream, chunk: int) -> np.random.Generator:
    """Return the generator of one chunk of one table."""
    sequence = np.random.SeedSequence(seed, spawn_key=(int(purpose), chunk))
    return np.random.Generator(np.random.SFC64(sequence))


@dataclass(frozen=True, slots=True)
class TownLaw:
    """Shares of K kinds in each of G groups, ready to draw from."""

    shares: Floats
    cumulative: Floats

    @classmethod
    def of(cls, weights: npt.ArrayLike) -> TownLaw:
        """Return the law with these weights: a row for each group, or one row for a single group."""
        shares = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        shares = shares / shares.sum(axis=1, keepdims=True)
        running = np.cumsum(shares, axis=1)
        # A sum that stops short of 1 by rounding would let the last, impossible kinds appear.
        running[running > 1 - 1e-12] = 1.0
        running += np.arange(len(shares))[:, None]
        return cls(shares=shares, cumulative=running.ravel())

    def draw(self, rng: np.random.Generator, group: npt.NDArray[np.integer]) -> Integers:
        """Return one kind for each entry of `group`."""
        # 24-bit uniforms: group + uniform is then exact, and never rounds up to the next group.
        place = group + rng.random(len(group), dtype=np.float32).astype(np.float64)
        found = np.searchsorted(self.cumulative, place, side="right")
        kinds: Integers = found.astype(np.int64) - group * self.shares.shape[1]
        return kinds


def bands(from_age: Mapping[int, object]) -> Integers:
    """Return, for each age from 0 to 120, which entry of a `..._FROM_AGE` table holds.

    >>> bands({0: "minor", 18: "adult"})[[17, 18]].tolist()
    [0, 1]
    """
    return (
        np.searchsorted(np.array(list(from_age)), np.arange(121), side="right").astype(np.int64) - 1
    )


def at_age(from_age: Mapping[int, object]) -> Floats:
    """Return, for each age from 0 to 120, what a `..._FROM_AGE` table says.

    >>> at_age({0: 0.0, 18: 0.5})[[17, 18]].tolist()
    [0.0, 0.5]
    """
    return np.array(list(from_age.values()), dtype=np.float64)[bands(from_age)]


def chunks(total: int, size: int = CHUNK) -> Sequence[tuple[int, int]]:
    """Return (start, count) of each chunk of `total` rows."""
    return [(start, min(size, total - start)) for start in range(0, total, size)]


def category(codes: Integers, values: Sequence[str], *, known: Bits | None = None) -> pa.Array:
    """Return a text column, dictionary-encoded; NULL where `known` is false."""
    indices = pa.array(codes.astype(np.int16), mask=None if known is None else ~known)
    return pa.DictionaryArray.from_arrays(indices, pa.array(values))


def days(since_1970: Integers) -> pa.Array:
    """Return a date column from day numbers."""
    return pa.array(since_1970.astype(np.int32)).view(pa.date32())


class ParquetFile:
    """A Parquet file in the making. It takes its name only by `keep`, when it is complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unfinished = path.with_name(path.name + ".part")
        self._writer: pq.ParquetWriter | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the batch as one row group; nothing of it stays in memory."""
        if self._writer is None:
            # Without Arrow's own schema every reader sees plain text columns, not dictionaries.
            self._writer = pq.ParquetWriter(
                self._unfinished,
                batch.schema,
                compression="zstd",
                compression_level=1,
                store_schema=False,
            )
        self._writer.write_batch(batch, row_group_size=max(1, batch.num_rows))

    def close(self) -> None:
        """Finish what was written; may be called more than once."""
        if self._writer is not None:
            self._writer.close()

    def keep(self) -> Path:
        """Return the path, which now holds the complete file."""
        self.close()
        return self._unfinished.replace(self._path)


def write_parquet(batches: Iterable[pa.RecordBatch], path: Path) -> Path:
    """Return `path` after writing the batches, one row group each."""
    file = ParquetFile(path)
    try:
        for batch in batches:
            file.write(batch)
    finally:
        file.close()
    return file.keep()
