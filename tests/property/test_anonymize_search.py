"""The search against brute force over the whole lattice, and twins with one wrong step."""

import itertools
import math
import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymize_kit import (
    MODELS,
    SECRETS,
    best_node,
    cost_of,
    groups_of,
    kept_classes,
    looks,
    matching_kept,
    problems,
    random_problem,
)
from discreet.anonymize.classes import SUPPRESSED
from discreet.anonymize.costs import Discernibility
from discreet.anonymize.hierarchy import Hierarchy, make_ladders
from discreet.anonymize.lattice import ClassEvaluator, search
from discreet.anonymize.privacy_models import (
    Closeness,
    Conditions,
    Distance,
    EntropyDiversity,
    KAnonymity,
    tied,
)
from discreet.anonymize.registry import COSTS
from discreet.anonymize.search import Missing, anonymize
from discreet.errors import InvalidInput
from sittings import examples

SHARES = st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0])


CASES = (problems(), MODELS, st.integers(1, 4), SHARES, st.sampled_from(list(COSTS.values())))


@given(*CASES)
@settings(max_examples=examples(120), deadline=None)
def test_the_search_finds_what_brute_force_finds(problem, models, k, suppress, cost):
    _search_and_compare(problem, models, k, suppress, cost)


@pytest.mark.slow
@given(*CASES)
@settings(max_examples=2000, deadline=None)
def test_the_search_finds_what_brute_force_finds_in_full(problem, models, k, suppress, cost):
    _search_and_compare(problem, models, k, suppress, cost)


def _search_and_compare(problem, models, k, suppress, cost):
    names, trees, rows = problem
    if k > len(rows):
        return
    limit = math.floor(suppress * len(rows) + 1e-9)
    expected = best_node(cost, names, trees, rows, (KAnonymity(k), *models), limit)
    groups = groups_of(names, rows)
    # Texts are ordered here by their letters, which only a wish refuses.
    apart = [
        tied((model,), groups.sensitive, SECRETS)[0]
        if isinstance(model, Closeness) and model.distance is Distance.HIERARCHICAL
        else model
        for model in models
    ]
    call = {"k": k, "suppress": suppress, "cost": cost, "models": apart}
    try:
        found = anonymize(groups, trees, **call)
    except InvalidInput:
        assert expected is None
        return
    assert expected is not None
    assert found.optimal
    assert tuple(found.levels.values()) == expected[2]
    assert found.runners[0].cost == pytest.approx(expected[0], rel=1e-8, abs=1e-8)
    assert found.bound == found.runners[0].cost
    _measures_agree(found, names, trees, rows, (KAnonymity(k), *models))


def _measures_agree(found, names, trees, rows, models):
    levels = tuple(found.levels.values())
    classes = kept_classes(names, trees, levels, rows, models)
    assert found.classes == len(classes)
    assert sorted(found.recoding.sizes.tolist()) == sorted(map(len, classes))
    args = (names, trees, levels, rows, classes)
    assert found.costs.discernibility == cost_of(COSTS["discernibility"], *args)
    assert found.costs.average_class_size == cost_of(COSTS["classes"], *args)
    assert found.costs.height == cost_of(COSTS["height"], *args)
    assert found.costs.loss == pytest.approx(cost_of(COSTS["loss"], *args), abs=1e-9)
    assert found.costs.entropy == pytest.approx(cost_of(COSTS["entropy"], *args), abs=1e-9)


@given(
    problems(missing=True, most_rows=14),
    st.integers(1, 4),
    SHARES,
    st.sampled_from(list(COSTS.values())),
)
@settings(max_examples=examples(50), deadline=None)
def test_missing_values_that_match_everything(problem, k, suppress, cost):
    names, trees, rows = problem
    if k > len(rows):
        return
    call = {"k": k, "suppress": suppress, "cost": cost, "missing": Missing.MATCHES}
    groups = groups_of(names, rows)
    try:
        found = anonymize(groups, trees, **call)
    except InvalidInput:
        tops = [trees[name].levels - 1 for name in names]
        kept, _ = matching_kept(names, trees, tops, rows, k)
        assert len(rows) - len(kept) > suppress * len(rows) or not kept
        return
    kept, among = matching_kept(names, trees, tuple(found.levels.values()), rows, k)
    assert found.suppressed == len(rows) - len(kept)
    assert found.costs.discernibility == sum(among.values()) + len(rows) * found.suppressed
    if cost is COSTS["discernibility"]:
        assert found.costs.discernibility == _least_matching(problem, k, suppress)


def _least_matching(problem, k, suppress):
    names, trees, rows = problem
    limit = min(math.floor(suppress * len(rows) + 1e-9), len(rows) - 1)
    costs = []
    for levels in itertools.product(*(range(trees[name].levels) for name in names)):
        kept, among = matching_kept(names, trees, levels, rows, k)
        lost = len(rows) - len(kept)
        if lost <= limit:
            costs.append(sum(among.values()) + len(rows) * lost)
    return min(costs)


@dataclass(frozen=True)
class CarelessEntropy(EntropyDiversity):
    """Claims what entropy diversity is not: closed under supersets."""

    superset_closed = True

    def necessary(self, sizes, histogram):
        return self.satisfied(sizes, histogram)


class CarelessBound(Discernibility):
    """Takes the cost of a node as a bound for coarser ones, though these suppress fewer rows."""

    def bound(self, view):
        return self.of(view)


def _cheapest(problem, conditions, cost, limit):
    names, trees, rows = problem
    groups = groups_of(names, rows)
    ladders = make_ladders(groups, trees)
    evaluator = ClassEvaluator(groups, ladders, conditions, cost, limit=limit)
    return search(evaluator, [ladder.levels for ladder in ladders], seconds=60).cost


def test_a_model_that_only_claims_to_be_monotone_loses_the_optimum():
    """One class is kept at (0, 1); merged with the others at (1, 1) it fails and all is lost."""
    secrets = "xxyyxxxx"
    rows = [("a" if i < 4 else "b", f"{i}", secret) for i, secret in enumerate(secrets)]
    trees = {
        "p": Hierarchy("p", {"a": ("a", "*"), "b": ("b", "*")}),
        "q": Hierarchy("q", {f"{i}": (f"{i}", "*") for i in range(8)}),
    }
    problem = (["p", "q"], trees, rows)
    right = Conditions((KAnonymity(2), EntropyDiversity(1.9)))
    expected = best_node(COSTS["discernibility"], *problem, right.models, 4)
    assert expected[2] == (0, 1)
    assert _cheapest(problem, right, Discernibility(), 4) == expected[0]
    with pytest.raises(InvalidInput, match="not even the coarsest"):
        _cheapest(problem, Conditions((KAnonymity(2), CarelessEntropy(1.9))), Discernibility(), 4)


def test_a_bound_that_is_none_loses_the_optimum():
    """Without this the comparison above could not see a wrong proof."""
    dice = random.Random(7)
    wrong = 0
    for _ in range(40):
        problem = random_problem(dice)
        limit = math.floor(0.3 * len(problem[2]))
        three = Conditions((KAnonymity(3),))
        expected = best_node(COSTS["discernibility"], *problem, three.models, limit)[0]
        assert _cheapest(problem, three, Discernibility(), limit) == expected
        wrong += _cheapest(problem, three, CarelessBound(), limit) != expected
    assert wrong > 0


def test_the_bound_on_classes_counts_those_that_small_ones_could_form():
    """Four rows alone at the bottom are two classes one level up."""
    rows = [(value, "x") for value in "abcdeeff"]
    halves = dict(zip("abcdef", "001123", strict=True))
    trees = {"p": Hierarchy("p", {v: (v, halves[v]) for v in "abcdef"})}
    bottom, above = looks((["p"], trees, rows), (KAnonymity(2),), COSTS["classes"], 0.9)
    assert above.cost == len(rows) / 4
    assert bottom.bound == len(rows) / 5, "four classes and the suppressed"
    assert bottom.cost == len(rows) / 3


@given(problems(), st.integers(1, 3))
@settings(max_examples=examples(30), deadline=None)
def test_an_interrupted_search_keeps_its_bound(problem, k):
    names, trees, rows = problem
    groups = groups_of(names, rows, sensitive=False)
    limit = len(rows) // 3
    expected = best_node(COSTS["discernibility"], names, trees, rows, (KAnonymity(k),), limit)
    if expected is None:
        return
    ladders = make_ladders(groups, trees)
    evaluator = ClassEvaluator(
        groups, ladders, Conditions((KAnonymity(k),)), Discernibility(), limit=limit
    )
    heights = [ladder.levels for ladder in ladders]
    for most, seconds in ((10**6, 1e-9), (2, 60.0)):
        try:
            found = search(evaluator, heights, seconds=seconds, most=most)
        except InvalidInput:
            continue  # the coarsest node is not allowed and there was no time for another
        assert found.bound <= expected[0] <= found.cost
        assert not found.optimal or found.cost == expected[0]
        assert SUPPRESSED in evaluator.assign(found.levels).klass or found.runners[0].lost == 0
