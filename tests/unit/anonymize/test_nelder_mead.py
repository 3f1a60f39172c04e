import math

import pytest

from discreet.anonymize.risk import minimize


def test_the_least_of_a_bowl_is_found():
    found = minimize(lambda p: (p[0] - 3) ** 2 + 10 * (p[1] + 2) ** 2, (0.0, 0.0))
    assert found == pytest.approx((3, -2), abs=1e-4)


def test_a_curved_valley_is_followed():
    found = minimize(lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2, (-1.0, 1.0))
    assert found == pytest.approx((1, 1), abs=1e-3)


def test_where_the_function_breaks_it_is_high():
    found = minimize(lambda p: math.log(p[0]) ** 2 + p[1] ** 2, (0.2, 0.5))
    assert found == pytest.approx((1, 0), abs=1e-3)
