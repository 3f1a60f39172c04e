"""The least epsilon whose noise is small enough."""

import math
from fractions import Fraction

import pytest

from asking import plan, question
from discreet.ask.release.error_bars import allowed_errors, expected_errors, least_epsilon
from discreet.base.answer import Answer, Provenance
from discreet.base.bill import NO_BILL
from discreet.base.numbers import Delta, Epsilon
from discreet.base.requests.paid import NoiseLimit
from discreet.errors import InvalidInput, QueryRefused

NONE = Delta(Fraction(0))


def least(sql, error, paid=None):
    asked = question(sql)
    return least_epsilon(asked, allowed_errors(NoiseLimit.of(error), asked, paid), NONE)


def paid_answer(*rows):
    origin = Provenance("census", "people:1", "each row", (), ())
    return Answer(
        columns=("sex", "n"),
        rows=rows,
        error95=tuple((None, 1.0) for _ in rows),
        bill=NO_BILL,
        request_id="r",
        provenance=origin,
        keys=1,
        noisy=(1,),
    )


def test_a_percentage_is_of_the_least_value_that_was_paid_for():
    sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    paid = paid_answer(("Female", 400), ("Male", 1000))
    assert least(sql, "5%", paid) == least(sql, "20")
    with pytest.raises(QueryRefused, match="percentage"):
        least(sql, "5%", paid_answer(("Female", 0), ("Male", 1000)))


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
