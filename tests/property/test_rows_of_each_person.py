"""All that a subquery works out of a person's rows is of the same rows: of as many as `max_rows` says, and no others.

Random statements by person, almost without noise, give what DuckDB gives for the rows that are left when each
person is cut to so many, in the order that the canonical rows have.
"""

from __future__ import annotations

import random

import pyarrow.parquet as pq
import pytest

import discreet
from discreet.ask.sql.write.blocks import BlockWriter
from discreet.errors import DiscreetError
from discreet.privacy.kernel.canonical import ranked_select
from duckdb_kit import room
from sittings import FULL

TOML = """
[datasets.clinic]
epsilon = 1e15
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "person"
max_rows = 4
[datasets.clinic.tables.visits.columns]
ward = { type = "category", values = ["A", "B", "C"], missing = true }
cost = { type = "integer", lower = -5, upper = 100, missing = true }
same = { type = "integer", lower = 0, upper = 50 }
[datasets.clinic.tables.patients]
source = "patients.parquet"
unit = "person"
max_rows = 1
[datasets.clinic.tables.patients.columns]
sex = { type = "category", values = ["Female", "Male"], constant = true }
"""
PEOPLE = 40
OWN = (
    *("AVG(cost)", "SUM(cost)", "COUNT(*)", "COUNT(cost)", "SUM(cost) / COUNT(*)", "MIN(cost)"),
    *("MAX(cost)", "COUNT(DISTINCT ward)", "COUNT(DISTINCT cost)", "AVG(same)", "SUM(same)"),
    *("COUNT(*) FILTER (WHERE ward = 'A')", "AVG(cost) FILTER (WHERE ward <> 'B')"),
    *("AVG(CASE WHEN ward = 'A' THEN 1 ELSE 0 END)", "SUM(CASE WHEN cost > 20 THEN 1 ELSE 0 END)"),
    *("AVG(cost) - MIN(cost)", "AVG(CASE WHEN cost > 50 THEN cost END)", "MAX(same) - AVG(same)"),
)
TESTS = (
    *("AVG(cost) > 20", "SUM(cost) >= 60", "COUNT(*) > 1", "COUNT(DISTINCT ward) = 2"),
    *("MAX(cost) > AVG(cost)", "AVG(same) = MIN(same)", "COUNT(*) FILTER (WHERE ward = 'A') = 1"),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return a curator and a plain DuckDB over the same visits, in which each has its place among its person's."""
    folder, rng, plain = tmp_path_factory.mktemp("each"), random.Random(5), room()
    rows = [
        (i, rng.choice(["A", "B", "C", None]), rng.choice([None, *range(-5, 101)]), i)
        for i in range(PEOPLE)
        for _ in range(rng.randint(1, 6))
    ]
    plain.execute("CREATE TABLE rows (person BIGINT, ward VARCHAR, cost BIGINT, same BIGINT)")
    plain.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows)
    plain.execute(
        f"CREATE TABLE patients AS SELECT i AS person, CASE WHEN i % 3 = 0 THEN 'Male' ELSE 'Female' END AS sex "
        f"FROM range({PEOPLE}) AS _(i)"
    )
    (folder / "discreet.toml").write_text(TOML)
    for name, table in (("visits", "rows"), ("patients", "patients")):
        pq.write_table(plain.sql(f"FROM {table}").to_arrow_table(), folder / f"{name}.parquet")
    with discreet.open(folder / "discreet.toml") as curator:
        table = curator.catalog.table("visits", "clinic")
        types = {"person": "BIGINT", "ward": "VARCHAR", "cost": "BIGINT", "same": "BIGINT"}
        ranked = ranked_select(table, types, "duckdb", "rows", whole=True)
        plain.execute(
            f"CREATE TABLE ranked AS SELECT u AS person, c1 AS ward, c2 AS cost, c3 AS same, r FROM ({ranked})"
        )
        yield curator, plain


def each(rng: random.Random, *, keyed: bool) -> tuple[str, str]:
    """Return a subquery by person, with places for its rows and their condition, and that condition."""
    where = rng.choice(["", "", "cost > 10", "ward <> 'C'", "ward = 'A' OR cost < 50"])
    by = "person, ward" if keyed else "person"
    having = f" HAVING {rng.choice(TESTS)}" if rng.random() < 0.3 else ""
    shown = f"{rng.choice(OWN)} AS a, {rng.choice(OWN)} AS b"
    return f"SELECT {by}, {shown} FROM {{visits}} GROUP BY {by}{having}", where


def statement(rng: random.Random) -> tuple[str, str]:
    """Return a statement by person and the condition on its rows."""
    shape = rng.choice(["plain", "plain", "keyed", "with", "nested", "join", "filtered", "by sex"])
    inner, where = each(rng, keyed=shape in {"keyed", "nested"})
    shown = "AVG(a) AS a, SUM(b) AS b, COUNT(*) AS n"
    match shape:
        case "keyed":
            return f"SELECT ward, {shown} FROM ({inner}) AS q GROUP BY ward", where
        case "with":
            return f"WITH q AS ({inner}) SELECT {shown} FROM q", where
        case "nested":
            nested = f"SELECT person, AVG(a) AS a, SUM(b) AS b FROM ({inner}) AS k GROUP BY person"
            return f"SELECT {shown} FROM ({nested}) AS q", where
        case "join":
            joined = (
                "SELECT v.person, AVG(cost) AS a, SUM(same) / COUNT(*) AS b FROM {visits} AS v "
                "JOIN patients AS p ON v.person = p.person GROUP BY v.person"
            )
            return f"SELECT {shown} FROM ({joined}) AS q", ""
        case "by sex":
            joined = f"({inner}) AS q JOIN patients AS p ON p.person = q.person"
            return f"SELECT p.sex, {shown} FROM {joined} GROUP BY p.sex", where
        case "filtered":
            return f"SELECT {shown} FROM ({inner}) AS q WHERE a > 3 OR b > 2", where
        case _:
            return f"SELECT {shown} FROM ({inner}) AS q", where


def differs(world, sql: str, where: str, most: int) -> str:
    """Return how an answer differs from that of plain SQL over the rows that count; nothing if it does not."""
    curator, plain = world
    condition = f" WHERE {where}" if where else ""
    kept = (
        f"(SELECT * FROM ranked{condition} "
        f"QUALIFY ROW_NUMBER() OVER (PARTITION BY person ORDER BY r) <= {most})"
    )
    aliased = "{visits} AS" in sql
    true = plain.sql(sql.format(visits=kept if aliased else f"{kept} AS visits")).fetchall()
    asked = sql.replace("{visits}", f"visits{condition}")
    answer = curator.query(asked, epsilon="1e9", max_rows=most)
    sentence = f"Of one person in 'visits' at most {most}"
    assert any(note.startswith(sentence) for note in answer.provenance.notes)
    shown = sorted((tuple(row) for row in answer.rows if row[-1]), key=repr)
    wanted = sorted((row for row in true if row[-1]), key=repr)
    near = len(shown) == len(wanted) and all(map(_near, shown, wanted))
    return "" if near else f"max_rows {most}: {asked}: {shown} for {wanted}"


def _near(shown, true) -> bool:
    """Return whether two rows are equal: quotients are rounded down to a thousandth, sums of them by person too."""
    *keys, mean, (total, sum_), people = zip(shown, true, strict=True)
    # A sum of nothing is 0 here.
    off = [(mean, 0.005), ((total, sum_ or 0), 0.001 * 4 * PEOPLE), (people, 0.001)]
    return all(one == other for one, other in keys) and all(
        one is other if one is None or other is None else abs(one - float(other)) < most
        for (one, other), most in off
    )


def wrong(world, seed: int, count: int) -> tuple[int, list[str]]:
    """Return how many random statements were answered, and those with another answer."""
    rng, answered, found = random.Random(seed), 0, []
    for _ in range(count):
        sql, where = statement(rng)
        try:
            found += filter(None, [differs(world, sql, where, rng.choice([1, 2, 6]))])
        except DiscreetError:
            continue
        answered += 1
    return answered, found


def test_each_aggregate_of_a_person_is_of_the_rows_that_count(world):
    count = 400 if FULL else 60
    answered, found = wrong(world, 3, count)
    assert not found, found[0]
    assert answered > count * 0.9


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize(("own", "range_"), [("AVG(same)", (0, 50)), ("AVG(cost)", (-5, 100))])
def test_a_mean_by_person_lies_in_the_range_of_its_column(world, most, own, range_):
    """... whichever rows count: who costs the same each time has that mean."""
    curator, _ = world
    sql = f"SELECT AVG(a) AS a FROM (SELECT person, {own} AS a FROM visits GROUP BY person) AS q"
    found = curator.explain(sql, epsilon="1", max_rows=most)
    width = (range_[1] - range_[0]) * 1_000
    assert f"one unit moves it by {width:,}" in str(found.mechanisms)
    if own == "AVG(same)":
        (answer,) = curator.query(sql, epsilon="1e9", max_rows=most).rows
        assert abs(answer[0] - (PEOPLE - 1) / 2) < 0.01


def test_rows_that_are_not_cut_are_caught(world, monkeypatch):
    monkeypatch.setattr(BlockWriter, "_cut", lambda _self, block, _relation, _most: block)
    each_mean = "SELECT person, AVG(cost) AS a, SUM(cost) AS b FROM {visits} GROUP BY person"
    sql = f"SELECT AVG(a) AS a, SUM(b) AS b, COUNT(*) AS n FROM ({each_mean}) AS q"
    assert differs(world, sql, "", 1)
