"""Subqueries grouped by the person."""

from fractions import Fraction

import pytest

from asking import catalog, question
from discreet.ask.plan.ir import Filter, Join, PerUnit, Project, fields_of
from discreet.ask.sql.bind import bind
from discreet.base.schema import IntegerDomain, NumberDomain
from discreet.errors import QueryRefused


def inner(select, group="person"):
    sql = f"SELECT COUNT(*) FROM (SELECT {select} FROM visits GROUP BY {group}) AS t"
    return {field.called: field.domain for field in fields_of(question(sql).statement.source)}


def test_ranges_follow_from_the_bound_on_rows():
    found = inner("person, COUNT(*) AS n, SUM(cost) AS s, MIN(cost) AS low, MAX(cost) AS high")
    assert found["n"] == IntegerDomain(0, 4)
    assert found["s"] == IntegerDomain(-20, 400)
    assert found["low"] == found["high"] == IntegerDomain(-5, 100)


def test_a_mean_lies_between_the_ends_of_its_column():
    found = inner("person, AVG(cost) AS mean")["mean"]
    assert found == NumberDomain(Fraction(-5), Fraction(100), Fraction(1, 1000))


@pytest.mark.parametrize(
    ("aggregates", "cut"),
    [
        ("COUNT(*) AS n", False),  # clamped to as many
        ("COUNT(cost) AS n", True),
        ("AVG(cost) AS mean", True),
        ("MAX(cost) AS most, COUNT(*) AS n", True),
    ],
)
def test_rows_are_left_out_only_where_it_matters_which(aggregates, cut):
    sql = f"SELECT COUNT(*) FROM (SELECT person, {aggregates} FROM visits GROUP BY person) AS t"
    source = question(sql).statement.source
    assert isinstance(source, Project)
    assert isinstance(source.source, PerUnit)
    assert (source.source.most, source.source.cut) == (4, cut)


@pytest.mark.parametrize(
    "test",
    [
        "person IN (SELECT person FROM visits)",
        "EXISTS (SELECT 1 FROM visits AS v WHERE v.person = p.person)",
    ],
)
def test_whether_there_are_rows_needs_no_cut(test):
    source = question(f"SELECT COUNT(*) FROM patients AS p WHERE {test}").statement.source
    joined = source.source if isinstance(source, Filter) else source
    assert isinstance(joined, Join)
    assert isinstance(joined.right, Project)
    assert isinstance(joined.right.source, PerUnit)
    assert not joined.right.source.cut


def test_expressions_over_the_aggregates():
    assert inner("person, SUM(cost) - COUNT(*) AS d")["d"] == IntegerDomain(-24, 400)


def test_other_keys_make_several_rows_of_a_person():
    sql = "SELECT COUNT(*) FROM (SELECT person, ward AS w, COUNT(*) AS n FROM visits GROUP BY 1, 2) AS t"
    with pytest.raises(QueryRefused):
        bind(sql.replace("1, 2", "ward"), catalog())
    found = question(sql)
    assert found == question(sql.replace("1, 2", "person, w"))
    assert not found.enforced  # no more of her rows are aggregated, so there are no more groups
    assert found.stability.max_rows == 4


def test_without_aggregates_the_groups_are_bounded_and_not_the_rows():
    found = question("SELECT COUNT(*) FROM (SELECT person, ward FROM visits GROUP BY 1, 2) AS t")
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
