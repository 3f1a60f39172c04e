from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.base.event import Concentrated, Gaussian, Laplace, Pure, Select
from discreet.base.unit import Neighbours
from discreet.errors import InternalError
from discreet.measure.private_marginals import CountSensitivity
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from synth_kit import CONCENTRATED, PURE, marginals_of, random_codes, shape_of

SHAPE = shape_of(3, 4)
CODES = random_codes(np.random.default_rng(1), SHAPE, 50)
HALF = Fraction(1, 2)


def flat(counter):
    return np.zeros(3, dtype=np.int64)


def test_shares_never_add_up_to_more_than_was_charged():
    marginals = marginals_of(CODES, SHAPE)
    marginals.measure([(0,), (1,)], share=HALF)
    marginals.choose(flat, sensitivity=1, share=Fraction(1, 4))
    assert marginals.left == Fraction(1, 4)
    for ask in (
        lambda: marginals.measure([(0,)], share=Fraction(1, 3)),
        lambda: marginals.choose(flat, sensitivity=1, share=Fraction(1, 3)),
        lambda: marginals.measure([(0,)], share=Fraction(0)),
        lambda: marginals.choose(flat, sensitivity=1, share=-HALF),
    ):
        with pytest.raises(InternalError, match="more than was charged"):
            ask()
    assert marginals.left == Fraction(1, 4)
    assert len(marginals.events) == 3, "a refused request leaves no trace"
    marginals.measure([(0, 1)], share=Fraction(1, 4))
    assert marginals.left == 0


def test_a_refused_request_reads_nothing():
    marginals = marginals_of(CODES, SHAPE)

    def never(counter):
        raise AssertionError("the rows were read before the share was taken")

    with pytest.raises(InternalError):
        marginals.choose(never, sensitivity=1, share=Fraction(2))


@pytest.mark.parametrize(
    ("unit", "l1", "l2_squared"),
    [
        (CountSensitivity(), 1, 1),
        (CountSensitivity(3), 3, 9),
        (CountSensitivity(1, neighbours=Neighbours.REPLACE_ONE), 2, 2),
        (CountSensitivity(3, Neighbours.REPLACE_ONE), 6, 18),
    ],
)
def test_the_noise_follows_the_unit(unit, l1, l2_squared):
    assert CountSensitivity.from_json(unit.to_json()) == unit
    marginals = marginals_of(CODES, SHAPE, budget=CONCENTRATED, unit=unit)
    (found,) = marginals.measure([(0,)], share=HALF)
    sigma_squared = Fraction(l2_squared) / (2 * HALF * CONCENTRATED.amount)
    assert found.law == GaussianLaw(sigma_squared)
    assert marginals.events == [Gaussian(sigma_squared, Fraction(l2_squared))]
    marginals = marginals_of(CODES, SHAPE, budget=PURE, unit=unit)
    (found,) = marginals.measure([(0,)], share=HALF)
    scale = Fraction(l1) / (HALF * PURE.amount)
    assert found.law == LaplaceLaw(scale)
    assert marginals.events == [Laplace(scale, Fraction(l1))]
    assert found.variance == pytest.approx(2 * float(scale) ** 2, rel=0.6)


def test_several_marginals_share_one_share():
    marginals = marginals_of(CODES, SHAPE, budget=PURE)
    found = marginals.measure([(0,), (1,), (0, 1)], share=HALF)
    assert {each.law for each in found} == {LaplaceLaw(Fraction(3))}
    assert marginals.measure([], share=HALF) == []
    assert marginals.left == HALF


def test_the_door_remembers_what_it_let_out():
    marginals = marginals_of(CODES, SHAPE)
    first = marginals.measure([(0,), (0, 1)], share=Fraction(1, 2))
    second = marginals.measure([(1,)], share=Fraction(1, 4))
    assert marginals.measured == [*first, *second]


def test_a_choice_costs_its_share():
    for budget, epsilon in ((PURE, Fraction(1)), (CONCENTRATED, None)):
        marginals = marginals_of(CODES, SHAPE, budget=budget)
        assert 0 <= marginals.choose(flat, sensitivity=1, share=HALF) < 3
        (event,) = marginals.events
        assert isinstance(event, Select)
        if epsilon is None:  # epsilon^2 / 8 is the share, rounded down
            assert 0 <= HALF * budget.amount - event.epsilon**2 / 8 < Fraction(1, 10**30)
        else:
            assert event.epsilon == epsilon


def test_scores_must_be_whole_numbers():
    with pytest.raises(InternalError, match="whole numbers"):
        marginals_of(CODES, SHAPE).choose(lambda _: np.zeros(2), sensitivity=1, share=HALF)


def test_merged_codes_are_counted_together():
    marginals = marginals_of(CODES, SHAPE)
    merged = {1: np.array([0, 1, 1, 1])}
    (found,) = marginals.measure([(0, 1)], share=HALF, merged=merged)
    assert found.values.shape == (3, 2)
    assert found.columns == (0, 1)


def test_the_purse_says_what_is_charged():
    assert CONCENTRATED.event == Concentrated(HALF)
    assert PURE.event == Pure(Fraction(2))
