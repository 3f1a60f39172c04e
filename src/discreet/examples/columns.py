"""Arrow columns from codes, and Parquet files written chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.core.arrays import Bits, Integers


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
