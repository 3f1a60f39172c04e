"""Constants take the type of the column beside them."""

import datetime as dt

import pytest

from asking import catalog
from discreet.ask.plan import expr as e
from discreet.ask.sql.bind import bind
from discreet.errors import QueryRefused


def constants(where):
    source = bind(f"SELECT COUNT(*) FROM people WHERE {where}", catalog()).source
    return [node.value for node in e.walk(source.condition) if isinstance(node, e.Literal)]


def test_text_beside_a_date_or_a_number():
    assert constants("born > '1994-01-31'") == [dt.date(1994, 1, 31)]
    assert constants("'1994-01-31' > born") == [dt.date(1994, 1, 31)]
    assert constants("age = '42'") == [42]
    assert constants("sex = '42'") == ["42"]


def test_between_is_read_the_same_way():
    assert constants("born BETWEEN '1994-01-01' AND '1994-12-31'") == [
        dt.date(1994, 1, 1),
        dt.date(1994, 12, 31),
    ]


@pytest.mark.parametrize("where", ["born > 'soon'", "age > 'many'", "born > DATE '1990-02-30'"])
def test_text_that_is_neither_is_refused(where):
    with pytest.raises(QueryRefused):
        constants(where)
