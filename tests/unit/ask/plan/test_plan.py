"""A plan is made from the question and public facts, nothing else."""

import pytest

from asking import catalog, plan, question
from discreet.ask.plan.plan import DELTA_SHARE
from discreet.errors import QueryRefused
from discreet.privacy.account.price import price


def cost(sql, *, epsilon="1", **settings):
    found = plan(sql, epsilon=epsilon, **settings)
    return price(found.mechanisms.event, epsilon=found.epsilon, delta=found.delta).cost


def test_the_price_is_what_was_written():
    assert cost("SELECT COUNT(*), AVG(age), MEDIAN(income) FROM people", epsilon="0.3").epsilon == (
        plan("SELECT COUNT(*) FROM people", epsilon="0.3").epsilon.value
    )


def test_one_statement_uses_a_small_part_of_delta():
    found = cost("SELECT job, COUNT(*) FROM people GROUP BY job", delta="1e-6")
    assert 0 < found.delta <= catalog(delta="1e-6").budgets["census"].delta.value * DELTA_SHARE


def test_pure_questions_use_no_delta_even_where_there_is_some():
    assert cost("SELECT sex, COUNT(*) FROM people GROUP BY sex", delta="1e-6").delta == 0


def test_outputs_having_and_order_name_measures():
    found = question(
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING n > 5 ORDER BY n DESC"
    )
    assert [name for name, _ in found.outputs] == ["sex", "n"]
    assert "m0" in repr(found.having)
    assert "m0" in repr(found.order)


def test_private_keys_without_delta_are_refused_by_name():
    with pytest.raises(QueryRefused, match="'job' has no declared list"):
        question("SELECT job, COUNT(*) FROM people GROUP BY job")
