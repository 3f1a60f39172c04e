"""`max_rows` reaches every reader of people's rows: asking for it is as if the owner had declared it.

A class of statements rather than a case: each shape that reads rows by person, and random questions.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from asking import TOML, catalog, memory, wards
from curator_kit import MemoryEngine, arrow, catalog_of, planned
from discreet.ask.plan.ir import scans_of
from discreet.ask.release.rows_left_out import probe_catalog
from discreet.ask.sql import relations
from discreet.ask.sql.write import blocks
from discreet.curator import Curator, policy_of
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.policy_file import loads
from discreet.errors import DiscreetError
from discreet.privacy.ledger.ledger import Ledger
from discreet.testing import SeededRng
from duckdb_kit import room
from queries import Questions
from sittings import FULL
from world_catalog import TABLES

EACH = "SELECT person, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY person"
SHAPES = {
    "rows": "SELECT COUNT(*) AS n, SUM(cost) AS total FROM visits",
    "a condition": "SELECT COUNT(*) AS n FROM visits WHERE cost > 2",
    "a group": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "rows by person": f"SELECT SUM(n) AS n, SUM(total) AS total FROM ({EACH})",
    "people by their rows": f"SELECT COUNT(*) AS n FROM ({EACH}) WHERE n > 20",
    "the most rows": f"SELECT MAX(n) AS n FROM ({EACH})",
    "different wards of a person": "SELECT SUM(n) AS n FROM (SELECT person, COUNT(DISTINCT ward) AS n "
    "FROM visits GROUP BY person)",
    "HAVING": f"SELECT COUNT(*) AS n FROM ({EACH} HAVING COUNT(*) > 20)",
    "by person and ward": "SELECT ward, SUM(n) AS n FROM (SELECT person, ward, COUNT(*) AS n FROM visits "
    "GROUP BY person, ward) GROUP BY ward",
    "a WITH": f"WITH each AS ({EACH}) SELECT SUM(n) AS n FROM each",
    "a WITH of rows": "WITH dear AS (SELECT person, cost FROM visits WHERE cost > 2) "
    "SELECT COUNT(*) AS n FROM dear",
    "a WITH within a WITH": f"WITH a AS ({EACH}), b AS (SELECT n FROM a WHERE n > 10) SELECT SUM(n) AS n FROM b",
    "a join": "SELECT p.sex, COUNT(*) AS n FROM visits AS v JOIN patients AS p "
    "ON v.person = p.person GROUP BY p.sex",
    "a join with itself": "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b "
    "ON a.person = b.person AND a.cost = b.cost",
    "a join with what each has": f"SELECT p.sex, SUM(e.n) AS n FROM patients AS p JOIN ({EACH}) AS e "
    "ON p.person = e.person GROUP BY p.sex",
    "rows with what each has": f"SELECT SUM(e.n) AS n FROM visits AS v JOIN ({EACH}) AS e "
    "ON v.person = e.person",
    "DISTINCT": "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person, ward FROM visits)",
    "IN": "SELECT COUNT(*) AS n FROM visits WHERE person IN (SELECT person FROM visits WHERE cost > 5)",
    "EXISTS": "SELECT COUNT(*) AS n FROM patients AS p WHERE EXISTS "
    "(SELECT 1 FROM visits AS v WHERE v.person = p.person)",
    "UNION": f"SELECT 'a' AS who, SUM(n) AS n FROM ({EACH}) UNION ALL SELECT 'b', COUNT(*) FROM visits",
    "two steps": "SELECT MAX(n) AS n FROM (SELECT ward, SUM(n) AS n FROM (SELECT person, ward, "
    "COUNT(*) AS n FROM visits GROUP BY person, ward) GROUP BY ward)",
    "shares": "SELECT ward, SUM(n) AS n, SUM(SUM(n)) OVER () AS whole FROM (SELECT person, ward, COUNT(*) AS n "
    "FROM visits GROUP BY person, ward) GROUP BY ward",
    "a value of its own": f"SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT SUM(n) / 1000 FROM ({EACH}))",
    "CASE": f"SELECT CASE WHEN n > 20 THEN 'many' ELSE 'few' END AS heap, COUNT(*) AS people FROM ({EACH}) GROUP BY 1",
    "a median of counts": f"SELECT MEDIAN(n) AS n FROM ({EACH})",
}


def declaring(known: Catalog, most: int) -> Catalog:
    """Return a catalog in which the owner declares what is asked for elsewhere."""
    for name in ("patients", "visits"):
        dataset = known.dataset("clinic")
        (table,) = (each for each in dataset.tables if each.name == name)
        known = probe_catalog(known, dataset, table, most)
    return known


def people(rows: int) -> dict[str, pa.Table]:
    """Return 40 patients, who have so many visits each, in two wards."""
    seen = [{"person": i % 40, "ward": "AB"[i % 3 % 2], "cost": i % 7} for i in range(40 * rows)]
    known = [{"person": i, "sex": ("Female", "Male")[i % 2]} for i in range(40)]
    return {"visits": pa.Table.from_pylist(seen), "patients": pa.Table.from_pylist(known)}


def world(base: Path, known: Catalog, rows: int = 3) -> Curator:
    ledger = Ledger.open(f"sqlite:{base / 'ledger.db'}", policy_of(known), base=base)
    tables = {**people(rows), "wards": wards()}
    return Curator(known, ledger=ledger, engine=memory(**tables), rng=SeededRng(1))


def told(sql: str, one: Curator, **asked: Any) -> tuple[Any, ...]:
    """Return what is public of a question: what would run, with which noise, at which price."""
    found = one.explain(sql, epsilon="1", **asked)
    return found.sql, found.mechanisms, found.cost, found.expected_error, found.region


def different(base: Path, bounds: tuple[int, ...] = (1, 2, 50)) -> list[str]:
    """Return the shapes that a bound which is asked for does not change as a declared one would."""
    known, found = catalog(epsilon="1000"), []
    for most in bounds:
        with (
            world(base, known) as asked,
            world(base, declaring(known, most)) as declared,
        ):
            found += [
                f"{name}, {most}"
                for name, sql in SHAPES.items()
                if told(sql, asked, max_rows=most) != told(sql, declared)
            ]
    return found


def test_what_is_asked_for_is_as_if_it_were_declared(tmp_path):
    assert different(tmp_path) == []


def test_random_questions_have_one_bound_wherever_they_read():
    dice = random.Random(37)
    questions, catalogs = Questions(dice), {}
    for kind in ("add-remove", "replace-one"):
        known = catalog_of(Path(), neighbours=kind)
        catalogs[kind] = known, {most: declaring(known, most) for most in (1, 5, 30)}
    empty = MemoryEngine({name: arrow(name, []) for name in TABLES})
    met = 0
    while met < (500 if FULL else 30):
        known, declared = catalogs[dice.choice(list(catalogs))]
        sql, most = questions.question(), dice.choice(list(declared))
        try:
            one = planned(sql, known, max_rows=most)
            other = planned(sql, declared[most])
            drafts = [[read.draft for read in each.sealed(empty).reads] for each in (one, other)]
        except DiscreetError:
            continue
        assert one.question.stability == other.question.stability, sql
        assert drafts[0] == drafts[1], sql
        assert one.plan.mechanisms == other.plan.mechanisms, sql
        met += bool(one.question.statement.max_rows and "person" in str(drafts))


EXACT = [name for name in SHAPES if name != "the most rows"]
"""Without noise MAX is any value that nothing lies above."""


def off(base: Path, shapes: Iterable[str] = EXACT) -> list[str]:
    """Return the shapes whose answers, almost without noise, are not those of plain SQL over all rows."""
    rows, found = 50, []
    plain = room()
    for name, table in people(rows).items():
        plain.register(name, table)
    with world(base, catalog(epsilon="1000000000000"), rows) as one:
        for name in shapes:
            answer = one.query(SHAPES[name], epsilon="1000000000", max_rows=2_500)
            true = sorted(map(tuple, plain.sql(SHAPES[name]).fetchall()), key=repr)
            shown = sorted((row for row in answer.rows if row[-1]), key=repr)
            near = [
                all(a == b if isinstance(b, str) else abs(a - float(b)) < 1 for a, b in pairs)
                for pairs in map(zip, shown, true)
            ]
            if len(true) != len(shown) or not all(near):
                found.append(f"{name}: {answer.rows} for {true}")
    return found


def test_the_answer_is_that_of_the_rows_that_were_asked_for(tmp_path):
    assert off(tmp_path) == []


def test_a_bound_that_does_not_reach_a_reader_is_caught(monkeypatch, tmp_path):
    """Each reader by itself goes by what is declared: the subquery by person, the side of a join."""

    def declared(source):
        return max(scan.table.max_rows for scan in scans_of(source) if not scan.public)

    def kept(source, **_asked):
        return declared(source), True

    readers = [
        (relations, "rows_to_keep", kept, "rows by person"),
        (blocks, "bound_rows", declared, "a join"),
    ]
    for place, reads, other, name in readers:
        with monkeypatch.context() as broken:
            broken.setattr(place, reads, other)
            assert any(said.startswith(name) for said in different(tmp_path, (50,)))
            assert off(tmp_path, [name])


def test_a_bound_of_the_owner_for_the_whole_table_stays(tmp_path):
    """... in every shape, and the answer says so."""
    known = catalog(epsilon="1000")
    text = TOML.format(epsilon=1000, delta=0, neighbours="add-remove")
    known = loads(text.replace("max_rows = 4", 'max_rows = 4\nbound = "table"'), base=tmp_path)
    with world(tmp_path, known) as one:
        for name, sql in SHAPES.items():
            found = one.explain(sql, epsilon="1", max_rows=50)
            if "FROM visits" in sql and "patients" not in sql:
                assert told(sql, one, max_rows=50) == told(sql, one), name
            assert any("was not used: 'visits' is bounded" in note for note in found.notes), name


def test_an_answer_for_another_bound_is_not_that_of_this_one(tmp_path):
    with world(tmp_path, catalog(epsilon="1000")) as one:
        sql = SHAPES["rows by person"]
        one.query(sql, epsilon="1", max_rows=50)
        assert not one.query(sql, epsilon="1", max_rows=60).free
        assert not one.query(sql, epsilon="1").free
        assert one.query(sql, epsilon="1", max_rows=50).free
