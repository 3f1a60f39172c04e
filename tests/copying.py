"""Short words for tests of `synthesize`: a small catalog, rows of every type, an engine at hand."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path

import pyarrow as pa

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.curator import Curator, policy_of
from discreet.data.catalog.policy_file import loads
from discreet.data.engines.arrow import plain_table
from discreet.measure.columns import Coded, Encoding, MadeUpIdentifier, binned
from discreet.privacy.ledger.ledger import Ledger
from discreet.testing import FakeEngine, SeededRng
from duckdb_kit import room

TOML = """
[datasets.town]
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
[datasets.town.tables.people]
source = "people.parquet"
unit = "row"
version = 1
rules = {rules}
[datasets.town.tables.people.columns]
id = {{ type = "identifier" }}
sex = {{ type = "category", values = ["Female", "Male"] }}
age = {{ type = "integer", lower = 0, upper = 120, missing = true }}
income = {{ type = "number", lower = 0, upper = 1000, step = 0.01 }}
born = {{ type = "date", lower = 1900-01-01, upper = 2020-12-31, missing = true }}
seen = {{ type = "timestamp", lower = 2024-01-01T06:00:00, upper = 2024-03-31T20:00:00 }}
member = {{ type = "boolean" }}
job = {{ type = "text" }}
note = {{ type = "text", hidden = true }}

[datasets.clinic]
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "person"
max_rows = 2
version = 1
[datasets.clinic.tables.visits.columns]
person = {{ type = "identifier" }}
ward = {{ type = "category", values = ["A", "B", "C"] }}
cost = {{ type = "integer", lower = 0, upper = 99 }}
"""


def catalog_of(
    base: Path, *, epsilon="10", delta="1e-6", neighbours="add-remove", rules=(), complete=False
):
    quoted = "[" + ", ".join(f'"{rule}"' for rule in rules) + "]"
    text = TOML.format(epsilon=epsilon, delta=delta, neighbours=neighbours, rules=quoted)
    if complete:  # of an age, and what each visit costs
        text = text.replace("upper = 120, missing = true", "upper = 120, complete = true")
        text = text.replace("upper = 99 }", "upper = 99, complete = true }")
    return loads(text, base=base)


def people(rows: int = 400, *, rare: str | None = None) -> pa.Table:
    """Return people whose columns depend on each other; `rare` is one person's own job."""
    table = {
        "id": list(range(rows)),
        "sex": ["Female" if i % 2 else "Male" for i in range(rows)],
        "age": [None if i % 10 == 0 else (i * 7) % 90 for i in range(rows)],
        "income": [float((i * 37) % 1000) + 0.25 for i in range(rows)],
        "born": [
            None if i % 10 == 0 else dt.date(1930, 1, 1) + dt.timedelta(days=31 * (i % 900))
            for i in range(rows)
        ],
        "seen": [dt.datetime(2024, 1, 1, 9) + dt.timedelta(days=i % 90) for i in range(rows)],
        "member": [i % 4 == 0 for i in range(rows)],
        "job": ["baker" if i % 2 else "clerk" for i in range(rows)],
        "note": ["secret"] * rows,
    }
    if rare is not None:
        table["job"][0] = rare
    return pa.table(table)


def visits(people_: int = 1000) -> pa.Table:
    """Return up to three visits of each person, of which two count."""
    rows = [(p, "ABC"[(p + k) % 3], (p * 11 + k) % 100) for p in range(people_) for k in range(3)]
    return pa.table(
        {
            "person": [row[0] for row in rows],
            "ward": [row[1] for row in rows],
            "cost": [row[2] for row in rows],
        }
    )


class MemoryEngine(FakeEngine):
    """Arrow tables in a DuckDB of this process; stored tables are really stored."""

    def __init__(self, tables: dict[str, pa.Table]) -> None:
        self.connection = room()
        types = {}
        for name, table in tables.items():
            self.connection.register("given", table)
            self.connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
            described = self.connection.execute(f'DESCRIBE "{name}"').fetchall()
            types[name] = {row[0]: row[1] for row in described}
        super().__init__(
            types, answers=lambda sql: plain_table(self.connection.sql(sql).to_arrow_table())
        )

    def materialise(self, name: str, sql: str) -> str:
        self.ran.append(sql)
        if name not in self._tables:
            self.connection.execute(f'CREATE TABLE "{name}" AS {sql}')
            self._tables[name] = {}
        return self.relation(name)


def curator(base: Path, *, table: pa.Table | None = None, rng=None, **settings) -> Curator:
    known = catalog_of(base, **settings)
    tables = {"town.people": people() if table is None else table, "clinic.visits": visits()}
    ledger = Ledger.open(known.ledger_url, policy_of(known), base=known.base)
    return Curator(known, ledger=ledger, engine=MemoryEngine(tables), rng=rng or SeededRng(7))


def encoding() -> Encoding:
    """Return one column of every kind, some of them in bins."""
    return Encoding(
        "people",
        (
            MadeUpIdentifier("id", whole=True),
            Coded("sex", CategoryDomain(("Female", "Male"))),
            Coded("age", IntegerDomain(0, 120), missing=True),
            binned(Coded("income", NumberDomain(Fraction(0), Fraction(1000), Fraction(1, 100)))),
            binned(Coded("born", DateDomain(dt.date(1900, 1, 1), dt.date(2020, 12, 31)))),
            Coded(
                "seen",
                TimestampDomain(dt.datetime(2024, 1, 1, 6), dt.datetime(2024, 3, 31, 20)),
            ),
            Coded("member", BooleanDomain(), missing=True),
        ),
    )
