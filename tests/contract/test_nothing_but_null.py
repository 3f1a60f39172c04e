"""Whether anybody has a value at all changes no error: columns of nothing but NULL, on the real engine."""

from __future__ import annotations

import re

import duckdb
import pyarrow as pa

from discreet.data.engines.child_limits import CLOSED
from discreet.data.engines.duckdb import worker
from discreet.privacy.kernel.functions import SEALED
from engines import engine_place, open_exact

FORMS = (
    "CASE WHEN s IS NOT NULL THEN COALESCE(s, '') END = 'a'",
    "CASE WHEN s IS NOT NULL THEN COALESCE(LOWER(s), '') ELSE NULL END < 'a'",
    "SPLIT_PART(s, ' ', 1) = 'a'",
    "s LIKE 'a%b%'",
    "COALESCE(s, 'a') IN ('a', 'b')",
    "CASE WHEN x BETWEEN 0 AND 9 THEN x END IN (1, 2)",
    "CASE WHEN x IS NOT NULL THEN COALESCE(ABS(x), 0) END > 3",
    "CASE WHEN d IS NOT NULL THEN COALESCE(EXTRACT(YEAR FROM d), 0) END = 2020",
)
OPERANDS = {"category": "s", "number": "x", "date": "d", "boolean": "b"}


def conditions() -> list[str]:
    found = list(FORMS)
    for row in SEALED.values():
        operand = OPERANDS.get(row.takes)
        for call in row.written if operand else ():
            there = re.sub(r"(?<![\w'])(s|x|d|ts|b)(?![\w'(])", str(operand), call)
            found += [f"CAST({there} AS VARCHAR) = '1'", f"({there}) IS NULL"]
            found.append(f"CASE WHEN {operand} IS NOT NULL THEN COALESCE(CAST({there} AS VARCHAR), '') END <> 'a'")  # fmt: skip
    return found


def table() -> pa.Table:
    types = {"s": pa.string(), "x": pa.int64(), "d": pa.date32(), "b": pa.bool_()}
    return pa.table({name: pa.nulls(3, kind) for name, kind in types.items()})


def test_the_engine_answers_whatever_nobody_has(tmp_path):
    engine = engine_place("duckdb", {"t": table()}, tmp_path).open()
    try:
        relation, asked = engine.relation("t"), conditions()
        assert len(asked) > 40
        for condition in asked:
            both = f"SELECT COUNT(*) AS n, COUNT(CASE WHEN {condition} THEN 1 END) AS m FROM {relation}"
            assert open_exact(engine.owner_reader().run(both)).num_rows == 1, condition
            engine.owner_reader().run(f"SELECT COUNT(*) AS n FROM {relation} WHERE {condition}")
    finally:
        engine.close()


def failures(**settings: str) -> int:
    """Return on how many of these conditions DuckDB fails, opened with these settings."""
    count = 0
    with duckdb.connect(":memory:", config=settings) as database:
        database.register("rows", table())
        database.execute("CREATE TABLE t AS SELECT * FROM rows")
        for condition in conditions():
            try:
                database.execute(f"SELECT COUNT(*) FROM t WHERE {condition}").fetchall()
            except duckdb.Error:
                count += 1
    return count


def test_a_database_that_rewrites_by_statistics_is_caught():
    assert failures(**CLOSED) == 0
    assert failures() > 0, "DuckDB has been mended: the setting may go"


def test_the_worker_is_opened_so(tmp_path):
    setup = {"memory_mb": 256, "temporary": str(tmp_path), "threads": 1}
    with worker.open_database(setup) as database:
        ((found,),) = database.execute("SELECT current_setting('disabled_optimizers')").fetchall()
    assert "statistics_propagation" in found
