"""Test 14: a group of one person appears with a chance of at most delta."""

from __future__ import annotations

import functools
import random
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from curator_kit import DATASET, SCHEMAS, TABLES, MemoryEngine, catalog_of, planned
from discreet.ask.plan.plan import PrivateGroups
from discreet.base.numbers import Delta
from discreet.curator import Curator
from discreet.privacy.noise.laws import LaplaceLaw
from discreet.privacy.noise.select import threshold_for
from discreet.testing import FakeEngine, SeededRng, assert_frequency
from nasty_rows import arrow
from noise_kit import appearance_bounds
from sittings import FULL

QUESTIONS = (
    "SELECT town, COUNT(*) FROM people GROUP BY town",
    "SELECT town, sex, SUM(income) FROM people GROUP BY town, sex",
    "SELECT town, MEDIAN(age) FROM people GROUP BY town",
    "SELECT p.town, COUNT(*) FROM people p JOIN zips z ON p.zip = z.zip GROUP BY p.town",
    "SELECT reason, COUNT(*) FROM visits GROUP BY reason",
    "SELECT reason, COUNT(DISTINCT person) FROM visits GROUP BY reason",
    "SELECT reason, ward, AVG(cost), VAR_POP(code) FROM visits GROUP BY reason, ward",
    "SELECT balance, COUNT(*) FROM people GROUP BY balance",
    (
        "SELECT v.reason, p.sex, SUM(v.cost) FROM patients p JOIN visits v ON p.person = v.person "
        "GROUP BY 1, 2"
    ),
)

EPSILONS = ("0.1", "1", "8")


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("delta", ["1e-9", "0.01"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_chance_by_the_law_itself(neighbours, delta, epsilon):
    catalog = catalog_of(Path(), neighbours=neighbours, delta=delta)
    every = (None, 1, 7)
    for place, sql in enumerate(QUESTIONS, EPSILONS.index(epsilon)):
        for max_rows in every if FULL else every[place % 3 :][:1]:
            plan = planned(sql, catalog, epsilon=epsilon, max_rows=max_rows)
            assert isinstance(plan.question.groups, PrivateGroups)
            stability, mechanisms = plan.rendered[0].reads[0].stability, plan.plan.mechanisms
            law = mechanisms.laws[plan.question.measured.units]
            kind = dict(plan.question.measured.measures)[plan.question.measured.units].kind
            # A row that a public table repeats counts as often as it is repeated.
            counted = stability.max_rows if kind.value == "rows" else 1
            groups = stability.coordinates
            noise = law
            share = plan.plan.delta.value / 2
            risk = appearance_bounds(noise, mechanisms.threshold, units=counted, max_groups=groups)[
                1
            ]
            assert risk <= share, sql
            assert plan.plan.delta.value <= Fraction(delta)
            if isinstance(law, LaplaceLaw) and counted == 1:
                # And one less would be too low: the threshold is not simply huge.
                lower = appearance_bounds(noise, mechanisms.threshold - 1, max_groups=groups)[0]
                assert lower > share, sql


def answers_of(groups: int, units: int):
    """Return an engine's answers in which every group has that many units."""

    def answer(sql: str) -> pa.Table:
        names = [f"town {i:06d}" for i in range(groups)]
        return pa.table({"k0": names, "r0": [units] * groups})

    return answer


def fake(answers) -> FakeEngine:
    kinds = {"int64": "BIGINT", "string": "VARCHAR", "double": "DOUBLE", "bool": "BOOLEAN"}
    tables = {
        f"{DATASET[name]}.{name}": {f.name: kinds.get(str(f.type), "DATE") for f in schema}
        for name, schema in SCHEMAS.items()
    }
    return FakeEngine(tables, answers=answers)


@pytest.mark.parametrize("units", [1, 3])
def test_the_chance_by_counting(tmp_path, units, record_property):
    """Through the whole way, at a delta large enough to be seen: 80,000 groups of one person."""
    groups = 20_000
    sql = "SELECT town, COUNT(*) FROM people GROUP BY town"
    catalog = catalog_of(tmp_path, delta="0.9")
    plan = planned(sql, catalog, epsilon="1")
    law = plan.plan.mechanisms.laws[plan.question.measured.units]
    threshold = plan.plan.mechanisms.threshold
    low, high = appearance_bounds((law), threshold, units=units)
    shown = 0
    with Curator(catalog, engine=fake(answers_of(groups, units)), rng=SeededRng(14)) as curator:
        for i in range(4):
            answer = curator.query(sql, epsilon="1", request_id=f"r{i}", fresh=True)
            shown += len(answer.rows)
            names = [row[0] for row in answer.rows]
            assert names == sorted(names), "groups in the engine's order say who came when"
    assert shown > 0, "a delta this large must show somebody: the test is blind"
    assert_frequency(shown, 4 * groups, float(low), float(high))
    if units == 1:
        assert high <= plan.plan.delta.value / 2
        with pytest.raises(AssertionError):
            assert_frequency(shown, 4 * groups, float(low) / 3, float(high) / 3)
    record_property("groups of few people drawn, as rare as the law says", 4 * groups)


def test_nothing_of_a_hidden_group_comes_out(tmp_path):
    names = [f"secret {random.Random(i).random()}" for i in range(200)]
    answers = {"k0": [*names, "Boston"], "r0": [1] * 200 + [10**6]}
    catalog = catalog_of(tmp_path, delta="1e-9")
    engine = fake(lambda _sql: pa.table(answers))
    with Curator(catalog, engine=engine, rng=SeededRng(14)) as curator:
        answer = curator.query("SELECT town, COUNT(*) FROM people GROUP BY town", epsilon="1")
        assert [row[0] for row in answer.rows] == ["Boston"]
        assert "secret" not in repr(answer.to_json())
        stored = b"".join(
            payload
            for _, _, payload in curator.ledger.answers(None, "census", answer.provenance.snapshot)
        )
        assert b"Boston" in stored
        assert b"secret" not in stored


REWRITTEN = (
    "SELECT reason, COUNT(*) FROM visits GROUP BY reason",
    "SELECT t.r, COUNT(*) FROM (SELECT reason AS r, person FROM visits) AS t GROUP BY t.r",
    "WITH a AS (SELECT * FROM visits), b AS (SELECT * FROM a) SELECT reason, COUNT(*) FROM b GROUP BY 1",
    "SELECT v.reason, w.wing, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY 1, 2",
    "SELECT v.reason, COUNT(*) FROM patients p JOIN visits v ON p.person = v.person GROUP BY 1",
    "SELECT v.reason, v.code, SUM(v.cost), MEDIAN(v.cost) FROM visits v GROUP BY 1, 2",
)
"""Private groups behind renaming, subqueries and joins, some of which repeat a person's rows."""


@functools.cache
def lonely_engine() -> MemoryEngine:
    """A database of one person, whose every row is in a group of its own."""
    visits = [
        {"person": 1, "reason": f"r{i}", "ward": "A", "code": i % 7, "cost": 5.0} for i in range(60)
    ]
    wards = [{"ward": "A", "floor": i, "wing": wing} for i, wing in enumerate(("east", "west"))]
    patients = [{"person": 1, "sex": "Male", "age": 30, "weight": 70.0}]
    rows = {"visits": visits, "wards": wards, "patients": patients}
    return MemoryEngine({name: arrow(name, rows.get(name, [])) for name in TABLES})


def risk_of(plan, groups: list[int], threshold: int) -> Fraction:
    """Return the chance that any of one person's groups appears, over what the engine counted."""
    law = plan.plan.mechanisms.laws[plan.question.measured.units]
    return sum(appearance_bounds((law), threshold, units=n)[1] for n in groups)


@pytest.mark.parametrize("max_rows", [None, 1, 7])
@pytest.mark.parametrize("sql", REWRITTEN)
def test_all_groups_of_one_person_together_after_any_rewriting(sql, max_rows):
    """Counted by an engine, not derived: what is rewritten may give a person more groups."""
    catalog = catalog_of(Path(), delta="1e-6")
    plan = planned(sql, catalog, epsilon="1", max_rows=max_rows)
    found = plan.exact(lonely_engine())
    counted = [int(n) for n in found.measures[plan.question.measured.units]]
    assert counted, "a person without groups shows nothing"
    threshold = plan.plan.mechanisms.threshold
    assert risk_of(plan, counted, threshold) <= plan.plan.delta.value / 2
    if len(counted) > 1:
        # The twin that counts one group of a person has a lower threshold, and is caught.
        law = plan.plan.mechanisms.laws[plan.question.measured.units]
        lower = threshold_for((law), Delta(plan.plan.delta.value / 2), max_groups=1)
        assert lower < threshold
        assert risk_of(plan, counted, lower) > plan.plan.delta.value / 2
