"""After the charge nothing fails and nothing is wrong quietly: a simpler model steps in, and says so."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InternalError, InvalidInput
from discreet.measure.private_marginals import CountSensitivity, PrivateMarginals, agreement
from discreet.measure.sealing import MemoryCounter
from discreet.testing import SeededRng
from discreet.work.synth.methods import adaptive, automatic, tree
from discreet.work.synth.models.conditional_chain import Network, Node
from discreet.work.synth.selection import fit_trusted
from synth_kit import BUDGETS, random_codes, shape_of

SHAPE = shape_of(3, 4, 2, 5)
CODES = random_codes(np.random.default_rng(3), SHAPE, 2_000)
BUDGET = next(iter(BUDGETS.values()))


def marginals(seed=1):
    return PrivateMarginals(
        MemoryCounter(CODES, SHAPE), SHAPE, BUDGET, CountSensitivity(), SeededRng(seed)
    )


def uniform(total=2_000.0):
    nodes = tuple(Node(i, (), np.full(size, 1 / size)) for i, size in enumerate(SHAPE.sizes))
    return Network(SHAPE, total, nodes)


def test_a_good_model_is_handed_over_as_it_is():
    opened = marginals()
    found = fit_trusted(opened, "tree", lambda: tree.fit(opened))
    assert found.words == ()
    assert found.agreement.holds
    assert found.measured == tuple(opened.measured)


@pytest.mark.parametrize(
    "error", [OverflowError, FloatingPointError, MemoryError, InternalError, InvalidInput], ids=str
)
@pytest.mark.parametrize("measured", [True, False], ids=["measured", "nothing measured"])
def test_a_fit_that_breaks_gives_way_to_single_columns(error, measured):
    opened = marginals()

    def broken():
        if measured:
            tree.fit(opened)
        raise error("numbers too large")

    found = fit_trusted(opened, "tree", broken)
    assert "could not be fitted" in found.words[0]
    assert found.agreement.holds
    assert [each.columns for each in found.measured] == [(0,), (1,), (2,), (3,)]
    assert found.model.total == pytest.approx(2_000, rel=0.5)
    assert 0 <= opened.left < 1


def test_a_model_far_from_its_own_measurements_is_not_handed_over():
    opened = marginals()

    def wrong():
        tree.fit(opened)
        return uniform(total=20_000)

    found = fit_trusted(opened, "tree", wrong)
    assert "farther from its noisy tables" in found.words[0]
    assert not agreement(opened.measured, uniform(total=20_000)).holds
    assert found.agreement.holds


def test_an_engine_that_fails_is_not_hidden():
    class EngineGoneError(Exception):
        pass

    def gone():
        raise EngineGoneError

    with pytest.raises(EngineGoneError):
        fit_trusted(marginals(), "tree", gone)


def test_potentials_a_thousand_apart_neither_overflow_nor_lie():
    """Rules without exception at next to no noise: this overflowed before messages were logarithms."""
    dice = np.random.default_rng(5)
    first = dice.integers(0, 40, 20_000)
    codes = np.stack([first, first // 4, first % 3, first // 20], axis=1).astype(np.int32)
    shape = shape_of(40, 10, 3, 2)
    budget = type(BUDGET)(BUDGET.amount * 400, BUDGET.concentrated)
    opened = PrivateMarginals(
        MemoryCounter(codes, shape), shape, budget, CountSensitivity(), SeededRng(2)
    )
    with np.errstate(all="raise", under="ignore"):
        found = fit_trusted(opened, "adaptive", lambda: adaptive.fit(opened))
    assert found.words == ()
    assert found.agreement.holds
    joint = found.model.marginal((0, 1))
    assert joint[np.arange(40), np.arange(40) // 4].sum() > 0.98 * joint.sum()


def test_auto_takes_single_columns_where_rows_are_few_and_adaptive_elsewhere():
    few = marginals()
    few.budget = type(BUDGET)(BUDGET.amount / 10**6, BUDGET.concentrated)
    assert automatic.pick(few).name == "independent"
    many = marginals()
    many.budget = type(BUDGET)(BUDGET.amount * 100, BUDGET.concentrated)
    picked = automatic.pick(many)
    assert picked.name == "adaptive"
    assert many.left == 1 - automatic.COUNT
    assert "auto took 'adaptive'" in picked.words
    automatic.fit_picked(picked)
    assert many.left >= 0


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_auto_picks_at_a_price_without_any_noise(budget):
    """It divided by the spread of the noise, which at an epsilon of 1000 is none, after the charge."""
    rich = marginals()
    rich.budget = type(budget)(budget.amount * 10**4, budget.concentrated)
    assert automatic.pick(rich).name == "adaptive"
