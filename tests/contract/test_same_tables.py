"""With the noise off, all engines give the same table for the same plan."""

from __future__ import annotations

import contextlib
import functools
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curator_kit import (
    UNIT,
    MemoryEngine,
    Planned,
    arrow,
    catalog_of,
    change,
    planned,
    violations,
    world_rows,
)
from discreet.ask.plan.ir import Join, PerUnit, Relation, Scan, scans_of
from discreet.data.engines.connect import connect
from discreet.errors import DiscreetError, QueryRefused
from engines import LIMITS, SPARK, compiled, fill_postgres, postgres_url
from queries import Questions
from sittings import FULL

__all__ = ["compiled"]

MANY, SOME, PEOPLE = (25, 20, 3) if FULL else (16, 12, 2)
SPARKS = slice(9) if FULL else slice(5, 8, 2)
"""Spark plans for half a second: counts and sums of several rows of a person, and a join."""
CATALOG = catalog_of(Path())
HAND_WRITTEN = (
    "SELECT sex, COUNT(*), SUM(income), AVG(score) FROM people GROUP BY sex",
    "SELECT town, COUNT(*) FROM people GROUP BY town",
    "SELECT smoker, COUNT(*) FROM patients GROUP BY smoker",
    "SELECT born, COUNT(*) FROM people WHERE born > '2001-11-01' GROUP BY born",
    "SELECT sex, MEDIAN(weight) FROM patients WHERE smoker GROUP BY sex",
    "SELECT ward, COUNT(DISTINCT person), SUM(cost), VAR_POP(code) FROM visits GROUP BY ward",
    "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS s",
    "SELECT p.smoker, SUM(v.cost) FROM patients p JOIN visits v ON p.person = v.person GROUP BY 1",
    "SELECT EXTRACT(DOW FROM day), SUM(code % 7), SUM(cost // 3) FROM visits GROUP BY 1",
)


@functools.cache
def plans(count: int) -> list[Planned]:
    questions = Questions(random.Random(17))
    found = [planned(sql, CATALOG) for sql in HAND_WRITTEN]
    while len(found) < count:
        with contextlib.suppress(DiscreetError):
            found.append(planned(questions.question(), CATALOG))
    return found


def exact_of(kind: str, rows, folder, asked: list[Planned]) -> list:
    """Return what the engine computes for each plan before any noise, or why it refuses."""
    content = {name: arrow(name, found) for name, found in rows.items()}
    if kind == "memory":
        engine = MemoryEngine(content)
    elif kind == "postgres":
        fill_postgres(postgres_url(), content)
        sources = {name: f"town.{name.split('.')[1]}" for name in CATALOG.sources}
        engine = connect(postgres_url(), sources, base=folder, limits=LIMITS)
    else:
        for name, table in content.items():
            pq.write_table(table, folder / f"{name}.parquet")
        url = {"duckdb": "duckdb:", "spark": SPARK}[kind]
        # Spark looks into every file that it is told of, whether anybody asks for it or not.
        asks = " ".join(plan.sql.lower() for plan in asked)
        named = {n: s for n, s in CATALOG.sources.items() if n.split(".")[1] in asks}
        engine = connect(
            url, named if kind == "spark" else CATALOG.sources, base=folder, limits=LIMITS
        )
    try:
        found = []
        for plan in asked:
            try:
                found.append(Planned(plan.sql, plan.proposed, plan.catalog).exact(engine))
            except QueryRefused as refused:
                found.append(str(refused))
        return found
    finally:
        engine.close()


def tables_of(kind: str, rows, folder, asked: list[Planned]) -> list:
    results = exact_of(kind, rows, folder, asked)
    return [
        exact if isinstance(exact, str) else _as_table(plan.sql, exact)
        for plan, exact in zip(asked, results, strict=True)
    ]


def _as_table(sql: str, exact) -> tuple:
    histograms = {name: found.tolist() for name, found in exact.histograms.items()}
    return sql, exact.groups, dict(exact.measures), histograms


def _cuts_rows(plan: Planned) -> bool:
    scans = scans_of(plan.question.statement.source)
    people = [scan for scan in scans if scan.unit is not None]
    repeated = any(scan.public and scan.table.max_rows is not None for scan in scans)
    bounded = any(scan.table.bounded for scan in people)
    source = plan.question.statement.source
    return plan.question.enforced or len(people) > 1 or bounded or repeated or _cuts_inside(source)


def _cuts_inside(relation: Relation) -> bool:
    match relation:
        case Scan():
            return False
        case Join(left=left, right=right):
            return _cuts_inside(left) or _cuts_inside(right)
        case PerUnit(cut=True):
            return True
        case _:
            return _cuts_inside(relation.source)


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        pytest.param("duckdb", MANY, id="duckdb"),
        pytest.param("postgres", MANY, id="postgres", marks=pytest.mark.postgres),
        pytest.param("postgres", 80, id="more", marks=[pytest.mark.postgres, pytest.mark.slow]),
        pytest.param("spark", 3, id="spark", marks=pytest.mark.spark),
    ],
)
def test_every_engine_gives_the_same_exact_tables(kind, count, tmp_path):
    asked = plans(max(count, MANY))[:count]
    if kind == "duckdb":
        # A stored rank keeps as many rows of a person as an order by content, but other ones.
        asked = [plan for plan in asked if not _cuts_rows(plan)]
    rows = world_rows(random.Random(18), 30)
    wanted = tables_of("memory", rows, tmp_path, asked)
    found = tables_of(kind, rows, tmp_path, asked)
    refused = [said for said in found if isinstance(said, str)]
    # Some functions are on DuckDB only, and the sentence says so.
    assert all("needs another engine: duckdb" in said for said in refused)
    assert len(refused) <= len(asked) / 5
    for one, two in zip(wanted, found, strict=True):
        assert isinstance(two, str) or one == two, one[0]
    assert any(any(values) for _, _, measures, _ in wanted for values in measures.values())


def lacking(rows, units):
    """Return the tables without everything that some units own."""
    return {
        name: [row for row in found if name not in UNIT or row[UNIT[name]] not in units]
        for name, found in rows.items()
    }


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("kind", "some", "people"),
    [
        pytest.param("duckdb", slice(SOME), PEOPLE, id="duckdb"),
        pytest.param("postgres", slice(SOME), PEOPLE, id="postgres", marks=pytest.mark.postgres),
        # Its tables are DuckDB's (above), where nobody moves them further.
        pytest.param("spark", SPARKS, 1, id="spark", marks=[pytest.mark.spark, pytest.mark.slow]),
    ],
)
def test_nobody_moves_what_an_engine_adds_up_further_than_declared(kind, some, people, tmp_path):
    """And a dozen people together do, or the test would be blind."""
    asked = plans(MANY)[some]
    rows = world_rows(random.Random(19), 12)
    worlds = [{unit} for unit in range(people)] + [set(range(12))]
    before = exact_of(kind, rows, tmp_path, asked)
    moved, broken = 0, []
    for units in worlds:
        after = exact_of(kind, lacking(rows, units), tmp_path, asked)
        broken.append([])
        for plan, one, two in zip(asked, before, after, strict=True):
            assert isinstance(one, str) == isinstance(two, str), plan.sql
            if not isinstance(one, str):
                found = change(plan.plan, one, two)
                moved += not found.nothing
                broken[-1] += [f"{said}: {plan.sql}" for said in violations(plan.plan, found)]
    *single, together = broken
    assert single == [[]] * people
    assert together
    assert moved > people
