"""A small catalog for the kernel's tests, and the two ways to a tree."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from functools import cache

import duckdb

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.privacy.kernel.canonical import CatalogScans, Declared
from discreet.privacy.kernel.facts import Facts, facts_of
from discreet.privacy.kernel.nodes import SelectNode
from discreet.privacy.kernel.read_duckdb import read_duckdb
from discreet.privacy.kernel.read_sqlglot import read_sqlglot

ROW = Table(
    "rows",
    "rows.parquet",
    PrivacyUnit(),
    (
        Column("age", IntegerDomain(0, 120)),  # c0
        Column("sex", CategoryDomain(("f", "m"))),  # c1
        Column("income", NumberDomain(Fraction(0), Fraction(100), Fraction(1, 2))),  # c2
        Column("member", BooleanDomain()),  # c3
        Column("born", DateDomain(dt.date(2000, 1, 1), dt.date(2000, 12, 31))),  # c4
        Column("secret", IntegerDomain(0, 9), hidden=True),  # c5
        Column("balance", IntegerDomain(-50, 50)),  # c6
    ),
    max_rows=1,
)
PEOPLE = Table(
    "people",
    "people.parquet",
    PrivacyUnit("id"),
    (
        Column("id", IdentifierDomain()),
        Column("sex", CategoryDomain(("f", "m")), constant=True),  # c1
        Column("weight", IntegerDomain(0, 300)),  # c2
    ),
    max_rows=2,
)
VISITS = Table(
    "visits",
    "visits.parquet",
    PrivacyUnit("id"),
    (
        Column("id", IdentifierDomain()),
        Column("ward", CategoryDomain(("A", "B", "C"))),  # c1
        Column("cost", IntegerDomain(0, 1000)),  # c2
    ),
    max_rows=5,
)
WARDS = Table(
    "wards",
    "wards.parquet",
    None,
    (Column("ward", CategoryDomain(("A", "B", "C"))), Column("beds", IntegerDomain(0, 500))),
    max_rows=1,
)
TOWN = Dataset("town", (ROW,), Neighbours.ADD_REMOVE, "town")
CLINIC = Dataset("clinic", (PEOPLE, VISITS, WARDS), Neighbours.ADD_REMOVE, "clinic")
SCANS = CatalogScans(
    {
        "town.rows": Declared(TOWN, ROW),
        "clinic.people": Declared(CLINIC, PEOPLE),
        "clinic.visits": Declared(CLINIC, VISITS),
        "clinic.wards": Declared(CLINIC, WARDS),
    }
)
BOUNDED_VISITS = (
    "(SELECT v.c1 AS c1, v.c2 AS c2, v.u AS u, ROW_NUMBER() OVER (PARTITION BY v.u ORDER BY v.r) AS n "
    'FROM canon."clinic.visits" AS v)'
)


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:")


def duckdb_tree(sql: str) -> SelectNode:
    found = _connection().execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    return read_duckdb(found[0])


def trees(sql: str) -> tuple[SelectNode, SelectNode]:
    return duckdb_tree(sql), read_sqlglot(sql, "duckdb")


def facts(sql: str) -> Facts:
    """Return the facts of a statement, which must not depend on who parsed it."""
    found, other = (facts_of(tree, SCANS) for tree in trees(sql))
    assert found == other
    return found
