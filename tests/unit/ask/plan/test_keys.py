"""Group keys: public lists, and what must be thresholded."""

import pytest

from asking import question
from discreet.ask.plan.plan import PrivateGroups, PublicGroups
from discreet.errors import QueryRefused

DELTA = {"delta": "1e-6"}


def groups(key, where="TRUE", **settings):
    sql = f"SELECT {key} AS k, COUNT(*) FROM people WHERE {where} GROUP BY {key}"
    return question(sql, **settings).groups


def test_every_declared_value_is_listed():
    assert list(groups("sex")) == [("Female",), ("Male",)]
    assert list(groups("member")) == [(False,), (True,)]
    assert groups("age").count == 121


def test_null_is_listed_only_where_values_may_be_missing():
    assert next(iter(groups("balance"))) == (None,)
    assert groups("balance").count == 102


def test_where_shortens_the_list():
    assert list(groups("age", "age BETWEEN 3 AND 5")) == [(3,), (4,), (5,)]
    assert list(groups("sex", "sex <> 'Male'")) == [("Female",)]
    assert list(groups("balance", "balance IS NULL")) == [(None,)]
    assert list(groups("balance", "balance > 48")) == [(49,), (50,)]


def test_expressions_list_what_they_can_become():
    assert list(groups("age // 50")) == [(0,), (1,), (2,)]
    assert list(groups("age // 50", "age < 60")) == [(0,), (1,)]
    assert list(groups("UPPER(sex)")) == [("FEMALE",), ("MALE",)]


def test_several_keys_multiply():
    sql = "SELECT sex, member, COUNT(*) FROM people GROUP BY sex, member"
    assert question(sql).groups == PublicGroups((("Female", "Male"), (False, True)))


def test_text_and_large_ranges_are_private():
    assert isinstance(groups("job", **DELTA), PrivateGroups)
    assert isinstance(groups("born", **DELTA), PrivateGroups)
    assert isinstance(groups("born", "born > '2000-01-01'", **DELTA), PublicGroups)


def test_private_groups_need_delta():
    with pytest.raises(QueryRefused, match="needs delta"):
        groups("job")


def test_a_constant_is_no_key():
    assert question("SELECT COUNT(*) FROM people GROUP BY 'x'").groups == PublicGroups(())
