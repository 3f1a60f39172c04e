"""Rare codes are kept by how they begin; names are not; what is paid is what was given."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest

from copying import MemoryEngine, catalog_of, people, visits
from discreet.base.event import Composed
from discreet.measure.columns import Bins, Coded, outline_of
from discreet.measure.learned_domains import (
    CLEAR,
    LearningContext,
    StemLevel,
    learn,
    next_stems,
    stems_of_codes,
    with_stems,
)
from discreet.measure.private_marginals import MarginalBudget
from discreet.measure.sealing import SqlCounter, seal_codes
from discreet.privacy.account.tally import tally
from discreet.testing import SeededRng
from discreet.work.synth.model_file import column_from_json, column_to_json
from permits import paid
from town_source import town_source

BUDGET = MarginalBudget(Fraction(1, 10), concentrated=True)
RISK = Fraction(1, 10**6)
TOWN = town_source()


def _people(jobs: list[str]) -> pa.Table:
    table = people(len(jobs))
    return table.set_column(table.column_names.index("job"), "job", pa.array(jobs))


def learned(base, jobs: list[str], *, stems: bool = True):
    engine = MemoryEngine({"town.people": _people(jobs), "clinic.visits": visits()})
    outline = outline_of(catalog_of(base), "people", bins=Bins.EQUAL, has_delta=True)
    context = LearningContext(engine, paid(engine.hold({})), BUDGET, RISK, TOWN, SeededRng(3))
    found = learn(outline, context, lambda _: None, stems=stems)
    by_name = {column.name: column for column in found.encoding.coded}
    return by_name.get("job"), found.events


CODES = (
    [f"A{i % 30:02d}.{i // 30}" for i in range(3000)] + ["B07"] * 900 + [f"C9{i}" for i in range(9)]
)


def test_rare_codes_are_kept_by_how_they_begin(tmp_path):
    column, _ = learned(tmp_path, CODES)
    assert isinstance(column, Coded)
    values = column.domain.values
    assert "B07" in values  # as a whole
    assert {"A00*", "A13*", "A29*"} <= set(values)  # a hundred people each, of codes for one
    assert not any(value.startswith("C") for value in values)  # nine people are too few
    assert column.stems >= 3
    before, _ = learned(tmp_path, CODES, stems=False)
    assert before.stems == 0
    assert before.domain.values == ("B07",)


def test_every_row_falls_into_one_cell_and_whole_values_come_first(tmp_path):
    jobs = ["A01.5", "A01.6", "A02", "A", "B07", "B071", "b07", "A1", "Ä9"]
    engine = MemoryEngine({"town.people": _people(jobs), "clinic.visits": visits()})
    outline = outline_of(catalog_of(tmp_path), "people", bins=Bins.EQUAL, has_delta=True)
    column = with_stems("job", ("A01.5", "B07"), ["A", "A0", "A01", "B0"])
    codes = seal_codes(outline.scan, engine, [column])
    counter = SqlCounter(paid(engine.hold({})), f"({codes.sql}) AS z", codes.shape)
    counts = counter.marginals([(0,)])[0].tolist()
    named = dict(zip([*column.domain.values, None], counts, strict=True))
    assert named == {"A01.5": 1, "B07": 1, "A01*": 1, "A0*": 1, "B0*": 1, "A*": 2, None: 2}
    assert sum(counts) == len(jobs)


def test_names_have_no_stems(tmp_path):
    """The broken twin: the same letters, every name with a digit behind the first one."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = [f"JO{letters[i % 26]}{letters[i // 26 % 26]}" for i in range(4000)]
    column, _ = learned(tmp_path, names)
    assert column is None or column.stems == 0
    twin, _ = learned(tmp_path, [f"J0{name[2:]}" for name in names])
    assert twin is not None
    assert twin.stems > 0


def test_what_was_spent_is_at_most_what_was_paid(tmp_path):
    for stems in (False, True):
        _, events = learned(tmp_path, CODES[:800], stems=stems)
        used = tally(Composed(events))
        assert 0 < used.rho <= BUDGET.amount + len(events) * Fraction(1, 10**24)
        assert used.delta == RISK


def level(length: int, found: dict[str, float], deviation: float = 10.0) -> StemLevel:
    """Return what a histogram said: nothing but these."""
    bar = CLEAR[length - 1] * deviation
    return StemLevel(found, deviation, {s: rows for s, rows in found.items() if rows > bar})


def test_a_shorter_stem_is_kept_for_what_the_longer_ones_leave():
    ones = level(1, {"A": 900.0, "B": 300.0, "C": 50.0})
    twos = level(2, {"A1": 500.0, "A2": 100.0, "B1": 280.0, "C1": 30.0, "AX": -20.0})
    threes = level(3, {"A11": 400.0, "A2.": 95.0})
    assert stems_of_codes([ones, twos, threes]) == ["A", "A1", "A11", "A2.", "B1"]
    names = level(2, {"AN": 500.0, "A2": 100.0, "B1": 280.0})
    assert stems_of_codes([ones, names]) == ["A2", "B1"]  # most of A goes on with a letter
    assert stems_of_codes([level(1, {"A": 59.0})]) == []  # noise
    assert stems_of_codes([]) == []


@pytest.mark.parametrize("words", [0, 3000, 4094])
def test_a_column_never_has_more_values_than_codes(words):
    listed = [f"w{i}" for i in range(words)]
    levels: list[StemLevel] = []
    for length in (1, 2, 3):
        stems = next_stems(listed, levels)
        assert len(listed) + len(stems) < 4096
        levels.append(level(length, dict.fromkeys(stems, 100.0)))
    assert next_stems(["A*", "B"], [])[:2] == ["a", "b"]
    assert "A" not in next_stems(["A*", "B"], [])


def test_noise_makes_no_column_of_nothing():
    """Sixty-two cells of noise are above six deviations once in sixteen million columns."""
    chance = len(next_stems((), [])) * math.erfc(CLEAR[0] / math.sqrt(2)) / 2
    assert chance < 1e-7


def test_the_model_file_keeps_stems():
    column = with_stems("job", ("x",), ["A", "A1"])
    assert column_from_json(column_to_json(column)) == column
    assert Counter(column.domain.values) == Counter(("x", "A*", "A1*"))
