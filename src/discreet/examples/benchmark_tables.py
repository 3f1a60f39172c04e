"""Large flat tables for benchmarks: any number of rows, written at disk speed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidInput
from discreet.examples.columns import category, write_parquet
from discreet.examples.draw import Stream, chunks, stream

ROWS_A_CHUNK = 1_000_000


def bench_table(
    rows: int, persons: int, path: str | Path, *, groups: int = 50, seed: int = 0
) -> Path:
    """Return `path` after writing `rows` rows of `persons` people as Parquet.

    Columns: person_id (1 to `persons`; each row its own person where the two numbers are equal,
    otherwise drawn uniformly), place (`groups` texts, uneven), age (0 to 99), income (0 to 500,000,
    log-normal), score (a number in steps of 0.01 from 0 to 100).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bench_table(3_000, 1_000, f"{folder}/bench.parquet").name
    'bench.parquet'
    """
    if not 1 <= persons <= rows:
        raise InvalidInput("bench_table needs at least one person and no more people than rows.")
    if not 1 <= groups <= 10_000:
        raise InvalidInput("bench_table makes 1 to 10,000 groups.")
    return write_parquet(_batches(rows, persons, groups, seed), Path(path))


def _batches(rows: int, persons: int, groups: int, seed: int) -> Iterator[pa.RecordBatch]:
    places = tuple(f"place {i + 1:0{len(str(groups))}d}" for i in range(groups))
    for chunk, (start, count) in enumerate(chunks(rows, ROWS_A_CHUNK)):
        rng = stream(seed, Stream.BENCH, chunk)
        own = persons == rows
        ids = np.arange(start, start + count) if own else rng.integers(0, persons, count)
        # The square of a uniform number: the first group is the largest, the last about half the mean.
        place = (rng.random(count) ** 2 * groups).astype(np.int64)
        income = np.exp(10.2 + 0.6 * rng.standard_normal(count, dtype=np.float32))
        yield pa.RecordBatch.from_pydict(
            {
                "person_id": pa.array(ids + 1),
                "place": category(place, places),
                "age": pa.array(rng.integers(0, 100, count, dtype=np.int32)),
                "income": pa.array(np.minimum(income, 500_000).astype(np.int32)),
                "score": pa.array(rng.integers(0, 10_001, count) / 100),
            }
        )
