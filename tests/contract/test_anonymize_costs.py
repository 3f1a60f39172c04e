"""What every cost of anonymization promises; adding one to COSTS adds it here."""

import itertools
import random

import pytest

from anonymize_kit import groups_of, looks, random_problem
from discreet.anonymize.hierarchy import make_ladders
from discreet.anonymize.privacy_models import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
)
from discreet.anonymize.registry import COSTS
from discreet.anonymize.run import AnonymizeRequest
from discreet.anonymize.search import AnonymizeMethod, anonymize, make_cost
from discreet.errors import InvalidInput

pytestmark = pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)


def test_what_a_node_says_about_others_is_true(cost):
    """The claims of the note, node by node: bounds hold above, hopeless nodes have none below."""
    dice = random.Random(5)
    tight = 0
    for model in ((), (EntropyDiversity(1.6),), (Closeness(0.3),), (DistinctDiversity(2),)):
        for share in (0.0, 0.1, 0.2, 0.3, 0.5, 0.7):
            found = looks(random_problem(dice), (KAnonymity(3), *model), cost, share)
            for low, high in itertools.product(found, found):
                if any(a > b for a, b in zip(low.levels, high.levels, strict=True)):
                    continue
                assert low.bound <= high.cost + 1e-9
                assert low.bound <= high.bound + 1e-9
                assert not (high.hopeless and low.allowed)
                tight += low is not high and high.allowed and low.bound >= high.cost / 2
    assert tight > 0, "bounds that are never near a cost prove nothing"


def test_a_copy_costs_what_the_search_said(cost):
    dice = random.Random(6)
    made = 0
    for share in (0.0, 0.2, 0.4) * 4:
        names, trees, rows = problem = random_problem(dice)
        allowed = [
            look
            for look in looks(problem, (KAnonymity(2),), cost, share)
            if look.allowed and look.lost < len(rows)
        ]
        if not allowed:
            continue
        groups = groups_of(names, rows, sensitive=False)
        found = anonymize(groups, trees, k=2, cost=cost, suppress=share)
        assert found.costs.shown[cost.shown] == pytest.approx(found.runners[0].cost, abs=1e-9)
        assert found.runners[0].cost == pytest.approx(min(look.cost for look in allowed), abs=1e-9)
        made += 1
    assert made > 3


def test_copies_of_every_method_are_measured(cost):
    names, trees, rows = random_problem(random.Random(7))
    for method in AnonymizeMethod:
        call = {"k": 2, "suppress": 0.3, "method": method}
        found = anonymize(groups_of(names, rows, sensitive=False), trees, **call)
        value = found.costs.shown[cost.shown]
        assert value is None or value >= 0


def test_a_request_names_it(cost):
    asked = AnonymizeRequest.of(k=2, quasi=["p"], cost=cost.value)
    assert asked.cost is cost
    assert [each.shown for each in COSTS.values()].count(cost.shown) == 1
    assert cost.shown not in {"k", "rows", "suppressed", "classes", "levels"}, "results have those"
    assert cost.words.endswith(".")


def test_weights_are_refused_where_they_change_nothing(cost):
    names, trees, rows = random_problem(random.Random(8))
    groups = groups_of(names, rows)
    call = (cost, groups, make_ladders(groups, trees), {"p": 2.0})
    if cost.weighted:
        assert make_cost(*call)
    else:
        with pytest.raises(InvalidInput, match="change nothing"):
            make_cost(*call)
