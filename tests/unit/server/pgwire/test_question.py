"""What the endpoint hands to the curator: the tree that was parsed, not a text written from it."""

import datetime as dt

import pytest
import sqlglot
from sqlglot import exp

from asking import catalog
from discreet.ask.sql.bind import bind
from discreet.curator import parsed
from discreet.errors import QueryRefused
from discreet.server.pgwire.question import WireQuestion


def bound(sql, *values):
    return bind(WireQuestion(parsed(sql), ()).filled(values), catalog())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE to_char(age, '999') = '7'",
        "SELECT COUNT(*) FROM people FOR UPDATE",
        "SELECT SUM(floor(age, 1)) FROM people",
    ],
)
def test_what_a_rewriting_would_have_lost_is_refused(sql):
    with pytest.raises(QueryRefused):
        bound(sql)
    # The broken twin: written out and parsed again, each of them is another question.
    assert bind(sqlglot.parse_one(sql, read="duckdb").sql("duckdb"), catalog())


def test_percentile_cont_is_a_quantile():
    found = bound("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS m FROM people")
    assert found == bind("SELECT MEDIAN(age) AS m FROM people", catalog())


def test_parameters_become_constants_of_the_tree():
    sql = "SELECT COUNT(*) FROM public.people WHERE sex = $1 AND age > $2 AND born < $3"
    found = bound(sql, "' OR 1 = 1 --", -3, dt.date(2000, 1, 1))
    plain = (
        "SELECT COUNT(*) FROM people WHERE sex = ''' OR 1 = 1 --' AND age > -3 "
        "AND born < DATE '2000-01-01'"
    )
    assert found == bind(plain, catalog())


def test_the_parsed_tree_itself_stays_as_it_was():
    asked = parsed("SELECT COUNT(*) FROM discreet.public.people WHERE age > $1")
    told = WireQuestion(asked, ()).filled([5])
    assert asked.tree.find(exp.Placeholder) is not None
    assert told.tree.find(exp.Placeholder) is None
    assert str(told) == "SELECT COUNT(*) FROM discreet.public.people WHERE age > $1 -- $1 = 5"


def test_another_database_cannot_be_named():
    with pytest.raises(QueryRefused):
        bound("SELECT COUNT(*) FROM elsewhere.public.people")
