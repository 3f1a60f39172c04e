"""Sufficient statistics of a regression in the engine, beside the same sums in plain SQL without clamps.

python -m benchmarks.learn_sums [--rows N] [--columns K] [--pairs N]

K columns of numbers: the number of rows, K sums and K (K + 1) / 2 sums of products (496 for 30). Ours is what
`discreet learn regress` does once it is paid: sealed codes read from the canonical snapshot, then their
products. Plain is DuckDB on the same Parquet file. CPU time of all processes, medians of interleaved pairs.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from itertools import combinations_with_replacement
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from benchmarks.snapshots import children, cpu

from discreet import open as open_curator
from discreet.measure.columns import scan_of
from discreet.measure.sealing import seal_codes
from discreet.privacy.kernel.canonical import CanonicalRecipe
from discreet.work.learn.gram_matrix import coded_column, exact_products, variables_of
from discreet.work.learn.private_rows import fetch

TOML = """
[datasets.bench]
epsilon = 1000
delta = 1e-3
[datasets.bench.tables.t]
source = "t.parquet"
unit = "row"
[datasets.bench.tables.t.columns]
"""


def table(folder: Path, rows: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    found = {f"x{i}": rng.integers(0, 1001, rows) for i in range(columns)}
    parquet.write_table(pa.table(found), folder / "t.parquet")
    lines = [f'x{i} = {{ type = "integer", lower = 0, upper = 1000 }}' for i in range(columns)]
    (folder / "discreet.toml").write_text(TOML + "\n".join(lines) + "\n")


def plain_sql(path: Path, columns: int) -> str:
    pairs = combinations_with_replacement(range(columns), 2)
    parts = ["COUNT(*)", *(f"SUM(x{i})" for i in range(columns))]
    parts += [f"SUM(x{i} * x{j})" for i, j in pairs]
    return f"SELECT {', '.join(parts)} FROM '{path}'"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        table(folder, options.rows, options.columns)
        plain = plain_sql(folder / "t.parquet", options.columns)
        with open_curator(folder / "discreet.toml") as curator:
            declared = curator.catalog.table("t")
            known = [v for c in declared.columns for v in variables_of(c)]
            columns = [coded_column(c, gaps=True) for c in declared.columns]
            scan = scan_of(curator.catalog, "bench.t")
            started = time.perf_counter()
            codes = seal_codes(scan, curator.engine, columns)
            planned = time.perf_counter() - started
            recipe = CanonicalRecipe(curator.catalog.dataset("bench"), declared)
            with curator.engine.hold({"bench.t": recipe}) as held, duckdb.connect() as other:
                other.execute("SET threads = 2")
                reader = held.paid(curator.ledger.record_look("bench", reason="a benchmark"))

                def mine_alone() -> None:
                    exact_products(fetch(reader, codes), columns, known)

                def ours() -> float:
                    start = time.process_time()
                    inside = cpu(children(curator.engine), mine_alone)
                    return inside + time.process_time() - start

                def theirs() -> float:
                    start = time.process_time()
                    other.execute(plain).fetchall()
                    return time.process_time() - start

                ours(), theirs()
                found = [(theirs(), ours()) for _ in range(options.pairs)]
    floor, mine = (statistics.median(side) for side in zip(*found, strict=True))
    ratio = statistics.median(two / one for one, two in found)
    count = 1 + options.columns + options.columns * (options.columns + 1) // 2
    print(
        f"{options.rows:,} rows, {count} sums: plain {floor:.2f} s, ours {mine:.2f} s of CPU, "
        f"{ratio:.2f}x; planned and judged in {planned:.2f} s"
    )


if __name__ == "__main__":
    main()
