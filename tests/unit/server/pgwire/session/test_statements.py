from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import QueryRefused
from discreet.server.pgwire.session.statements import split


def texts(sql):
    return [statement.text for statement in split(sql)]


def test_semicolons_count_only_outside_quotes_and_comments():
    assert texts("SELECT 'a;b'; SELECT \"c;d\" -- ; e\n; /* ; /* ; */ ; */ SELECT 1;;") == [
        "SELECT 'a;b'",
        'SELECT "c;d"',
        "SELECT 1",
    ]
    assert texts("SELECT $x$it's; fine$x$") == ["SELECT 'it''s; fine'"]
    assert texts(r"SELECT E'a\';b', 'c\'; SELECT 2") == [r"SELECT E'a\';b', 'c\'", "SELECT 2"]
    assert texts(" -- nothing\n;;") == []


def test_hints_come_from_comments_only():
    [statement] = split(
        "/* discreet.epsilon=0.1 */ SELECT 'discreet.epsilon=9' -- discreet.errors = on"
    )
    assert statement.hints == (("epsilon", "0.1"), ("errors", "on"))
    assert statement.verb == "SELECT"
    assert split("EXPLAIN /* discreet.epsilon=1 */ SELECT 1")[0].after(1).text == "SELECT 1"


def test_words_after_as_are_names():
    assert texts("SELECT 1 AS select, 2 AS table") == ['SELECT 1 AS "select", 2 AS "table"']


@pytest.mark.parametrize(
    "sql", ["SELECT 'a", 'SELECT "a', "SELECT /* a", "SELECT $q$ a", ";x" * 200]
)
def test_what_is_not_closed_is_refused(sql):
    with pytest.raises(QueryRefused):
        split(sql)


@given(st.text(max_size=200))
def test_any_text_is_split_or_refused(sql):
    try:
        for statement in split(sql):
            assert statement.text.strip()
    except QueryRefused:
        return
