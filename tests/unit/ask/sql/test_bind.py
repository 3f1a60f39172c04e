"""The outermost SELECT: what it groups, aggregates, shows and sorts."""

import pytest

from asking import catalog
from discreet.ask.plan import expr as e
from discreet.ask.plan.ir import Aggregate, Function
from discreet.ask.sql.bind import bind
from discreet.errors import QueryRefused, UnknownName


def bound(sql):
    return bind(sql, catalog())


def test_names_of_outputs():
    found = bound("SELECT sex, COUNT(*), SUM(age) AS years FROM people GROUP BY sex")
    assert [name for name, _ in found.outputs] == ["sex", "count(*)", "years"]


def test_the_same_aggregate_is_bound_once():
    found = bound("SELECT COUNT(*), COUNT(*) + 1 FROM people HAVING COUNT(*) > 3")
    assert found.aggregates == (("agg0", Aggregate(Function.COUNT)),)


@pytest.mark.parametrize("group", ["age // 10", "1", "decade"])
def test_keys_by_expression_place_and_alias(group):
    found = bound(f"SELECT age // 10 AS decade, COUNT(*) FROM people GROUP BY {group}")
    assert len(found.keys) == 1
    assert found.outputs[0] == ("decade", e.ColumnRef("key0"))


def test_an_alias_does_not_hide_a_column():
    found = bound("SELECT UPPER(sex) AS sex, COUNT(*) FROM people GROUP BY UPPER(sex)")
    assert found.outputs[0][1] == e.ColumnRef("key0")
    with pytest.raises(QueryRefused, match="single rows"):
        bound("SELECT age + 1 AS sex, COUNT(*) FROM people GROUP BY sex")


def test_aliases_of_results_may_be_used_again():
    found = bound("SELECT COUNT(*) AS n, n / 2 AS half FROM people ORDER BY half")
    assert "agg0" in repr(found.outputs[1][1])
    assert "agg0" in repr(found.order[0].value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age + COUNT(*) AS age FROM people",
        "SELECT COUNT(*) AS n, n + m AS m FROM people",
        "SELECT a AS b, b AS a, COUNT(*) FROM people",
    ],
)
def test_an_alias_that_means_itself_is_refused(sql):
    with pytest.raises((QueryRefused, UnknownName)):
        bound(sql)


def test_order_limit_and_offset():
    found = bound("SELECT sex, COUNT(*) FROM people GROUP BY 1 ORDER BY 2 DESC LIMIT 3 OFFSET 1")
    assert (found.order[0].descending, found.limit, found.offset) == (True, 3, 1)
    assert found.order[0].value == e.ColumnRef("agg0")


@pytest.mark.parametrize("place", ["0", "3", "1.5"])
def test_places_that_do_not_exist_are_refused(place):
    with pytest.raises(QueryRefused):
        bound(f"SELECT sex, COUNT(*) FROM people GROUP BY 1 ORDER BY {place}")
    with pytest.raises(QueryRefused):
        bound(f"SELECT sex, COUNT(*) FROM people GROUP BY {place}")


def test_keys_alone_are_a_count():
    assert bound("SELECT sex FROM people GROUP BY sex").aggregates
