"""Rows under conditions and rules: kept in every row, and never an endless loop."""

from fractions import Fraction

import numpy as np
import pytest

from copying import encoding
from discreet.errors import InvalidInput
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.measure.sealing import MemoryCounter
from discreet.testing import SeededRng
from discreet.work.synth.methods.registry import find_method
from discreet.work.synth.rules import Rules, holds, read_condition, read_rules
from discreet.work.synth.synthetic import ROUNDS, draw

DICE = np.random.default_rng(11)


def model_of(codes):
    shape = encoding().shape
    budget = MarginalBudget(
        Fraction(1000), concentrated=True
    )  # next to no noise: the rows are the point
    marginals = PrivateMarginals(
        MemoryCounter(codes, shape), shape, budget, CountSensitivity(), SeededRng(1)
    )
    return find_method("tree").fit(marginals)


def codes(rows=2000, **fixed):
    shape = encoding().shape
    found = np.stack([DICE.integers(0, size, rows) for size in shape.sizes], 1).astype(np.int32)
    for name, code in fixed.items():
        found[:, shape.names.index(name)] = code
    return found


@pytest.fixture(scope="module")
def model():
    return model_of(codes())


RULES = read_rules(["age >= 16 if member", "sex -> member", "income < 900"], encoding())


def test_every_row_keeps_every_rule(model):
    drawn = draw(model, encoding(), 3000, dice=DICE, rules=RULES)
    assert drawn.places.shape == (3000, encoding().shape.width)
    assert drawn.repeated == 0
    for rule in RULES.conditions:
        assert False not in holds(rule, drawn.places, encoding()).tolist()
    pairs = {(sex, member) for sex, member in drawn.places[:, [0, 5]].tolist()}
    assert len(pairs) == len({sex for sex, _ in pairs})
    free = draw(model, encoding(), 3000, dice=DICE).places  # the rules were not true by themselves
    assert any(False in holds(rule, free, encoding()).tolist() for rule in RULES.conditions)


def test_a_dependency_is_the_same_in_every_sample(model):
    tables = []
    for _ in range(2):
        places = draw(model, encoding(), 500, dice=DICE, rules=RULES).places
        tables.append({tuple(row) for row in places[:, [0, 5]].tolist()})
    assert tables[0] == tables[1]


def test_a_condition_holds_in_every_row(model):
    where = read_condition("sex = 'Female' AND income BETWEEN 101 AND 111", encoding())
    drawn = draw(model, encoding(), 400, dice=DICE, where=where)
    assert set(holds(where, drawn.places, encoding()).tolist()) == {True}
    assert drawn.repeated == 0


def test_a_condition_across_columns(model):
    where = read_condition("age * 10 < income AND age > 50", encoding())
    drawn = draw(model, encoding(), 400, dice=DICE, where=where)
    assert set(holds(where, drawn.places, encoding()).tolist()) == {True}


class Stubborn:
    """A model that draws one and the same row."""

    def __init__(self, row):
        self.row, self.asked = row, 0
        self.shape, self.total = encoding().shape, 10.0

    def sample(self, rows, *, dice, given=None):
        self.asked += 1
        return np.tile(np.array(self.row, dtype=np.int32), (rows, 1))


def test_what_the_model_never_draws_is_found_elsewhere_in_bounded_time():
    model = Stubborn([0, 5, 0, 0, 0, 0])
    rules = read_rules(["age >= 16"], encoding())
    drawn = draw(model, encoding(), 50, dice=DICE, rules=rules)
    assert model.asked == ROUNDS
    assert False not in holds(rules.conditions[0], drawn.places, encoding()).tolist()


def test_rare_rows_are_repeated_rather_than_missing(model):
    rules = read_rules(["income <> 0.01 * age AND income < 0.5"], encoding())
    # One row in 2,500 keeps it, of 36,000 at most: none or all 60 are found once in 400,000 runs.
    drawn = draw(model, encoding(), 60, dice=DICE, rules=rules)
    assert len(drawn.places) == 60
    assert drawn.repeated > 0
    assert False not in holds(rules.conditions[0], drawn.places, encoding()).tolist()


@pytest.mark.parametrize("where", ["sex = 'Neither'", "age > 200", "age < 5 AND age > 6"])
def test_what_no_row_can_satisfy_is_refused(model, where):
    with pytest.raises(InvalidInput, match="No row can satisfy"):
        draw(model, encoding(), 5, dice=DICE, where=read_condition(where, encoding()))


def test_rules_that_contradict_each_other_are_refused(model):
    with pytest.raises(InvalidInput, match="No row can satisfy all of: age > 50; age < 40"):
        draw(
            model,
            encoding(),
            5,
            dice=DICE,
            rules=read_rules(["age > 50", "age < 40", "age IS NOT NULL"], encoding()),
        )


def test_no_rows(model):
    assert len(draw(model, encoding(), 0, dice=DICE, rules=Rules()).places) == 0
