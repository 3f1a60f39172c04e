"""Filters against the best adaptive attacker, whose privacy loss is computed exactly."""

import math
from fractions import Fraction
from functools import cache

import pytest

from discreet.base.event import FREE, Cost
from discreet.errors import InvalidInput
from discreet.privacy.account.composition import Limits
from discreet.privacy.account.convert import rho_of_pure

ZERO = Fraction(0)
UNIT = Fraction(1, 5)
STEPS = (1, 5)  # the attacker may spend 0.2 or 1.0 at a time


def best_attack(allowed, epsilon):
    """Return the greatest delta at `epsilon` that any adaptive strategy reaches.

    Each step's epsilon is chosen after seeing all earlier answers and answered by worst-case randomized
    response; stopping is always possible. Exact, by enumerating the tree; nodes with equal spending and
    equal loss are one.
    """
    unit = float(UNIT)
    truths = [1 / (1 + math.exp(-size * unit)) for size in STEPS]

    @cache
    def permitted(counts):
        return allowed(counts)

    @cache
    def value(counts, loss):
        best = max(0.0, -math.expm1(epsilon - loss * unit))
        for which, size in enumerate(STEPS):
            following = tuple(n + (i == which) for i, n in enumerate(counts))
            if permitted(following):
                up, down = value(following, loss + size), value(following, loss - size)
                best = max(best, truths[which] * up + (1 - truths[which]) * down)
        return best

    return value((0, 0), 0)


def fixed_delta(counts, epsilon):
    """Return the exact delta of this many randomized responses, fixed beforehand (their PLD)."""
    law = {0: 1.0}
    for size, count in zip(STEPS, counts, strict=True):
        truth = 1 / (1 + math.exp(-size * float(UNIT)))
        for _ in range(count):
            following = {}
            for loss, mass in law.items():
                following[loss + size] = following.get(loss + size, 0.0) + truth * mass
                following[loss - size] = following.get(loss - size, 0.0) + (1 - truth) * mass
            law = following
    return sum(
        mass * max(0.0, -math.expm1(epsilon - loss * float(UNIT))) for loss, mass in law.items()
    )


def total(counts, price):
    return sum((n * price(size * UNIT) for n, size in zip(counts, STEPS, strict=True)), ZERO)


def bill(counts):
    return Cost(total(counts, lambda e: e), ZERO, total(counts, rho_of_pure), ZERO)


BUDGETS = [("1.5", "0.02"), ("1.6", "0.2"), ("3", "0.05")]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_two_filters_withstand_the_best_adaptive_attacker(epsilon, delta):
    limits = Limits.of(epsilon, delta)
    reached = best_attack(lambda counts: limits.allows(bill(counts)), float(epsilon))
    assert reached <= float(delta)


def test_filter_b_really_widens_what_may_be_asked():
    # Otherwise the test above would only have tested sums of epsilon.
    limits = Limits.of("1.6", "0.2")
    many = bill((10, 0))
    assert not limits.within_epsilon(many)
    assert limits.within_rho(many)
    assert best_attack(lambda counts: limits.allows(bill(counts)), 1.6) > 1e-4


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS[:1] + BUDGETS[2:])
def test_running_pld_total_is_caught(epsilon, delta):
    """The broken twin: stop when the PLD of what was asked so far is used up."""
    reached = best_attack(
        lambda counts: fixed_delta(counts, float(epsilon)) <= float(delta), float(epsilon)
    )
    assert reached > 1.05 * float(delta)


def test_limits_set_too_wide_are_caught():
    """A second broken twin: filter B with four times the rho."""
    limits = Limits.of("1.6", "0.2")
    wide = Limits(limits.epsilon, limits.delta, 4 * limits.rho, limits.rho_delta)
    assert best_attack(lambda counts: wide.allows(bill(counts)), 1.6) > 0.2


def test_limits_without_delta_have_one_filter():
    limits = Limits.of(1)
    assert limits.allows(Cost(Fraction(1), ZERO, Fraction(9), ZERO))
    assert not limits.allows(Cost(Fraction(1) + Fraction(1, 10**20), ZERO, ZERO, ZERO))
    assert not limits.allows(Cost(Fraction(1), Fraction(1, 10**20), ZERO, ZERO))
    assert not limits.allows(Cost(None, ZERO, ZERO, ZERO))


def test_halves_and_quarters_of_delta():
    limits = Limits.of("1", "1e-6")
    half, quarter = Fraction(1, 2 * 10**6), Fraction(1, 4 * 10**6)
    assert limits.allows(Cost(Fraction(1), half, None, ZERO))
    assert not limits.allows(Cost(Fraction(1), half * Fraction(101, 100), None, ZERO))
    assert limits.allows(Cost(None, ZERO, limits.rho, quarter))
    assert not limits.allows(Cost(None, ZERO, limits.rho, quarter * Fraction(101, 100)))
    assert not limits.allows(Cost(None, ZERO, limits.rho + Fraction(1, 10**20), quarter))


def test_spent_shows_the_smaller_reading_that_holds():
    limits = Limits.of("1", "1e-6")
    assert limits.spent(FREE) == (0, 0)
    pure = Cost(Fraction(1, 2), ZERO, rho_of_pure(Fraction(1, 2)), ZERO)
    assert limits.spent(pure) == (Fraction(1, 2), 0)
    gaussian = Cost(None, ZERO, limits.rho, ZERO)
    assert limits.spent(gaussian) == (1, Fraction(1, 4 * 10**6))
    many = Cost(Fraction(5), ZERO, limits.rho / 2, ZERO)
    epsilon, delta = limits.spent(many)
    assert Fraction(1, 2) < epsilon < 1
    assert delta == Fraction(1, 4 * 10**6)
    too_much = Cost(Fraction(5), ZERO, Fraction(9), ZERO)
    assert limits.spent(too_much)[0] == 5
    with pytest.raises(InvalidInput, match="neither"):
        limits.spent(Cost(None, ZERO, None, ZERO))
