"""The tasks of benchmarks/curator.py in the words of other systems. Runs in a peer's environment.

python benchmarks/peer_code.py PEER ROWS.parquet PEOPLE.parquet GROUPS

Prints one JSON line for each task: the floor (plain DuckDB in this very process) and the peer, in
seconds, each the median of three after one turn to warm up. Imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time

TASKS = {
    "count": "SELECT place, COUNT(*) AS n FROM t GROUP BY place",
    "sum and mean": "SELECT place, SUM(income) AS total, AVG(income) AS mean FROM t GROUP BY place",
    "median": "SELECT place, MEDIAN(income) AS middle FROM t GROUP BY place",
    "3 rows a person": "SELECT place, COUNT(*) AS n FROM t GROUP BY place",
}
CEILING = 500_000
BINS = 4096


def median_of(work, rounds: int) -> float:
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def floor(path: str, sql: str):
    import duckdb

    database = duckdb.connect()
    database.execute(f"CREATE VIEW t AS SELECT * FROM '{path}'")
    return lambda: database.execute(sql).fetchall()


def opendp(rows: str, people: str, places: list[str]):
    """OpenDP with Polars, lazily over the Parquet file; keys are public."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    keys = pl.LazyFrame({"place": places})
    income = pl.col("income").cast(pl.Int64).fill_null(0)

    def ask(path, unit, columns):
        context = dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=unit,
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=(), max_length=20_000_000)],
        )
        query = context.query()
        if path == people:
            query = query.truncate_per_group(3)
        query.group_by("place").agg(columns).with_keys(keys).release().collect()

    one = dp.unit_of(contributions=1)
    person = dp.unit_of(contributions=3, identifier=pl.col("person_id"))
    candidates = list(range(0, CEILING, CEILING // BINS))
    total = income.dp.sum((0, CEILING))
    return {
        "count": lambda: ask(rows, one, [dp.len()]),
        "sum and mean": lambda: ask(rows, one, [total, dp.len()]),
        "median": lambda: ask(rows, one, [income.dp.median(candidates)]),
        "3 rows a person": lambda: ask(people, person, [dp.len()]),
    }


def smartnoise(rows: str, people: str, _places: list[str]):
    """SmartNoise SQL over SQLite, which is filled beforehand (it has no DuckDB reader)."""
    import sqlite3

    import duckdb
    from snsql import Privacy, from_connection

    def reader(path, identifier):
        table = {
            "row_privacy": not identifier,
            "max_ids": 3,
            "rows": 1_000_000,
            "person_id": {"type": "int", "private_id": identifier},
            "place": {"type": "string"},
            "income": {"type": "int", "lower": 0, "upper": CEILING},
        }
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE t (person_id INTEGER, place TEXT, income INTEGER)")
        found = duckdb.execute(f"SELECT person_id, place, income FROM '{path}'").fetchall()
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", found)
        metadata = {"": {"": {"t": table}}}
        # A fresh budget and noise for each question.
        return lambda sql: from_connection(
            database,
            privacy=Privacy(epsilon=1.0, delta=1e-6),
            metadata=metadata,
            engine="sqlite",
        ).execute(sql)

    flat, owned = reader(rows, identifier=False), reader(people, identifier=True)
    return {
        "count": lambda: flat(TASKS["count"]),
        "sum and mean": lambda: flat(TASKS["sum and mean"]),
        "3 rows a person": lambda: owned(TASKS["3 rows a person"]),
    }


def tumult(rows: str, people: str, places: list[str]):
    """Tumult Analytics on a local Spark; keys are public."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    from tmlt.analytics import (
        AddOneRow,
        AddRowsWithID,
        KeySet,
        MaxRowsPerID,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = spark.config("spark.driver.memory", "6g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")

    def session(path, change):
        return Session.from_dataframe(
            privacy_budget=PureDPBudget(float("inf")),
            source_id="t",
            dataframe=spark.read.parquet(path).select("person_id", "place", "income"),
            protected_change=change,
        )

    keys = KeySet.from_dict({"place": places})
    flat, owned = session(rows, AddOneRow()), session(people, AddRowsWithID("person_id"))
    grouped = QueryBuilder("t").groupby(keys)
    bounded = QueryBuilder("t").enforce(MaxRowsPerID(3)).groupby(keys)

    def ask(where, *queries):
        for query in queries:
            where.evaluate(query, PureDPBudget(1 / len(queries))).collect()

    total, mean = grouped.sum("income", 0, CEILING), grouped.average("income", 0, CEILING)
    return {
        "count": lambda: ask(flat, grouped.count()),
        "sum and mean": lambda: ask(flat, total, mean),
        "median": lambda: ask(flat, grouped.median("income", 0, CEILING)),
        "3 rows a person": lambda: ask(owned, bounded.count()),
    }


PEERS = {"opendp": opendp, "smartnoise": smartnoise, "tumult": tumult}


def main() -> None:
    peer, rows, people, groups = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    places = [f"place {i + 1:0{len(str(groups))}d}" for i in range(groups)]
    works = PEERS[peer](rows, people, places)
    for task, sql in TASKS.items():
        line = {"peer": peer, "task": task}
        if task in works:
            path = people if task == "3 rows a person" else rows
            try:
                line["floor"] = median_of(floor(path, sql), 5)
                line["seconds"] = median_of(works[task], 1)
            except Exception as error:
                line["error"] = f"{type(error).__name__}: {error}"[-400:]
        else:
            line["error"] = "not offered"
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
