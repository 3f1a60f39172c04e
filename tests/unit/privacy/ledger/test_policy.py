from __future__ import annotations

import pytest

from discreet.base.unit import Neighbours
from discreet.errors import CatalogError, InvalidInput
from discreet.privacy.ledger import BudgetPolicy, Cap, Policy
from discreet.privacy.ledger.budget import Limit


def test_limits_are_budgets_first_and_an_absent_delta_is_the_budgets():
    policy = Policy(
        {"b": BudgetPolicy.of(2, "1e-9", Neighbours.REPLACE_ONE), "a": BudgetPolicy.of(1)},
        {"alice": {"b": Cap.of("0.5")}, "zoe": {"a": Cap.of(1, 0), "b": Cap.of(1, "1e-12")}},
    )
    shown = [(item.budget, item.analyst, str(item.delta)) for item in policy.limits()]
    assert shown == [
        ("a", None, "0"),
        ("b", None, "1e-9"),
        ("b", "alice", "1e-9"),
        ("a", "zoe", "0"),
        ("b", "zoe", "1e-12"),
    ]
    assert all(
        (item.neighbours is Neighbours.REPLACE_ONE) == (item.budget == "b")
        for item in policy.limits()
    )


def test_a_limit_survives_the_history():
    for limit in Policy({"b": BudgetPolicy.of("1/3", "1e-9")}).limits():
        assert Limit.from_json("b", None, limit.to_json()) == limit


def test_a_share_of_no_budget_is_refused():
    with pytest.raises(CatalogError, match="'alice' has a share in 'x'"):
        Policy({"b": BudgetPolicy.of(1)}, {"alice": {"x": Cap.of(1)}})


@pytest.mark.parametrize("amount", [0, -1, "nan", "inf", "many"])
def test_amounts_must_make_sense(amount):
    with pytest.raises(InvalidInput):
        BudgetPolicy.of(amount)
