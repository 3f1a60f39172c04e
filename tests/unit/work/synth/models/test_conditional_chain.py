from __future__ import annotations

import copy

import numpy as np
import pytest

from discreet.errors import InternalError, InvalidInput
from discreet.work.synth.models.conditional_chain import Network, Node, read_network
from synth_kit import shape_of

SHAPE = shape_of(2, 3)
FIRST = Node(0, (), np.array([0.25, 0.75]))
SECOND = Node(1, (0,), np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]))


def network() -> Network:
    return Network(SHAPE, 80.0, (FIRST, SECOND))


def test_marginals_multiply_the_chances():
    assert network().marginal((0,)).tolist() == [20.0, 60.0]
    assert np.allclose(network().marginal((0, 1)), [[4, 6, 10], [60, 0, 0]])
    assert np.allclose(network().marginal((1, 0)), [[4, 60], [6, 0], [10, 0]])
    assert np.allclose(network().marginal((1,)), [64, 6, 10])


def test_counts_of_rows_stay_within_one_of_their_expectation():
    codes = network().sample(1000, dice=np.random.default_rng(3))
    counts = np.zeros((2, 3))
    np.add.at(counts, (codes[:, 0], codes[:, 1]), 1)
    assert np.abs(counts - network().marginal((0, 1)) * 1000 / 80).max() <= 2
    assert counts[1, 1] == counts[1, 2] == 0


def test_a_condition_that_cannot_be_met_is_refused():
    impossible = {0: np.array([False, True]), 1: np.array([False, True, True])}
    with pytest.raises(InvalidInput, match="no chance"):
        network().sample(5, dice=np.random.default_rng(1), given=impossible)


def test_no_condition_at_all_is_an_empty_one():
    one, two = (
        network().sample(50, dice=np.random.default_rng(1), given=given) for given in ({}, None)
    )
    assert (one == two).all()


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ((FIRST,), "each column"),
        ((FIRST, FIRST), "each column"),
        ((SECOND, FIRST), "parents"),
        ((FIRST, Node(1, (), np.array([0.5, 0.5]))), "shape"),
        ((FIRST, Node(1, (), np.array([0.5, 0.6, 0.0]))), "add up"),
        ((FIRST, Node(1, (), np.array([1.5, -0.5, 0.0]))), "negative"),
        ((FIRST, Node(1, (), np.array([np.nan, 0.5, 0.5]))), "finite"),
        ((FIRST, Node(1, (0, 0), np.ones((2, 2, 3)) / 3)), "own parent"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parts_that_do_not_fit_are_our_own_mistake(nodes, why):
    with pytest.raises(InternalError, match=why):
        Network(SHAPE, 1.0, nodes)


def test_parents_that_never_stood_together_are_refused():
    shape = shape_of(2, 2, 2)
    half = np.array([0.5, 0.5])
    with pytest.raises(InternalError, match="stand together"):
        Network(
            shape,
            1.0,
            (Node(0, (), half), Node(1, (), half), Node(2, (0, 1), np.full((2, 2, 2), 0.5))),
        )


@pytest.mark.parametrize("total", [-1.0, np.inf, np.nan])
def test_a_total_is_a_number_of_rows(total):
    with pytest.raises(InternalError, match="number of rows"):
        Network(SHAPE, total, (FIRST, SECOND))


HOSTILE = {
    "no names": lambda d: d.pop("names"),
    "names too short": lambda d: d["names"].pop(),
    "a size of 0": lambda d: d["sizes"].__setitem__(0, 0),
    "a size that is text": lambda d: d["sizes"].__setitem__(0, "2"),
    "a size that is true": lambda d: d["sizes"].__setitem__(0, True),
    "huge sizes": lambda d: d["sizes"].__setitem__(0, 10**18),
    "no nodes": lambda d: d.__setitem__("nodes", []),
    "nodes that are text": lambda d: d.__setitem__("nodes", "abc"),
    "a column out of range": lambda d: d["nodes"][0].__setitem__("column", 7),
    "a negative column": lambda d: d["nodes"][0].__setitem__("column", -1),
    "a parent out of range": lambda d: d["nodes"][1].__setitem__("parents", [9]),
    "chances too few": lambda d: d["nodes"][1]["chances"].pop(),
    "chances that are text": lambda d: d["nodes"][0].__setitem__("chances", ["a", "b"]),
    "negative chances": lambda d: d["nodes"][0].__setitem__("chances", [1.5, -0.5]),
    "chances beyond 1": lambda d: d["nodes"][0].__setitem__("chances", [1.5, 1.5]),
    "infinite chances": lambda d: d["nodes"][0].__setitem__("chances", [float("inf"), 0]),
    "no total": lambda d: d.pop("total"),
    "a total that is text": lambda d: d.__setitem__("total", "many"),
    "a negative total": lambda d: d.__setitem__("total", -5),
    "an infinite total": lambda d: d.__setitem__("total", 10**400),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_with_a_sentence(case):
    data = copy.deepcopy(network().to_json())
    HOSTILE[case](data)
    with pytest.raises(InvalidInput):
        read_network(data)


def test_json_gives_the_same_network():
    again = read_network(network().to_json())
    assert again.to_json() == network().to_json()
    assert again.shape == SHAPE
