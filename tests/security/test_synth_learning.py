"""Record and replay for learned domains: with its noisy outputs frozen, learning does the same on a
neighbour, asks the same statements, and sees counts that moved by no more than one unit can."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from copying import MemoryEngine, catalog_of, people, visits
from discreet.measure import learned_domains as learning
from discreet.measure.columns import Bins, outline_of
from discreet.measure.learned_domains import LearningContext, learn, narrowed
from discreet.measure.private_marginals import MarginalBudget, Measured, PrivateMarginals
from discreet.testing import SeededRng
from permits import paid
from town_source import town_source

BUDGET = MarginalBudget(Fraction(1, 50), concentrated=True)
RISK = Fraction(1, 10**6)
TOWN = town_source()


class Tape:
    """Records what passes the door and the threshold, or plays it back; keeps the exact counts."""

    def __init__(self, played=None):
        self.played = None if played is None else list(played)
        self.noisy, self.exact = [], []

    def marginals(self, real):
        tape = self

        class Recorded(PrivateMarginals):
            def measure(self, wanted, *, share, merged=None):
                tape.exact += self._counter.marginals(wanted)
                found = real.measure(self, wanted, share=share, merged=merged)
                if tape.played is not None:
                    found = tape.played.pop(0)
                tape.noisy.append(found)
                return found

        return Recorded

    def groups(self, real):
        def keep(counts, noise, threshold, *, rng):
            self.exact.append(np.array(counts))
            found = real(counts, noise, threshold, rng=rng)
            if self.played is not None:
                found = self.played.pop(0)
            self.noisy.append(found)
            return found

        return keep


def run(monkeypatch, base, table, tape, *, learner=learn):
    engine = MemoryEngine({"town.people": table, "clinic.visits": visits(3)})
    catalog = catalog_of(base)
    outline = outline_of(catalog, "people", bins=Bins.QUANTILE, has_delta=True)
    before = len(engine.ran)
    context = LearningContext(engine, paid(engine.hold({})), BUDGET, RISK, TOWN, SeededRng(9))
    with monkeypatch.context() as patched:
        patched.setattr(learning, "PrivateMarginals", tape.marginals(PrivateMarginals))
        patched.setattr(learning, "keep_groups", tape.groups(learning.keep_groups))
        found = learner(outline, context, lambda _: None)
    return found, engine.ran[before:]


def violations(monkeypatch, base, table, other, *, learner=learn):
    """Return every way in which two neighbours are treated differently."""
    first, second = Tape(), None
    one, asked = run(monkeypatch, base, table, first, learner=learner)
    second = Tape(first.noisy)
    try:
        two, asked_too = run(monkeypatch, base, other, second, learner=learner)
    except (IndexError, TypeError):  # the tape does not fit what was asked of it
        return ["another sequence of steps"]
    found = []
    if one.encoding != two.encoding:
        found.append("another encoding")
    if asked != asked_too:
        found.append("another statement")
    for x, y in zip(first.exact, second.exact, strict=True):
        if np.abs(x - y).sum() > 1:
            found.append("counts moved by more than one")
    return found


def neighbours(seed):
    dice = random.Random(seed)
    table = people(dice.randint(50, 400))
    row = dice.randrange(2, table.num_rows)  # the words stay: every one has many bearers
    kept = [i for i in range(table.num_rows) if i != row]
    return table, table.take(kept)


@pytest.mark.parametrize("count", [2, pytest.param(1000, marks=pytest.mark.slow)])
def test_neighbours_are_treated_alike(count, monkeypatch, tmp_path):
    for seed in range(count):
        table, other = neighbours(seed)
        assert violations(monkeypatch, tmp_path, table, other) == []


def codes(table):
    """Return the table with rare codes for jobs, and the one word that many people have."""
    job = [f"A{i % 3}{i % 10}.{i}" if i % 2 else "baker" for i in range(table.num_rows)]
    return table.set_column(table.column_names.index("job"), "job", pa.array(job))


@pytest.mark.parametrize("count", [1, pytest.param(300, marks=pytest.mark.slow)])
def test_neighbours_are_treated_alike_where_codes_have_stems(count, monkeypatch, tmp_path):
    for seed in range(count):
        table = codes(people(300 + seed))
        kept = [i for i in range(table.num_rows) if i != 2 * (seed + 1)]
        other = table.take(kept)
        learner = partial(learn, stems=True)
        assert violations(monkeypatch, tmp_path, table, other, learner=learner) == []


def peeking(outline, context, step):
    """A broken twin: it takes the range from the exact counts."""

    def by_truth(item, measured):
        ((rows,),) = context.engine.connection.sql('SELECT COUNT(*) FROM "town.people"').fetchall()
        values = measured.values.copy()
        values[:-1] += rows % 2 * 10**6
        return narrowed(item, Measured(measured.columns, values, measured.law))

    real = learning.narrowed
    learning.narrowed = by_truth
    try:
        return learn(outline, context, step)
    finally:
        learning.narrowed = real


def test_a_twin_that_peeks_is_caught(monkeypatch, tmp_path):
    table, other = neighbours(1)
    assert violations(monkeypatch, tmp_path, table, other, learner=peeking)
