"""Sensitivities: the worked numbers of the course documents, and what bounds a person's rows."""

from pathlib import Path

import pytest

from asking import TOML, question
from discreet.ask.plan.plan import ask
from discreet.ask.sql.bind import bind
from discreet.data.catalog.policy_file import loads
from discreet.errors import QueryRefused

REPLACED = {"neighbours": "replace-one"}


def l1(sql, **settings):
    found = question(sql, **settings)
    return [found.stability.l1(measure.bound) for _, measure in found.measured.measures]


def test_a_count_moves_by_one():
    assert l1("SELECT COUNT(*) FROM people") == [1]
    assert l1("SELECT COUNT(*) FROM people WHERE age > 20") == [1]


def test_disjoint_groups_move_by_one_together():
    assert l1("SELECT sex, COUNT(*) FROM people GROUP BY sex") == [1]


def test_arbitrary_counts_add_up():
    sql = ", ".join(f"COUNT(*) FILTER (WHERE age > {i})" for i in range(7))
    assert sum(l1(f"SELECT {sql} FROM people")) == 7


def test_a_sum_moves_by_the_farther_end_of_the_declared_range():
    assert l1("SELECT SUM(age) FROM people") == [120]
    assert l1("SELECT SUM(balance) FROM people") == [50]
    assert l1("SELECT SUM(income) FROM people") == [100_000]  # in steps of 0.01


def test_replacing_in_one_place_moves_a_count_by_one_and_a_sum_by_its_whole_range():
    assert l1("SELECT COUNT(*) FROM people WHERE member", **REPLACED) == [1]
    assert l1("SELECT SUM(balance) FROM people", **REPLACED) == [100]
    assert l1("SELECT SUM(age) FROM people", **REPLACED) == [120]


def test_replacing_across_groups_moves_two_of_them():
    found = question("SELECT sex, COUNT(*) FROM people GROUP BY sex", **REPLACED)
    ((_, measure),) = found.measured.measures
    assert found.stability.l1(measure.bound) == 2
    assert found.stability.l2_squared(measure.bound) == 2
    assert found.stability.coordinates == 2


def test_a_person_counts_once_however_many_rows_they_have():
    found = question("SELECT COUNT(DISTINCT person) FROM visits")
    assert not found.enforced
    assert l1("SELECT COUNT(DISTINCT person) FROM visits") == [1]


def test_a_person_in_several_groups_counts_in_each():
    assert l1("SELECT ward, COUNT(DISTINCT person) FROM visits GROUP BY ward") == [4]


def test_rows_of_a_person_are_bounded_by_the_table_or_by_the_question():
    assert l1("SELECT COUNT(*) FROM visits") == [4]
    assert l1("SELECT SUM(cost) FROM visits", max_rows=2) == [200]


def test_a_public_join_multiplies_rows():
    sql = "SELECT SUM(beds) FROM visits JOIN wards ON visits.ward = wards.ward"
    assert l1(sql) == [4 * 50]  # bounded after the join: four rows, whatever the copies


def test_one_row_for_each_person_needs_no_bound():
    sql = "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS t"
    found = question(sql)
    assert found.stability.max_rows == 1
    assert not found.enforced


def test_a_wide_measure_is_counted_in_grains_and_still_covers_the_move():
    found = question("SELECT SUM(income * income * balance) FROM people")
    ((_, measure),) = found.measured.measures
    assert measure.grain > 1
    assert found.stability.l1(measure.bound) * measure.grain >= measure.bound.reach
    assert found.stability.l1(measure.bound) >= measure.bound.reach // measure.grain + 1


def test_without_max_rows_nothing_is_bounded():
    known = loads(
        TOML.format(epsilon=1, delta=0, neighbours="add-remove").replace("max_rows = 4\n", ""),
        base=Path(),
    )
    with pytest.raises(QueryRefused, match="any number of rows in 'visits'"):
        ask(bind("SELECT COUNT(*) FROM visits", known), known, {"visits": "1"})
