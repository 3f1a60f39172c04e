"""A planner that lies about rows, sizes, edges, neighbours or people cannot hurt a synthesis.

What it writes is refused before it runs, or noise is made for what it really does.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import cache

import duckdb
import numpy as np
import pytest

from copying import MemoryEngine, catalog_of, curator, people, visits
from discreet.ask.plan.ir import bound_rows
from discreet.base.schema import CategoryDomain, IntegerDomain
from discreet.base.unit import Neighbours
from discreet.measure import sealing
from discreet.measure import sealing as codes_sql
from discreet.measure.columns import Coded, binned, scan_of
from discreet.measure.private_marginals import CountSensitivity
from discreet.measure.sealing import seal_codes, seal_words
from discreet.privacy.kernel.facts import SelectedCodes
from discreet.privacy.kernel.nodes import Unfit
from discreet.testing import FakeEngine
from duckdb_kit import room

WARD = Coded("ward", CategoryDomain(("A", "B", "C")), missing=True)
COST = Coded("cost", IntegerDomain(0, 99))
BINNED = Coded("cost", IntegerDomain(0, 99), (0, 10, 20, 30, 50, 90), missing=True)
KEPT = FakeEngine(
    {"clinic.visits": {"person": "BIGINT", "ward": "VARCHAR", "cost": "BIGINT"}}, canonical=True
)


@pytest.fixture
def scan(tmp_path):
    return scan_of(catalog_of(tmp_path), "visits")


def sealed(scan, columns=(WARD, BINNED)):
    return seal_codes(scan, KEPT, columns)


def test_a_larger_bound_costs_what_it_does(scan, monkeypatch):
    assert sealed(scan).unit == CountSensitivity(2)
    monkeypatch.setattr(codes_sql, "bound_rows", lambda scan: 7 * bound_rows(scan))
    assert sealed(scan).unit == CountSensitivity(14)


def test_neighbours_are_those_of_the_catalog(tmp_path):
    scan = scan_of(catalog_of(tmp_path, neighbours="replace-one"), "visits")
    assert sealed(scan).unit == CountSensitivity(2, neighbours=Neighbours.REPLACE_ONE)


def test_rows_that_nobody_bounds_are_refused(scan, monkeypatch):
    monkeypatch.setattr(codes_sql, "structural_rows", lambda _: 1)
    with pytest.raises(Unfit, match="nothing bounds"):
        sealed(scan)


@pytest.mark.parametrize("column", [WARD, COST, BINNED], ids=["words", "values", "bins"])
def test_a_table_that_is_too_small_is_refused(scan, monkeypatch, column):
    sealed(scan, [column])
    monkeypatch.setattr(Coded, "size", property(lambda column: column.values - 1))
    with pytest.raises(Unfit, match="leave its table"):
        sealed(scan, [column])


def test_a_position_that_is_believed_is_refused(scan, monkeypatch):
    narrow = Coded("cost", IntegerDomain(10, 20))  # the catalog says 0 to 99
    sealed(scan, [narrow])
    monkeypatch.setattr(codes_sql, "_is_certain", lambda *_: True)
    with pytest.raises(Unfit, match="leave its table"):
        sealed(scan, [narrow])


def test_another_list_of_words_is_looked_up(scan, monkeypatch):
    """Where the catalog lists other values, or in another order, the stored place says nothing."""
    assert "TRY_CAST" not in sealed(scan, [WARD]).sql
    for values in (("B", "A", "C"), ("A", "B"), ("A", "B", "C", "D")):
        assert "TRY_CAST" in sealed(scan, [replace(WARD, domain=CategoryDomain(values))]).sql
    short = replace(WARD, domain=CategoryDomain(("A",)))
    monkeypatch.setattr(codes_sql, "_place_in_list", lambda cell, *_: f"enum_code({cell.raw})")
    with pytest.raises(Unfit, match="leave its table"):
        sealed(scan, [short])


def test_a_gap_that_is_denied_is_refused(scan, monkeypatch):
    real = codes_sql.codes_sql
    monkeypatch.setattr(sealing, "codes_sql", lambda *given: real(*given).split(" WHERE p.")[0])
    with pytest.raises(Unfit, match="NULL"):
        sealed(scan, [COST])


def test_words_are_counted_by_units_or_not_at_all(tmp_path, monkeypatch):
    engine = MemoryEngine({"town.people": people(20), "clinic.visits": visits(3)})
    table = scan_of(catalog_of(tmp_path), "people")
    assert seal_words(table, engine, "job").groups == 1
    twice = scan_of(catalog_of(tmp_path, neighbours="replace-one"), "people")
    assert seal_words(twice, engine, "job").groups == 2
    # A person's wards stand for words: two rows of one may hold two of them.
    scan = scan_of(catalog_of(tmp_path), "visits")
    assert seal_words(scan, KEPT, "ward").groups == 2
    real = sealing.words_sql
    by_rows = lambda *given: real(*given).replace("COUNT(DISTINCT w.u)", "COUNT(*)")  # noqa: E731
    monkeypatch.setattr(sealing, "words_sql", by_rows)
    with pytest.raises(Unfit):
        seal_words(scan, KEPT, "ward")


@pytest.mark.parametrize("honest", [0, 1])
def test_other_people_than_were_charged_are_refused(tmp_path, monkeypatch, honest):
    """The planner reads the other dataset: at once, or only after the price was made."""
    asked, looks = curator(tmp_path), []
    real, other = sealing.codes_sql, scan_of(asked.catalog, "visits")

    def lying(scan, engine, columns):
        looks.append(scan)
        if len(looks) <= honest:
            return real(scan, engine, columns)
        _, tail = real(other, engine, [WARD]).split(" FROM (", 1)
        return f"SELECT {', '.join(f'0 AS c{i}' for i in range(len(columns)))} FROM ({tail}"

    monkeypatch.setattr(sealing, "declared_scans", both(sealing.declared_scans, other))
    monkeypatch.setattr(sealing, "codes_sql", lying)
    with pytest.raises(Unfit, match="other people"):
        asked.synthesize("people", epsilon=1)
    assert len(looks) == honest + 1
    assert not any("clinic.visits" in sql for sql in asked.engine.ran)
    assert asked.ledger.spent("town").charges == honest


def both(real, other):
    def scans(scan, engine):
        found = real(scan, engine)
        return replace(
            found, tables={**found.tables, **real([(other.dataset, other.table)], engine).tables}
        )

    return scans


def test_an_unfit_statement_costs_nothing(tmp_path, monkeypatch):
    asked = curator(tmp_path)
    monkeypatch.setattr(codes_sql, "_is_certain", lambda *_: True)
    monkeypatch.setattr(codes_sql, "clamped", lambda place, *_: place)
    before = len(asked.engine.ran)
    with pytest.raises(Unfit):
        asked.synthesize("people", epsilon=1)
    assert asked.ledger.spent("town").epsilon == 0
    assert len(asked.engine.ran) == before


# --- a hunt: the planner's SQL is changed at random, and what passes is run on neighbours ----------

CHANGES = [
    (r"\b\d+\b", lambda dice: str(dice.choice([-3, 0, 1, 2, 5, 30, 98, 1000]))),
    (r" <= ", lambda dice: dice.choice([" < ", " >= ", " = ", " <> "])),
    (r" (<|>) ", lambda dice: dice.choice([" < ", " > ", " <= "])),
    (r" - ", lambda _: " + "),
    (r" // ", lambda dice: dice.choice([" / ", " % ", " * "])),
    (r"IS NOT NULL", lambda _: "IS NULL"),
    (r"\b([tp]\d*)\.(u|r|r0|c\d|p\d|n)\b", lambda dice: dice.choice(["t0.u", "t0.r", "t0.c1", "t0.c2", "t1.c0", "t1.c1", "t1.n", "t1.u", "p.p0", "p.p1", "p.u"])),
    (r"PARTITION BY t0\.u ", lambda dice: dice.choice(["", "PARTITION BY t0.c1 "])),
    (r"ORDER BY t0\.r", lambda dice: dice.choice(["ORDER BY t0.c1", "ORDER BY t0.u"])),
    (r" WHERE [^()]*$", lambda _: ""),
    (r" WHERE t1\.n <= 2", lambda _: ""),
    (r"ELSE [^ ]+ END", lambda dice: dice.choice(["END", "ELSE 7 END"])),
    (r"COALESCE\(", lambda _: "ABS("),
    (r"SELECT ", lambda dice: dice.choice(["SELECT DISTINCT ", "SELECT 1 AS x, "])),
]  # fmt: skip


def changed(sql, dice):
    for _ in range(dice.randint(1, 3)):
        pattern, make = dice.choice(CHANGES)
        places = list(re.finditer(pattern, sql))
        if places:
            place = dice.choice(places)
            sql = sql[: place.start()] + make(dice) + sql[place.end() :]
    return sql


def rows_of(dice):
    """Return canonical rows (ward, cost, person, rank) of a few people."""
    found = []
    for person in range(1, dice.randint(2, 5)):
        own = sorted(
            (dice.choice(["A", "B", "C", ""]), dice.choice([0, 9, 10, 50, 99, -1]))
            for _ in range(dice.randint(1, 6))
        )
        found += [(w or None, None if c < 0 else c, person, i + 1) for i, (w, c) in enumerate(own)]
    return found


def counted(sql, shape):
    """Return the table of all codes; None where counting fails or an index leaves it."""
    try:
        codes = np.array(store().execute(sql).fetchall(), dtype=np.float64).reshape(-1, 2)
    except (duckdb.Error, ValueError):
        return None
    if np.isnan(codes).any() or (codes < 0).any() or (codes >= shape.sizes).any():
        return None
    table = np.zeros(shape.sizes, dtype=np.int64)
    np.add.at(table, tuple(codes.T.astype(np.int64)), 1)
    return table


def distances(sql, shape, rows):
    """Return how far the table moves in L1 when each person goes; None where it fails."""
    listed = ", ".join(
        f"({repr(w) if w else 'NULL'}, {'NULL' if c is None else c}, {u}, {r})"
        for w, c, u, r in rows
    )
    store().execute(f"DELETE FROM {VISITS}; INSERT INTO {VISITS} VALUES {listed}")
    whole, found = counted(sql, shape), []
    for person in {row[2] for row in rows}:
        store().execute(f"BEGIN; DELETE FROM {VISITS} WHERE u = {person}")
        without = counted(sql, shape)
        store().execute("ROLLBACK")
        failed = whole is None or without is None
        found.append(None if failed else int(np.abs(whole - without).sum()))
    return found


VISITS = 'canon."clinic.visits"'


@cache
def store():
    kept = room()
    kept.execute("CREATE SCHEMA canon")
    kept.execute(f"CREATE TABLE {VISITS} (c1 ENUM('A', 'B', 'C'), c2 BIGINT, u HUGEINT, r INTEGER)")
    return kept


def hunt(scan, monkeypatch, count, seed):
    """Return (statements that passed, those that moved by more than their unit, or failed)."""
    real, passed, wrong = codes_sql.codes_sql, 0, []
    dice = random.Random(seed)
    for _ in range(count):
        columns = [WARD, binned(dice.choice([COST, BINNED]))]
        written = changed(real(scan, KEPT, columns), dice)
        with monkeypatch.context() as lying:
            lying.setattr(sealing, "codes_sql", lambda *_, sql=written: sql)
            try:
                found = sealed(scan, columns)
            except Unfit:
                continue
        passed += 1
        most = found.unit.rows
        far = distances(found.sql, found.shape, rows_of(dice))
        wrong += [(found.sql, each) for each in far if each is None or each > most]
    return passed, wrong


@pytest.mark.parametrize("count", [80, pytest.param(20_000, marks=pytest.mark.slow)])
def test_changed_sql_is_refused_or_true(scan, monkeypatch, count):
    passed, wrong = hunt(scan, monkeypatch, count, seed=11)
    assert wrong == []
    assert passed > count / 20


def test_a_twin_that_believes_the_planner_is_caught(scan, monkeypatch):
    believed = SelectedCodes(2, ("clinic.visits",), person=True)
    monkeypatch.setattr(sealing, "codes_of", lambda *_: believed)
    _, wrong = hunt(scan, monkeypatch, 50, seed=11)
    assert len(wrong) > 5
