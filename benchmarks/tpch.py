"""The 22 queries of TPC-H through the curator: how each is answered, how exactly, how fast.

python -m benchmarks.tpch [--scale 0.1] [--epsilon 1] [--runs 3]

Each file of tpch_queries/ says in its first lines whether the query is asked as it is (perhaps with a
count beside its sums, so that its error can be judged), with a stated rewrite, or is refused. The
relative error is that of the counts against plain DuckDB, over all groups with a true count above 0,
bounding included; the statement's epsilon is shared by all of its aggregates.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import figure
from benchmarks.tpch_data import prepare, toml, truth

import discreet
from discreet.errors import DiscreetError

FOLDER = Path(__file__).parent / "tpch_queries"
GOAL_ANSWERED, GOAL_ERROR = 12, 0.10


@dataclass(frozen=True)
class Query:
    """One query: its number, how it is asked, and the columns that hold counts."""

    number: int
    status: str
    rewrite: str
    max_rows: int | None
    counts: tuple[str, ...]
    sql: str

    @property
    def refused(self) -> bool:
        return self.status == "refused"


def read(path: Path) -> Query:
    """Return the query in a file."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    heads = [line[3:].strip() for line in lines if line.startswith("-- ")]
    said = dict(head.partition(": ")[::2] for head in heads)
    status = heads[0].partition(": ")[0]
    return Query(
        number=int(path.stem[1:]),
        status=status,
        rewrite=said.get(status, ""),
        max_rows=int(said["max_rows"]) if "max_rows" in said else None,
        counts=tuple(said.get("counts", "").split(", ")),
        sql="\n".join(line for line in lines if not line.startswith("--")),
    )


def queries() -> list[Query]:
    """Return all 22, in order."""
    return [read(path) for path in sorted(FOLDER.glob("q*.sql"))]


def exact(query: Query, database) -> dict[tuple, dict[str, object]]:
    """Return the true rows by their keys, without ORDER BY and LIMIT."""
    whole = query.sql.partition("ORDER BY")[0]
    found = database.execute(whole)
    names = [column[0] for column in found.description]
    return keyed(names, found.fetchall(), query)


def keyed(names, rows, query: Query) -> dict[tuple, dict[str, object]]:
    """Return rows by the values of their keys: the columns before the first aggregate."""
    keys = key_count(query)
    return {tuple(row[:keys]): dict(zip(names, row, strict=True)) for row in rows}


def key_count(query: Query) -> int:
    """Return how many of the first columns are keys."""
    clause = query.sql.rpartition("GROUP BY")[2] if "\nGROUP BY" in query.sql else ""
    inside = clause.partition("ORDER BY")[0].strip()
    depth, count = 0, 1 if inside else 0
    for letter in inside:
        depth += (letter == "(") - (letter == ")")
        count += letter == "," and not depth
    return count


def errors(answer, true, query: Query) -> list[float]:
    """Return the relative errors of all counts whose truth is above 0."""
    found = keyed(answer.columns, answer.rows, query)
    return [
        abs(row[name] - true[key][name]) / float(true[key][name])
        for key, row in found.items()
        for name in query.counts
        if true.get(key, {}).get(name)
    ]


def run(query: Query, curator, database, *, epsilon: str, runs: int) -> dict[str, object]:
    """Return one line of the table."""
    row: dict[str, object] = {"query": query.number, "status": query.status, "said": query.rewrite}
    seconds, relative = [], []
    try:
        for _ in range(runs):
            start = time.perf_counter()
            answer = curator.query(query.sql, epsilon=epsilon, max_rows=query.max_rows, fresh=True)
            seconds.append(time.perf_counter() - start)
            relative += errors(answer, exact(query, database), query)
    except DiscreetError as error:
        return row | {"status": "refused", "said": str(error), "error": None, "seconds": None}
    return row | {
        "error": statistics.median(relative) if relative else None,
        "seconds": statistics.median(seconds),
    }


def rows(*, scale: float, epsilon: str, runs: int, only: int | None = None):
    """Yield one line for each query."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        prepare(folder, scale)
        with discreet.open(toml(folder, scale=scale, epsilon="1000000")) as curator:
            database = truth(folder)
            for query in queries():
                if only in {None, query.number}:
                    yield run(query, curator, database, epsilon=epsilon, runs=runs)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", type=int)
    options = parser.parse_args(arguments)
    print(
        f"TPC-H at scale {options.scale}, customer as the unit, epsilon {options.epsilon} a query"
    )
    print(f"{'query':<7}{'status':<11}{'error':>8}{'seconds':>9}  how, or why not")
    good = 0
    for row in rows(
        scale=options.scale, epsilon=options.epsilon, runs=options.runs, only=options.only
    ):
        error = "" if row["error"] is None else f"{100 * row['error']:.1f}%"
        seconds = "" if row["seconds"] is None else f"{row['seconds']:.2f}"
        if row["seconds"] is not None:
            figure(f"Q{row['query']}", row["seconds"], "s")
        good += row["error"] is not None and row["error"] <= GOAL_ERROR
        print(
            f"Q{row['query']:<6}{row['status']:<11}{error:>8}{seconds:>9}  {row['said']}",
            flush=True,
        )
    print(f"{good} queries with a median relative error of counts of at most 10%")


if __name__ == "__main__":
    main()
