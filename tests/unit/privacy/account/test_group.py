import math
from fractions import Fraction

import pytest

from discreet.errors import InvalidInput
from discreet.privacy.account.composition import group_delta, group_epsilon


def test_groups_pay_in_epsilon_and_delta():
    assert group_epsilon(Fraction(1, 10), 7) == Fraction(7, 10)
    found = group_delta(Fraction(1, 2), Fraction(1, 10**6), 4)
    hybrid = sum(math.exp(0.5 * i) for i in range(4)) * 1e-6
    assert float(found) == pytest.approx(hybrid)
    assert group_delta(Fraction(0), Fraction(1, 100), 3) == Fraction(3, 100)
    assert group_delta(Fraction(1), Fraction(0), 3) == 0
    assert group_delta(Fraction(5), Fraction(1, 10), 10) == 1


def test_a_group_of_one_is_a_person_and_none_is_free():
    assert group_epsilon(Fraction(1, 3), 1) == Fraction(1, 3)
    assert float(group_delta(Fraction(1), Fraction(1, 10**6), 1)) == pytest.approx(1e-6)
    assert group_epsilon(Fraction(1), 0) == 0
    with pytest.raises(InvalidInput):
        group_epsilon(Fraction(1), -1)


@pytest.mark.parametrize("size", [2, 5])
def test_group_of_a_response_is_reached(size):
    """Randomized response shifted `size` times: the pure bound is exact for Laplace noise."""
    scale = 3.0
    p0 = math.exp(-abs(0) / scale)
    p1 = math.exp(-abs(size) / scale)
    assert math.log(p0 / p1) == pytest.approx(float(group_epsilon(Fraction(1, 3), size)))
