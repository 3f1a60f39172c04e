"""Subqueries grouped by the person."""

import pytest

from asking import catalog, question
from discreet.core.schema import IntegerDomain
from discreet.errors import QueryRefused
from discreet.plan.ir import fields_of
from discreet.sql.bind import bind


def inner(select, group="person"):
    sql = f"SELECT COUNT(*) FROM (SELECT {select} FROM visits GROUP BY {group}) AS t"
    return {field.called: field.domain for field in fields_of(question(sql).statement.source)}


def test_ranges_follow_from_the_bound_on_rows():
    found = inner("person, COUNT(*) AS n, SUM(cost) AS s, MIN(cost) AS low, MAX(cost) AS high")
    assert found["n"] == IntegerDomain(0, 4)
    assert found["s"] == IntegerDomain(-20, 400)
    assert found["low"] == found["high"] == IntegerDomain(-5, 100)


def test_expressions_over_the_aggregates():
    assert inner("person, SUM(cost) - COUNT(*) AS d")["d"] == IntegerDomain(-24, 400)


def test_other_keys_make_several_rows_of_a_person():
    sql = "SELECT COUNT(*) FROM (SELECT person, ward AS w, COUNT(*) AS n FROM visits GROUP BY 1, 2) AS t"
    with pytest.raises(QueryRefused):
        bind(sql.replace("1, 2", "ward"), catalog())
    found = question(sql)
    assert found == question(sql.replace("1, 2", "person, w"))
    assert found.enforced
    assert found.stability.max_rows == 4


@pytest.mark.parametrize(
    "aggregate", ["SUM(DISTINCT cost)", "MEDIAN(cost)", "VARIANCE(cost)", "STDDEV(cost)"]
)
def test_what_cannot_be_bounded_for_a_person_is_refused(aggregate):
    with pytest.raises(QueryRefused, match="for each person in a subquery"):
        inner(f"person, {aggregate} AS x")


def test_the_person_must_be_a_key():
    with pytest.raises(QueryRefused, match="names the person"):
        inner("ward, COUNT(*) AS n", "ward")
