from __future__ import annotations

import sys
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import pytest

from discreet.base.event import Gaussian, Laplace, Select
from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput, MissingExtra
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.measure.sealing import MemoryCounter
from discreet.work.synth.methods import rap
from synth_kit import CONCENTRATED, PURE, marginals_of, random_codes, shape_of

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(find_spec("jax") is None, reason="needs the extra rap"),
]

SHAPE = shape_of(4, 6, 3)
SMALL = {"rounds": 3, "queries": 4, "relaxed_rows": 50, "steps": 60}
RICH = MarginalBudget(Fraction(2), concentrated=True)


def codes_of(rows=3000):
    return random_codes(np.random.default_rng(7), SHAPE, rows)


def worst(model, codes):
    exact = MemoryCounter(codes, SHAPE).marginals([(0, 1, 2)])[0] / len(codes)
    return np.abs(model.marginal((0, 1, 2)) / model.total - exact).max()


def test_chosen_cells_come_right_and_more_rounds_help():
    codes = codes_of()
    few = rap.fit(marginals_of(codes, SHAPE, budget=RICH), **SMALL)
    many = rap.fit(marginals_of(codes, SHAPE, budget=RICH), **(SMALL | {"rounds": 8, "steps": 100}))
    exact = MemoryCounter(codes, SHAPE).marginals([(0, 1, 2)])[0] / len(codes)
    assert worst(many, codes) < worst(few, codes) < np.abs(exact - 1 / 72).max()
    assert worst(many, codes) < 0.02


def test_one_round_measures_every_marginal_and_chooses_nothing():
    marginals = marginals_of(codes_of(), SHAPE, budget=RICH)
    wanted = [list(pair) for pair in combinations(range(3), 2)]
    model = rap.fit(marginals, workload=wanted, **(SMALL | {"rounds": 1, "steps": 400}))
    assert [type(event) for event in marginals.events] == [Gaussian] * 4
    rest = marginals.law(Fraction(99, 100) / 3).sigma_squared
    assert [event.sigma_squared for event in marginals.events[1:]] == [rest] * 3
    assert marginals.left == 0
    exact = MemoryCounter(codes_of(), SHAPE).marginals([(0, 1)])[0] / 3000
    assert np.abs(model.marginal((0, 1)) / model.total - exact).max() < 0.02


@pytest.mark.parametrize("budget", [CONCENTRATED, PURE])
def test_every_cell_gets_the_same_part_to_be_chosen_and_to_be_counted(budget):
    marginals = marginals_of(codes_of(), SHAPE, budget=budget)
    rap.fit(marginals, **SMALL)
    assert marginals.left == 0
    part = Fraction(99, 100) * budget.amount / (2 * 3 * 4)
    chosen = [event.epsilon for event in marginals.events if isinstance(event, Select)]
    counted = [event for event in marginals.events[1:] if isinstance(event, Gaussian | Laplace)]
    assert len(chosen) == len(counted) == 12
    if budget.concentrated:
        assert all(0 <= part - epsilon**2 / 8 < Fraction(1, 10**9) for epsilon in chosen)
        assert all(event.l2_squared / (2 * event.sigma_squared) == part for event in counted)
    else:
        assert all(epsilon == part for epsilon in chosen)
        assert all(event.l1 / event.scale == part for event in counted)


def test_cells_run_out_on_a_tiny_table():
    shape = shape_of(1, 2)
    marginals = marginals_of(
        np.zeros((9, 2), dtype=np.int32),
        shape,
        unit=CountSensitivity(2, neighbours=Neighbours.REPLACE_ONE),
    )
    rap.fit(marginals, **SMALL)
    assert sum(isinstance(event, Select) for event in marginals.events) == 2


def test_marginals_of_different_widths_go_together():
    codes = codes_of()
    marginals = marginals_of(codes, SHAPE, budget=RICH)
    # As many rounds as above: JAX compiles for each other number of cells.
    model = rap.fit(marginals, workload=[[0], [1, 2], [0, 1, 2]], **(SMALL | {"rounds": 8}))
    exact = MemoryCounter(codes, SHAPE).marginals([(1, 2)])[0] / len(codes)
    assert np.abs(model.marginal((1, 2)) / model.total - exact).max() < 0.1


@pytest.mark.parametrize("option", SMALL)
def test_numbers_below_one_are_refused(option):
    with pytest.raises(InvalidInput, match="at least 1"):
        rap.fit(marginals_of(codes_of(), SHAPE), **(SMALL | {option: 0}))


def test_without_jax_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "discreet.work.synth.methods.rap_descent", raising=False)
    monkeypatch.setitem(sys.modules, "jax", None)
    marginals = marginals_of(codes_of(), SHAPE)
    with pytest.raises(MissingExtra, match=r"discreet\[rap\]"):
        rap.fit(marginals, **SMALL)
    assert marginals.left == 1, "nothing was read or spent"


def test_importing_the_method_does_not_import_jax():
    import subprocess

    code = "import sys, discreet.work.synth.methods.registry; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
