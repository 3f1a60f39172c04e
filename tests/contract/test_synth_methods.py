"""What every method of synthesis promises; adding a method to METHODS adds it here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.base.event import Composed
from discreet.base.numbers import Delta, Epsilon
from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget, Measured
from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Shape
from discreet.privacy.account.price import price
from discreet.privacy.account.tally import tally
from discreet.testing import ALPHA
from discreet.work.synth.methods.registry import ALIASES, METHODS, find_method
from discreet.work.synth.model_file import read_model
from synth_kit import (
    BUDGETS,
    CONCENTRATED,
    EVERY_METHOD,
    OPTIONS,
    marginals_of,
    random_codes,
    shape_of,
)

GRID = Fraction(1, 10**24)  # computed costs are rounded up to this
SHAPE = shape_of(3, 4, 2, 5)


@pytest.fixture(params=EVERY_METHOD)
def name(request):
    return request.param


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.slow, pytest.mark.jax]) if method.needs else name
        for name, method in METHODS.items()
    ]
)
def light(request):
    """Every method, those that compile for each new shape with the full counts only."""
    return request.param


@pytest.fixture(params=BUDGETS)
def budget(request):
    return BUDGETS[request.param]


def table(rows=400, shape=SHAPE, seed=3):
    return random_codes(np.random.default_rng(seed), shape, rows)


def fitted(name, codes, shape, **marginals):
    opened = marginals_of(codes, shape, **marginals)
    return METHODS[name].fit(opened, **OPTIONS.get(name, {})), opened


@dataclass(frozen=True)
class Run:
    """One fit, everything that it asked for and all that it told meanwhile."""

    model: Any
    marginals: Any
    seen: list[Measured]
    steps: list[tuple]


@cache
def run(name, budget):
    """Return a fit that is only looked at."""
    opened, seen, steps = marginals_of(table(), SHAPE, budget=budget), [], []
    real = opened.measure

    def watched(wanted, **rest):
        found = real(wanted, **rest)
        seen.extend(found)
        return found

    opened.measure = watched
    told = OPTIONS.get(name, {})
    model = METHODS[name].fit(opened, progress=lambda *said: steps.append(said), **told)
    return Run(model, opened, seen, steps)


def usual(name):
    """Return a model that is only looked at."""
    return run(name, CONCENTRATED).model


def spent(marginals) -> Fraction:
    """Return what the events that passed add up to, in the door's currency."""
    found = tally(Composed(tuple(marginals.events)))
    return found.rho if marginals.budget.concentrated else found.epsilon


def test_it_never_spends_more_than_was_charged(light, budget):
    units = (CountSensitivity(3), CountSensitivity(2, neighbours=Neighbours.REPLACE_ONE))
    others = [fitted(light, table(), SHAPE, budget=budget, unit=unit)[1] for unit in units]
    for marginals in (run(light, budget).marginals, *others):
        if METHODS[light].uses_data:
            assert 0 < spent(marginals) <= budget.amount + len(marginals.events) * GRID
            assert 0 <= marginals.left < 1
        else:
            assert marginals.events == []
            assert marginals.left == 1


def test_its_events_are_priced_no_higher_than_the_purse(name, budget):
    """The charge before the run covers what happened, in the ledger's own words."""
    marginals = run(name, budget).marginals
    if not METHODS[name].uses_data:
        return
    words = {"epsilon": Epsilon.of("1e-9"), "delta": Delta.of("1e-9")}
    charged = price(budget.event, **words).cost
    happened = price(Composed(tuple(marginals.events)), **words).cost
    slack = len(marginals.events) * GRID
    if budget.concentrated:
        assert happened.rho <= charged.rho + slack
    else:
        assert happened.epsilon <= charged.epsilon + slack
        assert happened.delta == 0


def test_the_same_words_and_dice_give_the_same_rows(name, budget):
    models = [run(name, budget).model, fitted(name, table(), SHAPE, budget=budget)[0]]
    rows = [model.sample(100, dice=np.random.default_rng(1)) for model in models]
    assert models[0].to_json() == models[1].to_json()
    assert (rows[0] == rows[1]).all()
    if METHODS[name].uses_data:
        other = fitted(name, table(), SHAPE, budget=budget, seed=6)[0]
        assert other.to_json() != models[0].to_json()


def test_rows_lie_inside_the_shape_and_are_as_many_as_asked(name):
    model = usual(name)
    for rows in (0, 1, 7, 1000):
        codes = model.sample(rows, dice=np.random.default_rng(2))
        assert codes.shape == (rows, SHAPE.width)
        assert codes.dtype == np.int32
        assert (codes >= 0).all()
        assert (codes < np.array(SHAPE.sizes)).all()


def test_marginals_add_up_and_agree_with_each_other(name):
    model = usual(name)
    assert model.shape == SHAPE
    for ways in (1, 2, 3):
        for columns in combinations(range(SHAPE.width), ways):
            found = model.marginal(columns)
            assert found.shape == SHAPE.of(columns)
            assert (found >= -1e-9 * model.total).all()
            assert found.sum() == pytest.approx(model.total, rel=1e-6)
            assert np.allclose(
                found.sum(axis=-1), _one(model, columns[:-1]), atol=1e-4 * model.total
            )


def _one(model, columns):
    return model.marginal(columns) if columns else model.total


def test_marginals_agree_with_a_large_sample(name):
    """Hoeffding's bound for each cell: all of them fail together with a chance below ALPHA."""
    model = usual(name)
    rows = 200_000
    counter = MemoryCounter(model.sample(rows, dice=np.random.default_rng(4)), SHAPE)
    wanted = [(0, 1), (1, 3), (0, 2, 3), (1, 2, 3)]
    cells = sum(SHAPE.cells(columns) for columns in wanted)
    apart = np.sqrt(np.log(2 * cells / ALPHA) / (2 * rows))
    wrong = 0.0
    for columns, found in zip(wanted, counter.marginals(wanted), strict=True):
        expected = model.marginal(columns) / model.total
        assert np.abs(found / rows - expected).max() < apart
        wrong = max(wrong, np.abs(found / rows - np.roll(expected, 1)).max())
    if METHODS[name].uses_data:
        assert wrong > apart, "this test could not have caught a model of another column"


def test_conditional_rows_satisfy_the_condition_and_follow_the_model(name):
    model = usual(name)
    given = {0: np.array([True, False, True]), 3: np.array([False, True, True, False, True])}
    rows = 100_000
    codes = model.sample(rows, dice=np.random.default_rng(5), given=given)
    assert codes.shape == (rows, SHAPE.width)
    for column, allowed in given.items():
        assert allowed[codes[:, column]].all()
    joint = model.marginal((0, 1, 3)) * given[0][:, None, None] * given[3]
    expected = joint.sum(axis=(0, 2)) / joint.sum()
    found = np.bincount(codes[:, 1], minlength=4) / rows
    assert np.abs(found - expected).max() < np.sqrt(np.log(8 / ALPHA) / (2 * rows))


def test_a_model_survives_its_json(name):
    model = usual(name)
    again = read_model(json.loads(json.dumps(model.to_json(), allow_nan=False)))
    assert again.shape == model.shape
    assert again.to_json() == model.to_json()
    ours, theirs = (m.sample(50, dice=np.random.default_rng(9)) for m in (model, again))
    assert (ours == theirs).all()


@pytest.mark.parametrize(
    ("sizes", "rows"),
    [((1,), 30), ((5,), 30), ((1, 1, 1), 30), ((1, 4, 1), 30), ((3, 2), 0), ((2, 2), 1)],
    ids=str,
)
def test_odd_tables_are_taken_as_they_are(light, budget, sizes, rows):
    shape = shape_of(*sizes)
    model, marginals = fitted(light, table(rows, shape), shape, budget=budget)
    codes = model.sample(20, dice=np.random.default_rng(1))
    assert codes.shape == (20, len(sizes))
    assert (codes < np.array(sizes)).all()
    assert np.isfinite(model.total)
    assert model.total >= 0
    assert marginals.left >= 0


def test_all_rows_alike_come_out_alike(name):
    """With a generous budget: all mass in one cell."""
    codes = np.tile(np.array([[2, 0, 1, 4]], dtype=np.int32), (5000, 1))
    model, _ = fitted(name, codes, SHAPE, budget=MarginalBudget(Fraction(10), concentrated=True))
    if METHODS[name].uses_data:
        drawn = model.sample(1000, dice=np.random.default_rng(1))
        assert (drawn == codes[0]).mean() > 0.97


def test_a_drowned_table_still_gives_rows(light, budget):
    """Noise far above the counts: noisy totals are negative as often as not."""
    tiny = MarginalBudget(budget.amount / 10**8, budget.concentrated)
    for seed in range(3):
        model, marginals = fitted(light, table(20), SHAPE, budget=tiny, seed=seed)
        assert model.sample(50, dice=np.random.default_rng(1)).shape == (50, 4)
        assert np.isfinite(model.total)
        assert model.total >= 0
        assert marginals.left >= 0


def test_it_only_asks_for_columns_that_are_there(name):
    """Every noisy table that passed has the shape of its columns, merged or not."""
    seen = run(name, CONCENTRATED).seen
    for each in seen:
        assert list(each.columns) == sorted(set(each.columns))
        sides = zip(each.values.shape, SHAPE.of(each.columns), strict=True)
        assert all(1 <= side <= size for side, size in sides)
    assert bool(seen) == METHODS[name].uses_data


def test_progress_is_public_and_ends(name):
    steps = run(name, CONCENTRATED).steps
    assert steps
    assert all(0 <= done <= of and what for done, of, what in steps)
    assert steps[-1][0] == steps[-1][1]


def test_names_and_aliases():
    for alias, name in ALIASES.items():
        assert alias not in METHODS
        if name in METHODS:
            assert find_method(alias) is METHODS[name]
    with pytest.raises(InvalidInput, match="no method 'magic'"):
        find_method("magic")


@pytest.mark.parametrize(
    "data", [{}, {"kind": "pickle"}, {"kind": ["network"]}, [], None, 3], ids=repr
)
def test_a_model_of_no_known_kind_is_refused(data):
    with pytest.raises(InvalidInput):
        read_model(data)


def test_a_wider_shape_than_the_rows_is_not_a_way_in():
    """A shape that does not fit the counter fails before anything noisy is shown."""
    with pytest.raises(IndexError):
        fitted("tree", table(), Shape(("a", "b", "c", "d", "e"), (3, 4, 2, 5, 9)))
