"""Which group is the largest: a choice instead of a table."""

from fractions import Fraction

import pytest

from asking import plan
from discreet.base.event import Pure, Select

TOP = "SELECT sex FROM people GROUP BY sex ORDER BY COUNT(*) DESC LIMIT 1"


def test_a_choice_among_public_groups():
    found = plan(TOP, epsilon="0.5").mechanisms
    assert found.event == Pure(Fraction(1, 2))
    assert found.laws == {}
    assert (found.top.sensitivity, found.top.monotone) == (1, True)


def test_where_rho_is_counted_the_exponential_mechanism_is_cheaper():
    assert plan(TOP, epsilon="0.5", delta="1e-6").mechanisms.event == Select(Fraction(1, 2))


def test_replacing_is_not_monotone():
    assert not plan(TOP, neighbours="replace-one").mechanisms.top.monotone


def test_a_person_moves_a_count_by_all_their_rows():
    sql = "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1"
    assert plan(sql).mechanisms.top.sensitivity == 4


@pytest.mark.parametrize(
    "sql",
    [
        TOP.replace("SELECT sex", "SELECT sex, COUNT(*)"),
        TOP.replace("LIMIT 1", "LIMIT 2"),
        TOP.replace("DESC", "ASC"),
        TOP.replace("ORDER", "HAVING COUNT(*) > 3 ORDER"),
        TOP.replace("COUNT(*)", "SUM(age)"),
        f"{TOP} OFFSET 1",
    ],
)
def test_everything_else_is_a_table(sql):
    assert plan(sql).mechanisms.top is None
