from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.base.event import Laplace
from discreet.errors import InvalidInput
from discreet.measure.private_marginals import MarginalBudget
from discreet.work.synth.methods import independent
from synth_kit import PURE, marginals_of, random_codes, shape_of

SHAPE = shape_of(2, 50, 21)
CODES = random_codes(np.random.default_rng(5), SHAPE, 4000)
RICH = MarginalBudget(Fraction(10), concentrated=True)


def test_histograms_are_near_the_rows():
    model = independent.fit(marginals_of(CODES, SHAPE, budget=RICH))
    for column, size in enumerate(SHAPE.sizes):
        exact = np.bincount(CODES[:, column], minlength=size)
        assert np.abs(model.marginal((column,)) - exact).sum() < 0.05 * len(CODES)
    assert all(not node.parents for node in model.nodes)


def test_the_published_mode_splits_epsilon_evenly_over_twenty_bins():
    marginals = marginals_of(CODES, SHAPE, budget=PURE)
    model = independent.fit(marginals, bins=20, split="equal")
    assert marginals.events == [Laplace(Fraction(3, 2), Fraction(1))] * 3
    assert marginals.left == 0
    # 50 codes in 20 bars: two or three neighbours each, made up evenly again.
    chances = model.nodes[1].table
    assert len(np.unique(chances)) <= 20
    assert chances[0] == chances[1] == chances[2]
    assert len(model.nodes[0].table) == 2


def test_the_default_gives_large_columns_more():
    marginals = marginals_of(CODES, SHAPE, budget=PURE)
    independent.fit(marginals)
    scales = [event.scale for event in marginals.events]
    assert scales[0] > scales[2] > scales[1]
    assert marginals.left == 0


@pytest.mark.parametrize("options", [{"split": "fair"}, {"bins": 0}, {"bins": -3}])
def test_options_that_make_no_sense_are_refused(options):
    marginals = marginals_of(CODES, SHAPE)
    with pytest.raises(InvalidInput, match="splits by"):
        independent.fit(marginals, **options)
    assert marginals.left == 1
