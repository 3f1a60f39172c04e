"""Error bars: exact for linear outputs, Fieller's for ratios."""

import math
from fractions import Fraction

from discreet.noise.laws import LaplaceLaw
from discreet.plan import expr as e
from discreet.plan.expr import Operator
from discreet.release.bars import bar_of, interval

LAWS = {"m0": LaplaceLaw(Fraction(1)), "m1": LaplaceLaw(Fraction(10))}
M0, M1 = e.ColumnRef("m0"), e.ColumnRef("m1")
QUOTIENT = e.Arithmetic(Operator.DIVIDE, M1, M0)


def test_a_count_at_epsilon_one_is_within_three():
    assert bar_of(M0, LAWS).half_width == 3


def test_a_multiple_scales_the_bar():
    assert bar_of(e.Arithmetic(Operator.MULTIPLY, M0, e.Literal(-4)), LAWS).half_width == 12


def test_a_difference_has_less_than_the_sum_of_both_bars():
    both = bar_of(e.Arithmetic(Operator.SUBTRACT, M0, M1), LAWS).half_width
    assert bar_of(M1, LAWS).half_width <= both < 3 + bar_of(M1, LAWS).half_width


def test_keys_have_no_bar():
    found = bar_of(e.ColumnRef("key0"), LAWS)
    assert not found.noisy
    assert interval(found, "x", {"key0": "x"}, LAWS) is None


def test_a_ratio_lies_between_its_ends():
    low, high = interval(bar_of(QUOTIENT, LAWS), 5, {"m0": 1000, "m1": 5000}, LAWS)
    assert low < 5 < high
    assert high - low < 0.2


def test_a_ratio_over_next_to_nothing_is_unbounded():
    ends = interval(bar_of(QUOTIENT, LAWS), 2.5, {"m0": 2, "m1": 5}, LAWS)
    assert ends == (-math.inf, math.inf)


def test_other_outputs_get_joint_bounds():
    squared = e.Arithmetic(Operator.MULTIPLY, M0, M0)
    low, high = interval(bar_of(squared, LAWS), 100, {"m0": 10}, LAWS)
    assert low < 100 < high
