from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import QueryRefused
from discreet.server.pgwire.statements import closing, split


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


def test_parameters_side_by_side_stay_apart():
    assert texts("SELECT a IN($1,$2), $3::int") == ["SELECT a IN($1 ,$2 ), $3 ::int"]
    assert texts("SELECT '$1,$2', \"a$1\", b$2") == ["SELECT '$1,$2', \"a$1\", b$2"]


@given(st.lists(st.sampled_from(["SELECT ", "/* x */", "-- y\n", "'a;b'", "$1", ",", " ", ";"])))
def test_every_letter_knows_where_it_was_sent(pieces):
    sql = "".join(pieces)
    for statement in split(sql):
        for place, letter in enumerate(statement.text):
            assert letter == " " or sql[statement.sent_at(place)] == letter


def test_a_part_knows_where_it_was_sent():
    sql = "SELECT 1; /* a */ COPY (/* b */ SELECT 'x' FROM t) TO STDOUT"
    statement = split(sql)[1]
    inner = statement.part(statement.text.index("(") + 1, statement.text.index(")"))
    assert inner.text == "SELECT 'x' FROM t"
    assert sql[inner.sent_at(inner.text.index("FROM")) :].startswith("FROM t")
    assert closing("(a ')' (b) \")\") c", 0) == 14
    assert closing("((a)", 0) is None


def test_a_view_is_made_of_a_select():
    assert texts("CREATE TEMP VIEW v AS SELECT 1") == ["CREATE TEMP VIEW v AS SELECT 1"]
