"""The least epsilon whose noise is small enough."""

import math
from fractions import Fraction

import pytest

from asking import plan, question
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import InvalidInput, QueryRefused
from discreet.release.request import Wanted
from discreet.release.within import expected_errors, least_epsilon

NONE = Delta(Fraction(0))


def least(sql, error):
    return least_epsilon(question(sql), Wanted.of(error), NONE)


@pytest.mark.parametrize("error", ["3", "20", "1000", "0.5"])
def test_it_is_enough_and_a_little_less_is_not(error):
    found = least("SELECT COUNT(*) FROM people", error)
    one = expected_errors(plan("SELECT COUNT(*) AS n FROM people", epsilon=str(found)))["n"]
    last_digit = Fraction(10) ** (math.floor(math.log10(float(found))) - 2)
    below = Epsilon(found.value - last_digit)
    other = expected_errors(plan("SELECT COUNT(*) AS n FROM people", epsilon=str(below)))["n"]
    assert one <= float(error) < other


def test_all_outputs_must_be_good_enough():
    alone = least("SELECT COUNT(*) FROM people", "10")
    assert least("SELECT COUNT(*), SUM(balance) FROM people", "10") > alone


def test_what_depends_on_the_data_is_refused():
    for sql in ("SELECT AVG(age) FROM people", "SELECT MEDIAN(age) FROM people"):
        with pytest.raises(QueryRefused, match="known beforehand"):
            least(sql, "5")
    with pytest.raises(QueryRefused, match="percentage"):
        least("SELECT COUNT(*) FROM people", "5%")


def test_no_epsilon_is_large_enough():
    with pytest.raises(InvalidInput, match="No sensible epsilon"):
        least("SELECT SUM(income) FROM people", "0.0001")
