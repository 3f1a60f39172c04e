import math
from fractions import Fraction

import pytest

from discreet.privacy.account.composition import optimal_delta, optimal_epsilon


def exact_delta(epsilon, count, target):
    truth = 1 / (1 + math.exp(-epsilon))
    return math.fsum(
        math.comb(count, against)
        * truth ** (count - against)
        * (1 - truth) ** against
        * max(0.0, -math.expm1(target - (count - 2 * against) * epsilon))
        for against in range(count + 1)
    )


@pytest.mark.parametrize(("epsilon", "count", "target"), [(0.1, 100, 4), (0.5, 9, 0), (1.0, 4, 2)])
def test_optimal_delta_is_that_of_randomized_response(epsilon, count, target):
    found = float(optimal_delta(Fraction(str(epsilon)), count, Fraction(target)))
    truth = exact_delta(epsilon, count, target)
    assert truth * (1 - 1e-12) <= found <= truth * (1 + 1e-9)


def test_steps_that_fail_add_their_failures():
    clean = optimal_delta(Fraction(1, 10), 10, Fraction(1, 2))
    failing = optimal_delta(Fraction(1, 10), 10, Fraction(1, 2), delta=Fraction(1, 1000))
    assert clean + Fraction(8, 1000) < failing < clean + Fraction(10, 1000)


def test_the_best_theorem_lies_below_the_classic_one_and_the_sum():
    one, delta = Fraction(1, 10), Fraction(1, 10**6)
    # sqrt(2 k ln(1/delta)) eps + k eps (e^eps - 1) [Dwork, Rothblum & Vadhan 2010]
    classic = math.sqrt(200 * math.log(1e6)) * 0.1 + 10 * math.expm1(0.1)
    best = optimal_epsilon(one, 100, delta)
    assert best < classic < 100 * one
    assert float(best) == pytest.approx(4.7746, abs=1e-4)


def test_nothing_is_left_at_the_plain_sum():
    assert optimal_delta(Fraction(1, 10), 5, Fraction(1, 2)) < Fraction(1, 10**30)
