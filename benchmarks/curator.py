"""Private SQL beside the same question without privacy: one engine, one process, one run.

python -m benchmarks.curator [--rows N] [--persons N] [--rounds N]

The floor is the non-private query on the very child process, settings and Parquet file that answer
ours. Each piece of work is timed in turn; medians are compared. Every question of ours is asked
fresh: parsed, priced, charged durably, run, noised, stored.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import figure
from benchmarks.timing import in_turn, seconds

import discreet
from discreet.lab.town import bench_table

GOAL_RATIO, GOAL_MS = 1.25, 30
WANTED = f"{GOAL_RATIO}x + {GOAL_MS} ms"
GROUPS = 50
ROWS_A_PERSON = 3

TOML = """
[engine]
url = "{engine}"
[ledger]
url = "sqlite:ledger.db"
[datasets.bench]
epsilon = 100000
delta = 1e-6
seconds = 600
[datasets.bench.tables.{name}]
source = "{source}"
{unit}
[datasets.bench.tables.{name}.columns]
person_id = {{ type = "identifier" }}
place = {{ type = "category", values = {places} }}
age = {{ type = "integer", lower = 0, upper = 99 }}
income = {{ type = "integer", lower = 0, upper = 500000 }}
score = {{ type = "number", lower = 0, upper = 100, step = 0.01 }}
"""

ROW_TASKS = {
    "count by 50 groups": "SELECT place, COUNT(*) AS n FROM t GROUP BY place",
    "sum and mean by groups": (
        "SELECT place, SUM(income) AS total, AVG(income) AS mean FROM t GROUP BY place"
    ),
    "mean of decimals by groups": "SELECT place, AVG(score) AS mean FROM t GROUP BY place",
    "median by groups": "SELECT place, MEDIAN(income) AS middle FROM t GROUP BY place",
    "count where, one number": "SELECT COUNT(*) AS n FROM t WHERE age < 40 AND income > 20000",
}
PERSON_TASK = "SELECT place, COUNT(*) AS n FROM t GROUP BY place"
NAIVE = (
    "SELECT place, COUNT(*) AS n FROM (SELECT place, ROW_NUMBER() OVER "
    "(PARTITION BY person_id ORDER BY hash(place)) AS turn FROM t) AS w "
    f"WHERE turn <= {ROWS_A_PERSON} GROUP BY place"
)


@dataclass(frozen=True)
class Row:
    """One task: the floor, ours, and whether ours is where it should be."""

    task: str
    floor: float
    ours: float
    good: bool
    wanted: str = ""

    def keep(self) -> None:
        figure(
            self.task,
            1e3 * self.ours,
            "ms",
            beside="naive window" if "beside the naive" in self.task else "plain DuckDB",
            theirs=None if self.task.endswith("once") else 1e3 * self.floor,
            wanted=self.wanted,
            met=self.good if self.wanted else None,
        )

    def words(self) -> str:
        over = 1e3 * (self.ours - self.floor)
        return (
            f"{self.task:<44}{1e3 * self.floor:>9.1f} ms{1e3 * self.ours:>9.1f} ms"
            f"{self.ours / self.floor:>7.2f}x{over:>+9.1f} ms{'' if self.good else '   MISSED'}"
        )


def curator_of(
    folder: Path, source: Path | str, unit: str, *, engine: str = "duckdb:"
) -> discreet.Curator:
    """Return a curator of one bench table, with a ledger of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    width = len(str(GROUPS))
    places = [f"place {i + 1:0{width}d}" for i in range(GROUPS)]
    written = str(places).replace("'", '"')
    text = TOML.format(name="t", source=source, unit=unit, places=written, engine=engine)
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    return discreet.open(folder / "discreet.toml")


def row_level(folder: Path, source: Path, rounds: int) -> list[Row]:
    """Return the tasks in which every row is another person."""
    found = []
    with curator_of(folder, source, 'unit = "row"') as curator:
        relation = curator.engine.relation("bench.t")
        for task, sql in ROW_TASKS.items():
            plain = sql.replace("FROM t", f"FROM {relation} AS t")
            times = in_turn(
                {
                    "floor": lambda plain=plain: curator.engine.owner_reader().run(plain),
                    "ours": lambda sql=sql: curator.query(sql, epsilon=1, fresh=True),
                },
                rounds,
            )
            limit = GOAL_RATIO * times["floor"] + GOAL_MS / 1e3
            found.append(Row(task, times["floor"], times["ours"], times["ours"] <= limit, WANTED))
    return found


def person_level(folder: Path, source: Path, rounds: int) -> list[Row]:
    """Return the task in which at most three rows of a person count."""
    bound = f'unit = "person_id"\nmax_rows = {ROWS_A_PERSON}'
    each = curator_of(folder / "query", source, bound)
    once = curator_of(folder / "table", source, f'{bound}\nbound = "table"')
    with each, once:
        relation = each.engine.relation("bench.t")

        def plain(sql: str) -> object:
            return each.engine.owner_reader().run(sql.replace("FROM t", f"FROM {relation} AS t"))

        stored = seconds(lambda: once.query(PERSON_TASK, epsilon=1, fresh=True))
        times = in_turn(
            {
                "floor": lambda: plain(PERSON_TASK),
                "naive": lambda: plain(NAIVE),
                "query": lambda: each.query(PERSON_TASK, epsilon=1, fresh=True),
                "table": lambda: once.query(PERSON_TASK, epsilon=1, fresh=True),
            },
            rounds,
        )
    floor, naive, ours, view = (times[name] for name in ("floor", "naive", "query", "table"))
    return [
        Row("3 rows a person: naive window, not private", floor, naive, good=True),
        Row("3 rows a person: ours beside the naive window", naive, ours, ours <= naive, "1x"),
        Row("3 rows a person: ours on the stored view", floor, view, view <= 3 * floor, "3x"),
        Row("3 rows a person: storing that view, once", floor, stored, good=True),
    ]


def fixed_cost(folder: Path, asked: int = 50) -> list[Row]:
    """Return the median of a small question, from text to answer, durable charge included."""
    source = bench_table(1_000, 1_000, folder / "small.parquet", groups=GROUPS)
    sql = ROW_TASKS["count by 50 groups"]
    with curator_of(folder / "small", source, 'unit = "row"') as curator:
        relation = curator.engine.relation("bench.t")
        plain = sql.replace("FROM t", f"FROM {relation} AS t")
        curator.query(sql, epsilon=1, fresh=True)
        floor = statistics.median(
            seconds(lambda: curator.engine.owner_reader().run(plain)) for _ in range(asked)
        )
        ours = statistics.median(
            seconds(lambda: curator.query(sql, epsilon=1, fresh=True)) for _ in range(asked)
        )
    return [
        Row(
            "fixed cost, 1,000 rows, 50 groups",
            floor,
            ours,
            ours <= GOAL_MS / 1e3,
            f"{GOAL_MS} ms",
        )
    ]


def rows(*, count: int, persons: int, rounds: int) -> list[Row]:
    """Return all rows of the table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        found = fixed_cost(folder)
        flat = bench_table(count, count, folder / "rows.parquet", groups=GROUPS)
        found += row_level(folder / "rows", flat, rounds)
        people = bench_table(
            ROWS_A_PERSON * persons, persons, folder / "people.parquet", groups=GROUPS
        )
        found += person_level(folder / "people", people, rounds)
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--persons", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    print(f"{options.rows:,} rows; {options.persons:,} persons with {ROWS_A_PERSON} rows each")
    print(f"{'task':<44}{'floor':>12}{'ours':>12}{'ratio':>8}{'more':>12}")
    for row in rows(count=options.rows, persons=options.persons, rounds=options.rounds):
        print(row.words(), flush=True)
        row.keep()


if __name__ == "__main__":
    main()
