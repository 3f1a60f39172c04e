from __future__ import annotations

import pytest

from discreet.errors import QueryRefused
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.statements import asked, browsed, split


def misread(sql, read):
    with pytest.raises(Failure) as caught:
        read(split(sql)[-1])
    assert caught.value.code == "42601"
    return sql[caught.value.position - 1 :]


@pytest.mark.parametrize("read", [browsed, asked])
@pytest.mark.parametrize(
    ("sql", "near"),
    [
        ("SELECT sex, COUNT(*) FORM people", "people"),
        ("SELECT 1; /* a\nb */ SELECT sex, COUNT(*)\n  FORM people", "people"),
        ("SELECT 'é', $1,$2 FROM a b c", "c"),
        ("SELECT a\n\n, 'x\ny\nz', b b b FROM t", "b FROM t"),
    ],
)
def test_the_place_is_that_in_what_was_sent(read, sql, near):
    assert misread(sql, read) == near


def test_without_a_place_it_is_refused_all_the_same():
    with pytest.raises(Failure) as caught:
        browsed(split("SELECT (")[0])
    assert caught.value.code == "42601"


def test_types_of_the_catalog_may_be_arrays():
    tree = browsed(split("SELECT a = ANY($1::oid[]), b::regtype::text FROM pg_type")[0])
    assert tree.sql("postgres") == (
        "SELECT a = ANY(CAST($1 AS oid[])), CAST(CAST(b AS regtype) AS TEXT) FROM pg_type"
    )


def test_other_refusals_keep_their_sentence():
    with pytest.raises(QueryRefused) as caught:
        asked(split("SELECT MOD(1, 2, 3)")[0])
    assert caught.value.construct != "syntax"
