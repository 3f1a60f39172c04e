"""Synthetic copies of large tables on DuckDB: seconds of each step, CPU time and memory.

python -m benchmarks.synth_scale [--rows N] [--columns D] [--values V] [--method tree] [--wide]
`--wide` is 100,000 rows of 100 columns; without it 10 million rows of 20 columns.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet

TOML = """
[datasets.scale]
epsilon = 1
delta = 1e-9
[datasets.scale.tables.t]
source = "t.parquet"
unit = "row"
[datasets.scale.tables.t.columns]
{columns}
"""


def write_table(path: Path, rows: int, columns: int, values: int) -> None:
    """Write codes that hang together: each column follows the one before it half of the time."""
    dice = np.random.default_rng(1)
    writer = None
    for start in range(0, rows, 1_000_000):
        count = min(1_000_000, rows - start)
        codes = dice.integers(0, values, (columns, count), dtype=np.int32)
        for k in range(1, columns):
            codes[k] = np.where(dice.random(count) < 0.5, codes[k - 1], codes[k])
        table = pa.table({f"x{k}": codes[k] for k in range(columns)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


class Steps:
    """Seconds between the names of steps that a synthesis tells."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self.last, self.since = "start", time.perf_counter()

    def __call__(self, _done: int, _of: int, what: str) -> None:
        now = time.perf_counter()
        self.times[self.last] = self.times.get(self.last, 0.0) + now - self.since
        self.last, self.since = what, now


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    parser.add_argument("--values", type=int, default=20)
    parser.add_argument("--method", default="tree")
    parser.add_argument("--wide", action="store_true")
    options = parser.parse_args(arguments)
    rows = options.rows or (100_000 if options.wide else 10_000_000)
    columns = options.columns or (100 if options.wide else 20)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_table(folder / "t.parquet", rows, columns, options.values)
        line = f'{{ type = "integer", lower = 0, upper = {options.values - 1} }}'
        text = TOML.format(columns="\n".join(f"x{k} = {line}" for k in range(columns)))
        (folder / "discreet.toml").write_text(text, encoding="utf-8")
        steps = Steps()
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        with discreet.open(folder) as curator:
            found = curator.synthesize("t", epsilon=1, method=options.method, progress=steps)
            steps(1, 1, "end")
        took = time.perf_counter() - start
        own = resource.getrusage(resource.RUSAGE_SELF)
        engine = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = own.ru_utime + own.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{rows:,} rows x {columns} columns of {options.values} values, {options.method}: "
        f"{found.table.num_rows:,} rows in {took:.0f} s"
    )
    print(f"CPU: {cpu:.0f} s ours, {engine.ru_utime + engine.ru_stime:.0f} s the engine's")
    print(
        f"memory: {own.ru_maxrss / 2**20:.1f} GiB ours, {engine.ru_maxrss / 2**20:.1f} GiB the engine's"
    )
    for what, seconds in sorted(steps.times.items(), key=lambda item: -item[1])[:8]:
        print(f"{seconds:>9.1f} s  {what}")


if __name__ == "__main__":
    main()
