"""Short words for tests of the curator: a small catalog, questions, plans, and a curator."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa

from discreet.ask.plan.plan import Plan, Question, ask, make_plan
from discreet.ask.release.desk import Request
from discreet.ask.release.sealing import seal
from discreet.ask.sql.bind import bind
from discreet.ask.sql.write.statement import render
from discreet.base.numbers import Delta, Epsilon
from discreet.curator import Curator, policy_of
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.policy_file import loads
from discreet.data.engines.arrow import plain_table
from discreet.privacy.kernel.seal import Draft
from discreet.privacy.ledger.ledger import Ledger
from discreet.testing import FakeEngine, SeededRng
from duckdb_kit import room

TOML = """
[datasets.census]
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
[datasets.census.tables.people]
source = "people.parquet"
unit = "row"
version = 1
[datasets.census.tables.people.columns]
age = {{ type = "integer", lower = 0, upper = 120 }}
sex = {{ type = "category", values = ["Female", "Male"] }}
income = {{ type = "number", lower = 0, upper = 1000, step = 0.01 }}
balance = {{ type = "integer", lower = -50, upper = 50, missing = true }}
born = {{ type = "date", lower = 1900-01-01, upper = 2020-12-31 }}
member = {{ type = "boolean" }}
job = {{ type = "text" }}

[datasets.clinic]
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
[datasets.clinic.tables.patients]
source = "patients.parquet"
unit = "person"
max_rows = 1
version = 1
[datasets.clinic.tables.patients.columns]
person = {{ type = "identifier" }}
sex = {{ type = "category", values = ["Female", "Male"], constant = true }}
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "person"
max_rows = 4
version = 1
[datasets.clinic.tables.visits.columns]
person = {{ type = "identifier" }}
ward = {{ type = "category", values = ["A", "B"] }}
cost = {{ type = "integer", lower = -5, upper = 100 }}
[datasets.clinic.tables.wards]
source = "wards.parquet"
public = true
key_copies = 2
[datasets.clinic.tables.wards.columns]
ward = {{ type = "category", values = ["A", "B"] }}
beds = {{ type = "integer", lower = 0, upper = 50 }}
"""

TYPES = {
    "census.people": {
        "age": "BIGINT",
        "sex": "VARCHAR",
        "income": "DOUBLE",
        "balance": "BIGINT",
        "born": "DATE",
        "member": "BOOLEAN",
        "job": "VARCHAR",
    },
    "clinic.patients": {"person": "BIGINT", "sex": "VARCHAR"},
    "clinic.visits": {"person": "BIGINT", "ward": "VARCHAR", "cost": "BIGINT"},
    "clinic.wards": {"ward": "VARCHAR", "beds": "BIGINT"},
}


@cache
def catalog(
    *,
    epsilon: str = "10",
    delta: str = "0",
    neighbours: str = "add-remove",
    base: str = ".",
    complete: str = "",
    more: str = "",
) -> Catalog:
    text = TOML.format(epsilon=epsilon, delta=delta, neighbours=neighbours) + more
    if complete:
        text = text.replace('"Male"] }', '"Male"], complete = true }')
    return loads(text, base=Path(base))


def question(sql: str, *, max_rows: int | None = None, **settings: str) -> Question:
    known = catalog(**settings)
    statement = bind(sql, known, max_rows=max_rows)
    return ask(statement, known, {"people": "1", "patients": "1", "visits": "1"})


def plan(sql: str, *, epsilon: str = "1", max_rows: int | None = None, **settings: str) -> Plan:
    """Return the plan with the mechanisms that the kernel admits."""
    asked = question(sql, max_rows=max_rows, **settings)
    delta = catalog(**settings).budget_of(asked.dataset).delta
    found = make_plan(asked, epsilon=Epsilon.of(epsilon), budget_delta=Delta.of(delta))
    return replace(found, mechanisms=seal(found, catalog(**settings), engine()).mechanisms)


def engine(dialect: str = "duckdb") -> FakeEngine:
    return FakeEngine(TYPES, dialect=dialect, canonical=dialect == "duckdb")


def reads(sql: str, dialect: str = "duckdb", **settings: str) -> tuple[Draft, ...]:
    return render(plan(sql, **settings).question, engine(dialect))


def memory(**tables: pa.Table) -> FakeEngine:
    """Return an engine over Arrow tables, computed by DuckDB in this process."""
    connection = room()
    types = {}
    for name, table in tables.items():
        full = next(known for known in TYPES if known.endswith(f".{name}"))
        connection.register("given", table)
        connection.execute(f'CREATE TABLE "{full}" AS SELECT * FROM given')
        described = connection.execute(f'DESCRIBE "{full}"').fetchall()
        types[full] = {row[0]: row[1] for row in described}
    return FakeEngine(types, answers=lambda sql: plain_table(connection.sql(sql).to_arrow_table()))


def people(women: int, men: int, **columns: list) -> pa.Table:
    """Return a table of people of which only the sexes matter, unless columns are given."""
    rows = women + men
    filled = {
        "age": [30] * rows,
        "sex": ["Female"] * women + ["Male"] * men,
        "income": [10.0] * rows,
        "balance": [0] * rows,
        "born": [None] * rows,
        "member": [True] * rows,
        "job": ["baker"] * rows,
    } | columns
    schema = {"born": pa.date32(), "balance": pa.int64(), "age": pa.int64(), "job": pa.string()}
    return pa.table(
        {
            name: pa.array(values, schema[name]) if name in schema else pa.array(values)
            for name, values in filled.items()
        }
    )


def visits() -> pa.Table:
    kinds = {"person": pa.int64(), "ward": pa.string(), "cost": pa.int64()}
    return pa.schema(kinds).empty_table()


def wards() -> pa.Table:
    return pa.schema({"ward": pa.string(), "beds": pa.int64()}).empty_table()


def curator(base: Path, *, rng=None, tables: dict | None = None, **settings: str) -> Curator:
    """Return a curator with a ledger in `base`, seeded noise and an engine without a server."""
    known = catalog(base=str(base), **settings)
    ledger = Ledger.open(known.ledger_url, policy_of(known), base=known.base)
    empty = {"visits": visits(), "wards": wards()}
    attached = memory(**(empty | (tables or {"people": people(60, 40)})))
    return Curator(known, ledger=ledger, engine=attached, rng=rng or SeededRng(7))


def request(sql: str, **options) -> Request:
    return Request.of(sql, **({"epsilon": "1"} | options))
