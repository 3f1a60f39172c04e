"""Times of day and curves on neighbouring databases: nobody moves an answer further than its noise.

The SQL of the planner runs over canonical rows made the way a snapshot is made, for a database and for
the one without a person, each in another physical order. Broken twins are caught by the same hunt.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.ask.plan import evaluate, values
from discreet.ask.plan.plan import ask, make_plan
from discreet.ask.release.sealing import seal
from discreet.ask.sql.bind import bind
from discreet.ask.sql.write import statement
from discreet.base.numbers import Epsilon
from discreet.data.catalog.policy_file import loads
from discreet.privacy.kernel import canonical
from discreet.privacy.kernel.canonical import (
    CanonicalRecipe,
    CatalogScans,
    Declared,
    stored_columns,
)
from discreet.privacy.kernel.nodes import Name, StoredScan, Unfit
from discreet.testing import FakeEngine
from duckdb_kit import room
from lying_world import World, compared
from sittings import FULL

TOML = """
[datasets.d]
epsilon = 10
delta = 1e-6
[datasets.d.tables.seen]
source = "seen"
unit = "person"
max_rows = 2
[datasets.d.tables.seen.columns]
person = { type = "integer", lower = 0, upper = 1000 }
at = { type = "timestamp", lower = 2024-01-01T00:00:00, upper = 2024-01-02T23:59:59 }
met = { type = "timestamp", lower = 2024-01-01T00:00:00, upper = 2024-01-02T23:59:59, constant = true }
income = { type = "number", lower = 0, upper = 500000, step = 0.01 }
"""
CATALOG = loads(TOML, base=Path())
(DATASET,) = CATALOG.datasets.values()
(TABLE,) = DATASET.tables
TYPES = {"person": "BIGINT", "at": "TIMESTAMP", "met": "TIMESTAMP", "income": "DOUBLE"}
CLOCK = len(TABLE.columns) + 1
STATEMENTS = (
    "SELECT HOUR(at), COUNT(*) FROM seen GROUP BY 1",
    "SELECT at, COUNT(*), SUM(income - 5) FROM seen GROUP BY at",
    "SELECT LAST_DAY(at), SUM(ISODOW(met)), AVG(CAST(income AS DECIMAL(9, 1))) FROM seen GROUP BY 1",
    "SELECT DATE_TRUNC('minute', at), COUNT(*) FROM seen WHERE at >= '2024-01-01 12:00:00' GROUP BY 1",
    "SELECT COUNT(DISTINCT DATE_TRUNC('second', at)), COUNT(DISTINCT MINUTE(met)) FROM seen",
    "SELECT SUM(SECOND(at)), AVG(HOUR(met)) FROM seen WHERE met < '2024-01-02 06:30:00'",
    "SELECT HOUR(at), SUM(LN(income + 1)), AVG(SQRT(income)) FROM seen GROUP BY 1",
    "SELECT COUNT(DISTINCT at), SUM(DATE_DIFF('minute', at, met)) FROM seen WHERE at <= '2024-01-02'",
    "SELECT STRFTIME(at, '%d %H'), COUNT(*) FROM seen WHERE met > at + INTERVAL '3 hours' GROUP BY 1",
    "SELECT HOUR(at + INTERVAL '5 hours'), AVG(EPOCH(at) - EPOCH(met)) FROM seen WHERE at::time >= '06:00' GROUP BY 1",
    "SELECT TIME_BUCKET(INTERVAL '8 hours', at), COUNT(*) FROM seen WHERE at - met < INTERVAL '90 minutes' GROUP BY 1",
    "SELECT DATE(at - INTERVAL '30 minutes'), COUNT(*), SUM(MINUTE(met - INTERVAL '1 hour')) FROM seen GROUP BY 1",
    "SELECT SUM(POWER(income, -0.5)), SUM(EXP(income / 100000)) FROM seen WHERE HOUR(at) <> 3",
)


class Snapshots(World):
    """A DuckDB that makes canonical rows of rows, in any physical order."""

    def __init__(self) -> None:
        self.connection = room()
        self.connection.execute("CREATE SCHEMA canon")
        self.connection.execute(
            'CREATE TABLE source (person BIGINT, "at" TIMESTAMP, met TIMESTAMP, income DOUBLE)'
        )

    def make(self, rows: list[tuple], dice: random.Random) -> None:
        ready = list(rows)
        dice.shuffle(ready)
        self.connection.execute("DELETE FROM source")
        if ready:
            marks = ", ".join(["(?, ?, ?, ?)"] * len(ready))
            flat = [cell for row in ready for cell in row]
            self.connection.execute(f"INSERT INTO source VALUES {marks}", flat)
        recipe = CanonicalRecipe(DATASET, TABLE)
        sql = recipe.stored(TYPES, "source", salt="x")
        self.connection.execute(f'CREATE OR REPLACE TABLE canon."d.seen" AS {sql}')


def people(dice: random.Random) -> list[tuple]:
    """Return rows of a few people: many on one day, so that only the time tells them apart."""
    first = dt.datetime(2024, 1, 1)
    moments = [None, first, first + dt.timedelta(days=3)]
    moments += [first + dt.timedelta(seconds=dice.randrange(86400)) for _ in range(6)]
    return [
        (person, dice.choice(moments), dice.choice(moments), dice.choice([None, 0.0, 0.01, 5e5]))
        for person in range(dice.randrange(2, 5))
        for _ in range(dice.randrange(5))
    ]


def sealed(sql: str):
    question = ask(bind(sql, CATALOG), CATALOG, {"seen": "1"})
    plan = make_plan(question, epsilon=Epsilon.of(1), budget_delta=CATALOG.budget_of(DATASET).delta)
    engine = FakeEngine({"d.seen": TYPES}, canonical=True)
    return seal(plan, CATALOG, engine).reads


def hunted(sql: str, *, databases: int = 6 if FULL else 2, unclamped: bool = False) -> list[str]:
    """Return what is untrue of a statement on some database and its neighbours."""
    world, dice, found = Snapshots(), random.Random(5), []
    for read in sealed(sql):
        for _ in range(databases):
            rows = people(dice)
            asked = _without_clamps(read) if unclamped else read
            world.make(rows, dice)
            base = world.vectors(asked)
            for person in {row[0] for row in rows}:
                world.make([row for row in rows if row[0] != person], dice)
                found += compared(asked, base, world.vectors(asked), outside=False)
            if found:
                return found
    return found


def _without_clamps(read):
    most = read.bounds["m0"].high
    bare = read.draft.sql.replace(f"> {most} THEN {most}", f"> {10**12} THEN {10**12}")
    assert bare != read.draft.sql
    return replace(read, draft=replace(read.draft, sql=bare))


@pytest.fixture(autouse=True)
def short_curves(monkeypatch):
    """Eight pieces are as good as 256 here, and DuckDB plans them in a thirtieth of the time."""
    monkeypatch.setattr(evaluate, "MOST", 8)
    forget()
    yield
    forget()


def forget() -> None:
    evaluate.curve.cache_clear()
    values._by_rule.cache_clear()


@pytest.mark.parametrize("sql", STATEMENTS)
def test_nobody_moves_an_answer_too_far(sql):
    assert hunted(sql) == []


def test_a_rank_that_does_not_see_the_time_is_caught(monkeypatch):
    """Which rows of a person count would follow from where they lie."""
    order = canonical.content_order

    def blind(cells, dialect):
        return order([cell for cell in cells if int(cell.removeprefix("b.c")) < 4], dialect)

    assert CLOCK in stored_columns(TABLE)
    monkeypatch.setattr(canonical, "content_order", blind)
    assert any(hunted(sql, databases=30) for sql in STATEMENTS[:2])


LOGARITHM = "SELECT SUM(LN(income + 1)) FROM seen"


def test_a_curve_that_lies_is_held_by_the_clamp(monkeypatch):
    """Its values are a thousand times too large, its range is what the noise was made for."""
    true = values.curve

    def lying(*given, **named):
        found = true(*given, **named)
        evaluate = tuple(replace(p, value=1000 * p.value, rise=1000 * p.rise) for p in found.pieces)
        return replace(found, pieces=evaluate)

    monkeypatch.setattr(values, "curve", lying)
    assert hunted(LOGARITHM) == []
    assert hunted(LOGARITHM, unclamped=True), "a clamp in another place would not be missed"
    monkeypatch.setattr(statement, "clamped", lambda value, _low, _high: value)
    with pytest.raises(Unfit, match="without a clamp"):
        sealed(LOGARITHM)


def test_a_time_of_day_is_a_second_of_it_and_splits_no_bill():
    scans = CatalogScans({"d.seen": Declared(DATASET, TABLE)})
    found = scans.stored(StoredScan(("canon", "d.seen"), "t"))
    for place in (CLOCK, CLOCK + 1):
        assert found.values[Name("t", f"c{place}")].bounded == (0, 86399)
        assert Name("t", f"c{place}") not in found.axes
    assert Name("t", "c2") in found.axes  # the day of what is constant does
