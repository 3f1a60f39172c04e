from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.measure.private_marginals import MarginalBudget
from discreet.work.synth.methods import correlated, tree
from synth_kit import marginals_of, shape_of

RICH = MarginalBudget(Fraction(10), concentrated=True)
SHAPE = shape_of(2, 2, 2, 3)


def parity(rows=4000):
    """The third column is the parity of the first two: no pair says anything, the triple all."""
    rng = np.random.default_rng(3)
    first, second, noise = (rng.integers(0, 2, rows) for _ in range(3))
    third = np.where(rng.random(rows) < 0.05, noise, first ^ second)
    # A faint trace in the pairs, so that the first two come to stand together.
    second = np.where(rng.random(rows) < 0.3, first, second)
    third = np.where(rng.random(rows) < 0.05, noise, first ^ second)
    last = rng.integers(0, 3, rows)
    return np.stack([first, second, third, last], axis=1).astype(np.int32)


def wrong_parity(model):
    table = model.marginal((0, 1, 2)) / model.total
    return sum(table[a, b, 1 - (a ^ b)] for a in (0, 1) for b in (0, 1))


def test_two_parents_see_what_pairs_cannot():
    codes = parity()
    two = correlated.fit(marginals_of(codes, SHAPE, budget=RICH), parents=2)
    one = tree.fit(marginals_of(codes, SHAPE, budget=RICH))
    assert wrong_parity(two) < 0.06
    assert wrong_parity(one) > 0.25
    assert max(len(node.parents) for node in two.nodes) == 2


def test_one_parent_makes_a_tree():
    model = correlated.fit(marginals_of(parity(), SHAPE, budget=RICH), parents=1)
    assert max(len(node.parents) for node in model.nodes) == 1


def test_a_useless_table_is_no_candidate():
    """So little budget that no pair is worth measuring: columns stay independent."""
    poor = MarginalBudget(Fraction(1, 10**7), concentrated=True)
    marginals = marginals_of(parity(), SHAPE, budget=poor)
    model = correlated.fit(marginals)
    assert all(not node.parents for node in model.nodes)
    assert marginals.left == Fraction(3, 5), "one-way marginals only"
    bold = correlated.fit(marginals_of(parity(), SHAPE, budget=poor), theta=1e-9)
    assert any(node.parents for node in bold.nodes)


def test_half_is_for_the_structure_and_half_for_the_tables():
    marginals = marginals_of(parity(), SHAPE, budget=RICH)
    shares = []
    for name in ("measure", "choose"):
        real = getattr(marginals, name)

        def watched(*given, real=real, name=name, **rest):
            several = name == "measure" and len(given[0][0]) > 1
            shares.append((several, rest["share"]))
            return real(*given, **rest)

        setattr(marginals, name, watched)
    correlated.fit(marginals)
    assert sum(share for several, share in shares if several) == Fraction(1, 2)
    assert sum(share for several, share in shares if not several) == Fraction(1, 2)


def test_the_default_number_of_parents_follows_the_sizes():
    assert correlated._default_parents([2, 2, 2], 16) == 3
    assert correlated._default_parents([10, 10, 10], 999) == 1
    assert correlated._default_parents([10, 10, 10], 1001) == 2
    assert correlated._default_parents([10, 10, 10], 3) == 1


@pytest.mark.parametrize("options", [{"parents": 0}, {"parents": 9}, {"theta": 0}, {"theta": -1}])
def test_options_that_make_no_sense_are_refused_before_anything_is_asked(options):
    marginals = marginals_of(parity(), SHAPE)
    with pytest.raises(InvalidInput, match="parents"):
        correlated.fit(marginals, **options)
    assert marginals.left == 1
