"""The exact results of random accepted questions move no further than was declared.

Test 11 of docs/security.md (removal or replacement of one unit) and 6 (values at the edges of what
machines can count), and the soundness of regions: whoever lies outside moves nothing.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from curator_kit import (
    BIG,
    REALS,
    UNIT,
    MemoryEngine,
    arrow,
    catalog_of,
    change,
    planned,
    replaced,
    violations,
    without,
    world_rows,
)
from discreet.ask.sql.write.blocks import BlockWriter
from discreet.base.event import NULL, Positions
from discreet.base.schema import BooleanDomain, CategoryDomain, DateDomain, IntegerDomain
from discreet.data.catalog.axes import parse_axis
from discreet.errors import DiscreetError
from discreet.privacy.kernel import canonical, sources
from discreet.privacy.kernel.cells import source_cell
from discreet.privacy.kernel.nodes import Unfit
from queries import Questions
from sittings import FULL, sittings

BASE = Path()
CATALOGS = {
    (neighbours, bounded): catalog_of(BASE, neighbours=neighbours, bounded=bounded)
    for neighbours in ("add-remove", "replace-one")
    for bounded in (False, True)
}
COMPLETE = {
    (neighbours, bounded): catalog_of(BASE, neighbours=neighbours, bounded=bounded, complete=True)
    for neighbours, bounded in CATALOGS
}
ADD_REMOVE = CATALOGS["add-remove", False]
REPLACE_ONE = CATALOGS["replace-one", False]


def engine_of(rows) -> MemoryEngine:
    return MemoryEngine({name: arrow(name, found) for name, found in rows.items()})


def attack(seed: int, count: int, catalogs=CATALOGS) -> tuple[int, int, list[str]]:
    """Return how many questions were accepted, how many moved, and the first broken promises."""
    rng = random.Random(seed)
    questions = Questions(rng)
    accepted = moved = 0
    broken: list[str] = []
    engine = engine_of(world_rows(rng))
    while accepted < count and not broken:
        if rng.random() < 0.02:
            engine = engine_of(world_rows(rng, rng.choice([1, 3, 12])))
        setting = rng.choice(list(catalogs))
        sql = questions.question()
        try:
            plan = planned(sql, catalogs[setting], max_rows=rng.choice([None, None, 1, 5]))
            plan.sealed(engine)
        except DiscreetError:
            continue
        accepted += 1
        dataset, unit = plan.question.dataset.name, rng.randint(0, 11)
        if setting[0] == "add-remove":
            other = without(engine, dataset, unit)
        else:
            other = replaced(engine, dataset, unit, rng)
        found = change(plan.plan, plan.exact(engine), plan.exact(other))
        moved += not found.nothing
        broken += [f"{setting} {said}: {sql}" for said in violations(plan.plan, found)]
    return accepted, moved, broken


def test_no_unit_moves_an_answer_further_than_declared(record_property):
    accepted, moved, broken = attack(seed=11, count=30 if FULL else 8)
    assert not broken, broken[0]
    assert moved > accepted / 5, "these questions hardly touch anybody: the test is blind"
    record_property("accepted random questions, 0 moved too far", accepted)


def test_leaving_out_rows_without_a_declared_value_moves_nothing_further():
    accepted, moved, broken = attack(seed=17, count=20 if FULL else 7, catalogs=COMPLETE)
    assert not broken, broken[0]
    assert moved > accepted / 8, "these questions hardly touch anybody: the test is blind"


PEOPLE = [
    "SELECT COUNT(DISTINCT p.person) FROM visits AS v JOIN patients AS p ON v.person = p.person",
    "SELECT COUNT(DISTINCT p.person) FROM visits AS v LEFT JOIN patients AS p ON v.person = p.person",
    "SELECT COUNT(DISTINCT CASE WHEN cost > 5 THEN person END) FROM visits",
]


@pytest.mark.parametrize("sql", PEOPLE)
def test_people_are_counted_exactly_and_each_moves_one(sql):
    plan = planned(sql, ADD_REMOVE)
    for seed in range(2):
        engine = engine_of(world_rows(random.Random(seed), 12))
        plain = sql.replace("visits", '"visits"').replace("patients", '"patients"')
        said = plain.replace("cost > 5", "cost > 5 AND cost BETWEEN -50 AND 50")
        ((wanted,),) = engine.connection.execute(said).fetchall()
        exact = plan.exact(engine)
        assert exact.measures["m0"] == [wanted]
        for unit in range(12):
            moved = change(plan.plan, exact, plan.exact(without(engine, "clinic", unit)))
            assert (
                moved.l1["m0"]
                <= 1
                == plan.question.stability.l1(dict(plan.question.measured.measures)["m0"].bound)
            )


@pytest.mark.parametrize("table", ["people", "patients", "visits"])
def test_a_complete_column_is_complete_in_every_question(table):
    """Everybody, those with a value and the groups by it: three questions about the same rows."""
    column = "ward" if table == "visits" else "age"
    engine = engine_of(world_rows(random.Random(5), 12))

    def counted(sql: str, catalog) -> int:
        found = planned(sql, catalog).exact(engine)
        return sum(next(iter(found.measures.values())))

    everybody = f"SELECT COUNT(*) FROM {table}"
    known = f"{everybody} WHERE {column} IS NOT NULL"
    grouped = f"SELECT {column}, COUNT(*) FROM {table} GROUP BY {column}"
    catalog = COMPLETE["add-remove", False]
    assert counted(everybody, catalog) == counted(known, catalog) == counted(grouped, catalog) > 0
    assert counted(everybody, ADD_REMOVE) > counted(known, ADD_REMOVE)  # the rows do lack some
    assert counted(f"{everybody} WHERE {column} IS NULL", catalog) == 0


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_no_unit_moves_an_answer_further_than_declared_in_full():
    """10,000 pairs of neighbours, a hundred at a time; run it again to go on."""
    for block in sittings("neighbour-blocks", 100):
        _, _, broken = attack(seed=1000 + block, count=100)
        assert not broken, broken[0]


LONG = 5000
"""How far a broken twin is looked for: the search ends at the first one, wherever the dice put it."""


def unbounded(self, block, max_rows):
    return block


def unclamped(column, bare, engine_type, dialect):
    if isinstance(column.domain, IntegerDomain):
        return f"CASE WHEN ABS(CAST({bare} AS HUGEINT)) < 100000000 THEN {bare} END"
    return source_cell(column, bare, engine_type, dialect)


def test_a_curator_that_does_not_bound_rows_is_caught(monkeypatch):
    """The kernel does not even let its SQL pass."""
    monkeypatch.setattr(BlockWriter, "bounded", unbounded)
    with pytest.raises(Unfit, match=r"nothing bounds|before each is bounded"):
        attack(seed=11, count=LONG)


def moved_too_far(sql: str, catalog) -> list[str]:
    """Return the broken promises of one question over small worlds and everybody in them."""
    plan, broken = planned(sql, catalog), []
    for seed in range(5):
        engine = engine_of(world_rows(random.Random(seed), 12))
        exact = plan.exact(engine)
        for unit in range(12):
            found = change(plan.plan, exact, plan.exact(without(engine, "census", unit)))
            broken += violations(plan.plan, found)
    return broken


def test_a_curator_that_does_not_clamp_is_caught(monkeypatch):
    sql = "SELECT COUNT(*), AVG(age) FROM people"
    assert not moved_too_far(sql, ADD_REMOVE)
    monkeypatch.setattr(sources, "source_cell", unclamped)
    assert moved_too_far(sql, ADD_REMOVE)


def test_a_curator_that_believes_constant_columns_is_caught(monkeypatch):
    monkeypatch.setattr(canonical, "_least", lambda column, value, dialect: value)
    assert outside(seed=214, count=LONG)[1]


BY_PERSON = [
    "SELECT AVG(a) FROM (SELECT person, AVG(cost) AS a FROM visits GROUP BY person)",
    (
        "SELECT SUM(a), AVG(b) FROM (SELECT person, SUM(cost) / COUNT(*) AS a, MAX(code) - AVG(code) AS b FROM visits "
        "GROUP BY person HAVING AVG(cost) > 2)"
    ),
    "SELECT SUM(a) FROM (SELECT person, AVG(CASE WHEN ward = 'A' THEN 1 ELSE 0 END) AS a FROM visits GROUP BY 1)",
    (
        "SELECT ward, SUM(k), SUM(a) FROM (SELECT person, ward, COUNT(*) AS k, AVG(code) AS a FROM visits "
        "WHERE cost > 1 GROUP BY person, ward) GROUP BY ward"
    ),
    (
        "SELECT SUM(m) FROM (SELECT person, AVG(k) AS m FROM (SELECT person, ward, COUNT(*) FILTER (WHERE code > 9) AS k "
        "FROM visits GROUP BY person, ward) GROUP BY person)"
    ),
    (
        "SELECT AVG(a) FROM (SELECT v.person, AVG(v.cost) AS a, COUNT(DISTINCT v.ward) AS n FROM visits AS v "
        "JOIN patients AS p ON v.person = p.person GROUP BY v.person) WHERE n > 0"
    ),
]


def by_person(sql: str, kind: str, most: int) -> list[str]:
    """Return the broken promises of a statement by person: each of 12 people leaves, or becomes another."""
    plan = planned(sql, CATALOGS[kind, False], max_rows=most)
    rng, broken = random.Random(most), []
    engine = engine_of(world_rows(rng, 12))
    exact = plan.exact(engine)
    for unit in range(12):
        add = kind == "add-remove"
        other = without(engine, "clinic", unit) if add else replaced(engine, "clinic", unit, rng)
        broken += violations(plan.plan, change(plan.plan, exact, plan.exact(other)))
    return broken


@pytest.mark.parametrize("kind", ["add-remove", "replace-one"])
@pytest.mark.parametrize("sql", BY_PERSON)
def test_what_is_worked_out_of_a_persons_rows_moves_no_further(sql, kind):
    for most in (1, 2, 5):
        assert not by_person(sql, kind, most)


@pytest.mark.parametrize("sql", BY_PERSON)
def test_a_cut_that_goes_by_the_rows_of_others_is_caught(monkeypatch, sql):
    """Rows are numbered over everybody: who leaves lets rows of others in."""
    real = BlockWriter.bounded

    def across(self, block, max_rows):
        found = real(self, block, max_rows)
        return replace(found, source=found.source.replace(f"PARTITION BY {block.unit} ", ""))

    monkeypatch.setattr(BlockWriter, "bounded", across)
    with pytest.raises(Unfit, match="several units"):
        by_person(sql, "add-remove", 2)


# -- regions ---------------------------------------------------------------------------------------


def position(value, domain) -> int:
    """Return where a cell lies on its axis, worked out here and not by the engine."""
    match domain:
        case IntegerDomain(lower=low, upper=high):
            return value - low if value is not None and low <= value <= high else NULL
        case CategoryDomain():
            found = domain.position(value) if value is not None else None
            return NULL if found is None else found
        case BooleanDomain():
            return NULL if value is None else int(value)
        case DateDomain(lower=first, upper=last):
            inside = value is not None and first <= value <= last
            return (value - first).days if inside else NULL
        case _:
            number = real(value)
            if number is None or not domain.lower <= number <= domain.upper:
                return NULL
            return min(
                math.floor((number - domain.lower) / domain.step + Fraction(1, 2)), domain.size - 1
            )


def real(value) -> Fraction | None:
    if isinstance(value, str):
        if not value or value.strip() != value or value.lower() in {"nan", "inf"}:
            return None
        try:
            return Fraction(float(value))
        except ValueError:
            return None
    return None if value is None or not math.isfinite(value) else Fraction(value)


def point_of(axis: str, rows, unit: int, catalog) -> int | None:
    """Return a unit's position on an axis; None for someone without rows in that table."""
    parts = parse_axis(axis)
    if not parts.table:
        return None  # the axis of a condition that nobody satisfies
    table = catalog.table(parts.table)
    column = table.column(parts.column)
    mine = [row for row in rows[table.name] if row[UNIT[table.name]] == unit]
    places = [position(row[column.name], column.domain) for row in mine]
    if not places:
        return None
    known = [place for place in places if place != NULL]
    if isinstance(column.domain, CategoryDomain) and known:
        # The least text, not the first of the declared list.
        return min(known, key=column.domain.value)
    return min(known, default=NULL)


def outside(seed: int, count: int, narrow=None) -> tuple[int, list[str]]:
    """Return how many units outside a region were removed, and who moved something after all."""
    rng = random.Random(seed)
    questions = Questions(rng)
    tried, broken = 0, []
    rows = world_rows(rng)
    engine = engine_of(rows)
    while tried < count and not broken:
        if rng.random() < 0.02:
            rows = world_rows(rng)
            engine = engine_of(rows)
        try:
            plan = planned(questions.question(), CATALOGS["add-remove", rng.random() < 0.3])
            plan.sealed(engine)
        except DiscreetError:
            continue
        region = plan.question.region if narrow is None else narrow(plan.question.region)
        if not region.axes:
            continue
        full = plan.exact(engine)
        for unit in range(12):
            points = [(point_of(a, rows, unit, ADD_REMOVE), p) for a, p in region.axes]
            if all(place is not None and place in positions for place, positions in points):
                continue
            tried += 1
            found = change(
                plan.plan, full, plan.exact(without(engine, plan.question.dataset.name, unit))
            )
            if not found.nothing:
                broken.append(f"unit {unit} outside {region.to_json()}: {plan.sql}")
    return tried, broken


def test_nobody_outside_the_billed_region_moves_anything():
    _, broken = outside(seed=14, count=60 if FULL else 15)
    assert not broken, broken[0]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(5))
def test_nobody_outside_the_billed_region_moves_anything_in_full(seed):
    assert not outside(seed=2000 + seed, count=4000)[1]


def test_a_region_that_is_too_small_is_caught():
    def too_small(region):
        axes = dict(region.axes)
        return type(region).of({name: Positions(p.spans[1:]) for name, p in axes.items()})

    assert outside(seed=14, count=LONG, narrow=too_small)[1]


# -- the worst cases, by hand ----------------------------------------------------------------------


def moved_by(sql, catalog, before, after, **more):
    plan = planned(sql, catalog, **more)
    first = plan.exact(engine_of(before))
    return plan, change(plan.plan, first, plan.exact(engine_of(after)))


def visit(person, **cells):
    row = {
        "person": person,
        "ward": "A",
        "day": "2020-05-05",
        "cost": 1.0,
        "code": 1,
        "reason": "x",
    }
    return {**row, **cells}


def world(**tables):
    rng = random.Random(0)
    return {**world_rows(rng, 1), **tables}


def test_a_signed_sum_that_turns_around_within_one_group():
    """Replacing somebody at +50 by somebody at -50 moves one group by 100, not by 50 and 50."""
    before = world(visits=[visit(1, cost=50.0)] * 3)
    after = world(visits=[visit(1, cost=-50.0)] * 3)
    sql = "SELECT ward, AVG(cost) FROM visits GROUP BY ward"
    plan, found = moved_by(sql, REPLACE_ONE, before, after)
    assert not violations(plan.plan, found)
    (centred,) = [n for n, m in plan.question.measured.measures if m.kind.value == "centred"]
    measure = dict(plan.question.measured.measures)[centred]
    assert found.l2_squared[centred] == plan.question.stability.l2_squared(measure.bound)
    # What was once declared: as if the two could only meet in different groups.
    assert found.l2_squared[centred] > 2 * (3 * measure.bound.reach) ** 2


def test_the_bound_is_reached_so_it_is_not_loose():
    before = world(visits=[visit(1, cost=50.0)] * 3)
    after = world(visits=[])
    plan, found = moved_by("SELECT SUM(cost) FROM visits", ADD_REMOVE, before, after)
    ((name, measure),) = plan.question.measured.measures
    assert found.l1[name] == plan.question.stability.l1(measure.bound) == 3 * 200


def test_a_public_table_that_repeats_its_keys_cannot_lift_one_person_over_the_threshold():
    people = world_rows(random.Random(0), 1)["people"]
    alone = {**people[0], "zip": "02138", "town": "Only Me"}
    sql = "SELECT p.town, COUNT(*) FROM people AS p JOIN zips AS z ON p.zip = z.zip GROUP BY p.town"
    plan, found = moved_by(sql, ADD_REMOVE, world(people=[alone]), world(people=[]))
    assert found.lonely == (2,)
    assert not violations(plan.plan, found)


EDGES = [*BIG, *REALS, None, 0, 1, -1, 120, 121, 500000.004, 500000.005, -1000.0, 499999.999]


def edge_pairs(count: int, seed: int) -> list[str]:
    """Return every broken promise over pairs with values at the edges of what machines count."""
    rng = random.Random(seed)
    aggregates = "SUM(balance), SUM(age), AVG(balance), SUM(balance * age), VAR_POP(balance)"
    sqls = [
        f"SELECT {aggregates} FROM people",
        "SELECT SUM(income), AVG(income), STDDEV(income), MEDIAN(income), COUNT(income) FROM people",
        "SELECT age, SUM(balance // 7), SUM(income % 0.75), MAX(balance) FROM people GROUP BY age",
        "SELECT COUNT(*), COUNT(DISTINCT balance) FROM people WHERE income * age > balance / 3",
        "SELECT COUNT(DISTINCT income), SUM(FLOOR(income)), MIN(CEIL(income / 7)) FROM people",
    ]
    plans = [planned(sql, catalog) for sql in sqls for catalog in (ADD_REMOVE, REPLACE_ONE)]
    template = world_rows(rng, 1)["people"][0]
    broken = []

    def person(row):
        whole = [value for value in EDGES if not isinstance(value, float)]
        return {
            **template,
            "row_number": row,
            "age": rng.choice(whole),
            "balance": rng.choice([*whole, -1_000_000, 1_000_000]),
            "income": rng.choice([None if v is None else float(v) for v in EDGES]),
        }

    for _ in range(count):
        rows = [person(i) for i in range(rng.randint(1, 6))]
        engine = engine_of({**world_rows(rng, 1), "people": rows})
        other = engine_of({**world_rows(rng, 1), "people": [*rows[1:], person(99)]})
        for plan in plans:
            smaller = without(engine, "census", 0)
            second = smaller if plan.question.stability.neighbours.moves == 1 else other
            found = change(plan.plan, plan.exact(engine), plan.exact(second))
            broken += [f"{said}: {plan.sql}" for said in violations(plan.plan, found)]
    return broken


def test_values_at_the_edges_of_machine_numbers():
    assert not edge_pairs(4 if FULL else 2, seed=6)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_values_at_the_edges_of_machine_numbers_in_full():
    assert not edge_pairs(3000, seed=66)


def test_every_day_that_a_database_can_hold():
    """Days outside Python's calendar are out of range like any other, and do not stop the answer."""
    engine = engine_of(world_rows(random.Random(3)))
    engine.connection.execute("UPDATE people SET born = DATE '20000-01-01' WHERE row_number = 1")
    engine.connection.execute("UPDATE people SET born = DATE 'infinity' WHERE row_number = 2")
    engine.connection.execute(
        "UPDATE people SET born = DATE '0044-03-15 (BC)' WHERE row_number = 3"
    )
    for sql in (
        "SELECT born, COUNT(*) FROM people WHERE born > '2001-01-01' OR born IS NULL GROUP BY born",
        "SELECT EXTRACT(YEAR FROM born), COUNT(*) FROM people GROUP BY 1",
        "SELECT MIN(born), MEDIAN(born) FROM people",
        "SELECT born, town, COUNT(*) FROM people GROUP BY 1, 2",
    ):
        plan = planned(sql, ADD_REMOVE)
        for unit in range(4):
            found = change(
                plan.plan, plan.exact(engine), plan.exact(without(engine, "census", unit))
            )
            assert not violations(plan.plan, found)


def test_overflow_on_some_rows_only_is_refused_before_anybody_is_asked():
    for expression in (
        "balance // 1.000000000000001",
        "balance % 0.000000000000001",
        "LEAST(balance * 1000000000000, 0.0000001)",
        "(balance + 1000000000000000000) + (age / 1000 - 1000000000000000000)",
        "balance * balance * balance * balance",
    ):
        with pytest.raises(DiscreetError):
            planned(f"SELECT SUM({expression}) FROM people", ADD_REMOVE).sealed(engine_of(world()))
    with pytest.raises(DiscreetError):
        planned("SELECT VAR_POP(balance * balance * age) FROM people", ADD_REMOVE)
    with pytest.raises(DiscreetError):
        planned("SELECT COUNT(*) FROM people WHERE balance + age > 0.00000000000000001", ADD_REMOVE)


def test_constants_are_not_added_up_in_32_bits():
    """Whether somebody is there who makes a product overflow is not for the engine to say."""
    large = "CASE WHEN married THEN 100000 ELSE 1 END"
    other = "CASE WHEN sex = 'Male' THEN 100000 ELSE 1 END"
    for sql in (
        f"SELECT SUM({large} * {other}) FROM people",
        "SELECT SUM(ROUND(age) * 100000000) FROM people",
        "SELECT VAR_POP(CAST((age + 99999) AS INTEGER)), VAR_POP(99999) FROM people",
        "SELECT SUM(COALESCE(NULL, 100000) * LENGTH(sex) * 1000000) FROM people",
    ):
        plan = planned(sql, ADD_REMOVE)
        rows = world_rows(random.Random(0), 3)["people"]
        cells = {"married": True, "sex": "Male", "age": 110}
        engine = engine_of(world(people=[{**row, **cells} for row in rows]))
        found = change(plan.plan, plan.exact(engine), plan.exact(without(engine, "census", 1)))
        assert not violations(plan.plan, found)


def test_a_number_is_not_a_condition():
    """It would be false in the plan and true in the engine: declared 1, moved by 1000."""
    for sql in (
        "SELECT SUM(CASE WHEN age THEN 1000 ELSE 1 END) FROM people",
        "SELECT SUM(age) FILTER (WHERE balance) FROM people",
        "SELECT COUNT(*) FROM people WHERE NOT age",
        "SELECT SUM(IF(age, 5, 0)) FROM people",
    ):
        with pytest.raises(DiscreetError):
            planned(sql, ADD_REMOVE)
