"""HAVING, ORDER BY and LIMIT on noisy results; plain values for the outside."""

import datetime as dt
import math
from fractions import Fraction

import pytest

from asking import plan
from discreet.ask.release.answer import finish, plain_value
from discreet.privacy.kernel.look import Noisy


def rows(sql, counts):
    found = plan(sql)
    groups = tuple(found.question.groups)
    table = finish(Noisy(groups, {"m0": counts}, {}), found.question, found.mechanisms.laws)
    return table.rows


def test_order_limit_and_offset():
    sql = "SELECT sex, member, COUNT(*) AS n FROM people GROUP BY sex, member ORDER BY n DESC"
    counts = [5, 9, 1, 7]
    assert [row[-1] for row in rows(sql, counts)] == [9, 7, 5, 1]
    assert [row[-1] for row in rows(f"{sql} LIMIT 2 OFFSET 1", counts)] == [7, 5]


def test_having_sees_the_noisy_value():
    sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING COUNT(*) > 0"
    assert rows(sql, [-3, 4]) == (("Male", 4),)


def test_nulls_are_sorted_as_asked():
    sql = "SELECT balance, COUNT(*) FROM people WHERE balance > 48 OR balance IS NULL"
    last = f"{sql} GROUP BY balance ORDER BY balance DESC NULLS LAST"
    first = f"{sql} GROUP BY balance ORDER BY balance NULLS FIRST"
    assert [row[0] for row in rows(last, [1, 2, 3])] == [50, 49, None]
    assert [row[0] for row in rows(first, [1, 2, 3])] == [None, 49, 50]


def test_bars_and_covariance_of_linear_outputs():
    found = plan("SELECT COUNT(*) AS n, 2 * COUNT(*) AS twice FROM people")
    table = finish(Noisy(((),), {"m0": [100]}, {}), found.question, found.mechanisms.laws)
    assert table.rows == ((100, 200),)
    assert table.error95 == ((3.0, 6.0),)
    assert table.intervals == (((97.0, 103.0), (194.0, 206.0)),)
    ((one, two), (three, four)) = table.covariance[0]
    assert (two, three, four) == pytest.approx((2 * one, 2 * one, 4 * one))
    assert table.noisy == (0, 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(6, 2), 3),
        (Fraction(1, 4), 0.25),
        (math.inf, None),
        (math.nan, None),
        (True, True),
        (dt.date(2024, 2, 29), "2024-02-29"),
        (None, None),
    ],
)
def test_plain_value(value, expected):
    assert plain_value(value) == expected
    assert type(plain_value(value)) is type(expected)
