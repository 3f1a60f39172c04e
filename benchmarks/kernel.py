"""What the kernel adds to a statement: CPU time with and without it, in turn, on one snapshot.

python -m benchmarks.kernel [--rows N] [--persons N] [--pairs N]

"Without" is what would be asked of the same canonical relation without the kernel: no clamps, and SUM in place of a
sum in 64 bits, which nothing but a clamp makes safe.
Ratios are medians over interleaved pairs; the judging itself (parse, derive, admit) is timed apart.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
from pathlib import Path

import duckdb
from benchmarks.curator import ROWS_A_PERSON, curator_of
from benchmarks.figures import figure
from benchmarks.snapshots import GROUPS, children, cpu

from discreet.data.engines.base import PaidReader
from discreet.lab.town import bench_table
from discreet.privacy.kernel.canonical import CanonicalRecipe

_CLAMP = re.compile(
    r"CASE WHEN (?P<m>.+?) > -?\d+ THEN -?\d+ WHEN (?P=m) < -?\d+ THEN -?\d+ ELSE (?P=m) END"
)
ROW_TASKS = {
    "sum of a canonical column": ("SELECT SUM(income) AS s FROM t", 1.05),
    "mean by 50 groups": ("SELECT place, AVG(income) AS m FROM t GROUP BY place", 1.05),
    "sum in a region": ("SELECT SUM(income) AS s FROM t WHERE age BETWEEN 20 AND 60", 1.05),
    "sum of a narrowed column": ("SELECT SUM(age) AS s FROM t WHERE age < 30", 1.5),
    "variance of a multiple": ("SELECT VARIANCE(age * 2) AS v FROM t", 1.05),
    "sum of an expression": ("SELECT SUM(age * 2 + 1) AS s FROM t", 1.5),
    "variance of an expression": ("SELECT VARIANCE(age * 2 + 1) AS v FROM t", 1.5),
    "sum of a product": ("SELECT SUM(age * income) AS s FROM t", 1.5),
    "its mean by 50 groups": ("SELECT place, AVG(age * income) AS m FROM t GROUP BY place", 1.5),
    "sum of two columns": ("SELECT SUM(age + income) AS s FROM t", 1.5),
    "sum of a CASE": ("SELECT SUM(CASE WHEN age > 40 THEN income END) AS s FROM t", 1.5),
    "sum of a CASE with ELSE 0": (
        "SELECT SUM(CASE WHEN age > 40 THEN income ELSE 0 END) AS s FROM t",
        1.5,
    ),
    "sum of an absolute value": ("SELECT SUM(ABS(age - 40)) AS s FROM t", 1.5),
    "an expression beside COUNT(*)": (
        "SELECT COUNT(*) AS n, AVG(age * 2 + 1) AS m FROM t",
        1.5,
    ),
    "the same by 50 groups": (
        "SELECT place, COUNT(*) AS n, AVG(age * 2 + 1) AS m FROM t GROUP BY place",
        1.5,
    ),
    "two expressions": ("SELECT AVG(age * income) AS m, SUM(ABS(age - 40)) AS s FROM t", 1.5),
    "two expressions by 50 groups": (
        "SELECT place, AVG(age * income) AS m, SUM(ABS(age - 40)) AS s FROM t GROUP BY place",
        1.5,
    ),
    "sum of a square": ("SELECT SUM(income * income) AS s FROM t", 1.5),
    "it and COUNT(*) by 50 groups": (
        "SELECT place, COUNT(*) AS n, SUM(income * income) AS s FROM t GROUP BY place",
        1.5,
    ),
    "a product and COUNT(*) by groups": (
        "SELECT place, COUNT(*) AS n, SUM(age * income) AS s FROM t GROUP BY place",
        1.5,
    ),
    "a CASE and COUNT(*) by groups": (
        "SELECT place, COUNT(*) AS n, AVG(CASE WHEN age > 40 THEN income END) AS m FROM t GROUP BY place",
        1.5,
    ),
    "a CASE of a product, the same": (
        "SELECT place, COUNT(*) AS n, AVG(CASE WHEN age > 40 THEN age * income END) AS m FROM t GROUP BY place",
        1.5,
    ),
    "two and COUNT(*) by 50 groups": (
        "SELECT place, COUNT(*) AS n, AVG(age * income) AS m, SUM(ABS(age - 40)) AS s FROM t GROUP BY place",
        1.5,
    ),
}
NULL_TASKS = {
    task: ROW_TASKS[task]
    for task in ROW_TASKS
    if task not in {"mean by 50 groups", "sum in a region", "sum of a narrowed column"}
}
BOUNDED_TASKS = {task: ROW_TASKS[task] for task in list(ROW_TASKS)[-6:]}
PERSON_TASKS = {
    "3 rows a person, by rank": ("SELECT place, SUM(income) AS s FROM t GROUP BY place", 1.10),
    "3 rows a person, after WHERE": ("SELECT SUM(income) AS s FROM t WHERE age >= 18", 1.10),
}


def without_clamps(sql: str) -> str:
    """Return the statement with each clamp replaced by its operand."""
    found = sql
    while (shorter := _CLAMP.sub(lambda match: match["m"], found)) != found:
        found = shorter
    return found if found == sql else found.replace("sum_no_overflow(", "SUM(")


def section(folder: Path, source: Path, unit: str, tasks: dict, count: int) -> None:
    with curator_of(folder, source, unit) as curator:
        recipe = CanonicalRecipe(curator.catalog.dataset("bench"), curator.catalog.table("t"))
        with curator.engine.hold({"bench.t": recipe}) as held:
            for task, (sql, goal) in tasks.items():
                start = time.perf_counter()
                ours = curator.explain(sql, epsilon=1, fresh=True).sql
                planned = time.perf_counter() - start
                reader = held.paid(curator.ledger.record_look("bench", reason="a benchmark"))
                _row(curator, reader, task, (without_clamps(ours), ours), goal, count, planned)


def _row(
    curator, reader: PaidReader, task: str, texts: tuple, goal: float, count: int, planned: float
) -> None:
    for text in texts:
        reader.run(text)
    processes = children(curator.engine)
    pairs = [
        tuple(cpu(processes, lambda text=text: reader.run(text)) for text in texts)
        for _ in range(count)
    ]
    floor, mine = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(two / one for one, two in pairs)
    missed = "" if ratio <= goal else f"   MISSED {goal}"
    figure(
        task,
        1e3 * mine,
        "ms",
        beside="without clamps",
        theirs=1e3 * floor,
        wanted=f"{goal}x",
        met=ratio <= goal,
        paired=ratio,
    )
    print(
        f"{task:<32}{1e3 * floor:>9.1f} ms{1e3 * mine:>9.1f} ms{ratio:>7.2f}x"
        f"   explain {1e3 * planned:.0f} ms{missed}",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--persons", type=int, default=3_000_000)
    parser.add_argument("--pairs", type=int, default=21)
    options = parser.parse_args(arguments)
    print(f"{options.rows:,} rows, {options.pairs} pairs; CPU time: without, with, ratio")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        bound = f'unit = "person_id"\nmax_rows = {ROWS_A_PERSON}'
        flat = bench_table(options.rows, options.rows, folder / "rows.parquet", groups=GROUPS)
        section(folder / "rows", flat, 'unit = "row"', ROW_TASKS, options.pairs)
        print("the same, every tenth age and income missing")
        gaps = _with_gaps(flat, folder / "gaps.parquet")
        section(folder / "gaps", gaps, 'unit = "row"', NULL_TASKS, options.pairs)
        people = bench_table(
            options.rows, options.persons, folder / "people.parquet", groups=GROUPS
        )
        section(folder / "people", people, bound, PERSON_TASKS, options.pairs)
        print(f"{ROWS_A_PERSON} rows a person stored, every tenth age and income missing")
        lacking = _with_gaps(people, folder / "lacking.parquet")
        stored = f'{bound}\nbound = "table"'
        section(folder / "stored", lacking, stored, BOUNDED_TASKS, options.pairs)


def _with_gaps(source: Path, target: Path) -> Path:
    age, income = (
        f"CASE WHEN hash({name}, file_row_number) % 10 > 0 THEN {name} END AS {name}"
        for name in ("age", "income")
    )
    rows = (
        f"SELECT * REPLACE ({age}, {income}) FROM read_parquet('{source}', file_row_number = true)"
    )
    duckdb.execute(f"COPY (SELECT * EXCLUDE file_row_number FROM ({rows})) TO '{target}'")
    return target


if __name__ == "__main__":
    main()
