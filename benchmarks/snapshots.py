"""Questions on the canonical snapshot beside plain SQL on the Parquet file: CPU time, in turn.

python -m benchmarks.snapshots [--rows N] [--persons N] [--pairs N]

Each pair runs the plain query and our SQL once, in child processes of one engine; the CPU time is
that of all threads of the child. Ratios are medians over the pairs.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.curator import ROWS_A_PERSON, curator_of
from benchmarks.figures import figure

from discreet.curator import Curator
from discreet.data.engines.base import Held
from discreet.data.engines.duckdb.engine import DuckDBEngine
from discreet.lab.town import bench_table
from discreet.privacy.kernel.canonical import CanonicalRecipe

GROUPS = 50
ROW_TASKS = {
    "sum": ("SELECT SUM(income) AS s FROM t", 0.5),
    "mean": ("SELECT AVG(income) AS m FROM t", 0.5),
    "count by 50 groups": ("SELECT place, COUNT(*) AS n FROM t GROUP BY place", 1.8),
}
PERSON_TASKS = {
    "count, 3 rows a person": ("SELECT COUNT(*) AS n FROM t", 3.0),
    "count by 50 groups, 3 rows a person": (
        "SELECT place, COUNT(*) AS n FROM t GROUP BY place",
        3.0,
    ),
}


def spent(process: int) -> float:
    """Return the CPU seconds that all threads of a process have used."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def cpu(processes: list[int], work: Callable[[], object]) -> float:
    before = sum(map(spent, processes))
    work()
    return sum(map(spent, processes)) - before


def children(engine: DuckDBEngine) -> list[int]:
    pools = (engine._canon, engine._raw)  # noqa: SLF001 the children's own clocks
    return [child._process.pid for pool in pools for child in pool._idle]  # noqa: SLF001


def pairs(curator: Curator, held: Held, sql: str, count: int) -> tuple[float, float, float]:
    """Return the median CPU seconds of the plain query and of ours, and of their ratio."""
    engine = curator.engine
    assert isinstance(engine, DuckDBEngine)
    plain = sql.replace("FROM t", f"FROM {engine.relation('bench.t')} AS t")
    ours = curator.explain(sql, epsilon=1, fresh=True).sql.splitlines()

    reader = held.paid(curator.ledger.record_look("bench", reason="a benchmark"))

    def answer() -> None:
        for read in ours:
            reader.run(read)

    engine.owner_reader().run(plain), answer()
    processes = children(engine)
    found = [
        (cpu(processes, lambda: engine.owner_reader().run(plain)), cpu(processes, answer))
        for _ in range(count)
    ]
    floor, mine = (statistics.median(side) for side in zip(*found, strict=True))
    return floor, mine, statistics.median(two / one for one, two in found)


def section(
    folder: Path, source: Path, unit: str, tasks: dict[str, tuple[str, float]], count: int
) -> None:
    with curator_of(folder, source, unit) as curator:
        dataset = curator.catalog.dataset("bench")
        recipe = CanonicalRecipe(dataset, curator.catalog.table("t"))
        start = time.perf_counter()
        with curator.engine.hold({"bench.t": recipe}) as held:
            made = time.perf_counter() - start
            size = sum(path.stat().st_size for path in folder.rglob("rows.duckdb"))
            print(
                f"made in {made:.1f} s, {size / 1e6:.0f} MB (Parquet {source.stat().st_size / 1e6:.0f} MB)"
            )
            for task, (sql, goal) in tasks.items():
                floor, mine, ratio = pairs(curator, held, sql, count)
                missed = "" if ratio <= goal else f"   MISSED {goal}"
                figure(
                    task,
                    1e3 * mine,
                    "ms",
                    beside="plain DuckDB",
                    theirs=1e3 * floor,
                    wanted=f"{goal}x",
                    met=ratio <= goal,
                    paired=ratio,
                )
                print(
                    f"{task:<40}{1e3 * floor:>9.1f} ms{1e3 * mine:>9.1f} ms{ratio:>7.2f}x{missed}",
                    flush=True,
                )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--persons", type=int, default=3_000_000)
    parser.add_argument("--pairs", type=int, default=21)
    options = parser.parse_args(arguments)
    print(f"{options.rows:,} rows, {options.pairs} pairs; CPU time: plain, ours, ratio")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        flat = bench_table(options.rows, options.rows, folder / "rows.parquet", groups=GROUPS)
        section(folder / "rows", flat, 'unit = "row"', ROW_TASKS, options.pairs)
        people = bench_table(
            options.rows, options.persons, folder / "people.parquet", groups=GROUPS
        )
        bound = f'unit = "person_id"\nmax_rows = {ROWS_A_PERSON}\nbound = "table"'
        section(folder / "people", people, bound, PERSON_TASKS, options.pairs)


if __name__ == "__main__":
    main()
