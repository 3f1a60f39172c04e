import math

import pytest

from discreet.anonymize.lattice import Assigned, NodeResult, search
from discreet.errors import InvalidInput


class Mountain:
    """Allowed from a height on; the cost is a function of the levels, bounded by the height."""

    def __init__(self, least, cost):
        self.least, self.cost, self.asked = least, cost, []

    def evaluate(self, levels):
        levels = tuple(levels)
        assert levels not in self.asked, "no node is looked at twice"
        self.asked.append(levels)
        allowed = sum(levels) >= self.least
        cost = self.cost(levels) if allowed else math.inf
        return NodeResult(levels, allowed, not allowed, cost, float(sum(levels)), cost, 0, 1)

    def assign(self, levels) -> Assigned:
        raise NotImplementedError


def test_the_cheapest_node_and_its_neighbours():
    mountain = Mountain(4, lambda levels: sum(levels) + 0.1 * levels[0])
    found = search(mountain, [4, 4, 4], seconds=60)
    assert found.levels == (0, 1, 3)
    assert (found.cost, found.bound, found.optimal, found.nodes) == (4.0, 4.0, True, 64)
    assert [runner.cost for runner in found.runners] == sorted(r.cost for r in found.runners)
    assert found.runners[0].levels == found.levels
    assert len(found.runners) == 6
    assert found.evaluated == len(mountain.asked) < 64


def test_a_lattice_of_one_node():
    found = search(Mountain(0, lambda _: 7.0), [1, 1], seconds=60)
    assert (found.levels, found.cost, found.optimal) == ((0, 0), 7.0, True)


def test_out_of_time_the_best_has_a_bound():
    found = search(Mountain(2, float_of), [5] * 6, seconds=1e-9)
    assert found.levels == (4,) * 6, "the coarsest is always looked at"
    assert not found.optimal
    assert found.bound <= 2 < found.cost


def float_of(levels):
    return float(sum(levels))


def test_a_lattice_that_is_too_large_is_thinned_and_then_refined():
    found = search(Mountain(7, float_of), [9] * 10, seconds=60, most=2000)
    assert not found.optimal
    assert found.nodes == 9**10
    assert found.cost == 7.0, "steps down from the best thinned node"
    assert found.bound <= 7.0
    assert found.evaluated < 3000


def test_nothing_allowed():
    with pytest.raises(InvalidInput, match="not even the coarsest"):
        search(Mountain(99, float_of), [3, 3], seconds=60)


class Valley(Mountain):
    """Allowed in the middle only, as models that are not monotone may have it."""

    def evaluate(self, levels):
        self.asked.append(tuple(levels))
        allowed = sum(levels) == self.least
        cost = self.cost(levels) if allowed else math.inf
        return NodeResult(tuple(levels), allowed, False, cost, 0.0, cost, 0, 1)


def test_without_time_nothing_is_claimed_about_what_is_allowed():
    assert search(Valley(3, float_of), [3, 3, 3], seconds=60).cost == 3.0
    with pytest.raises(InvalidInput, match="in the time given"):
        search(Valley(3, float_of), [3, 3, 3], seconds=1e-9)
