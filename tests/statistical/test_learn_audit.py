"""An audit of a learner's sums: the lower bound on epsilon keeps the claim, a broken twin does not.

Both bounds are Clopper-Pearson at ALPHA: a correct door fails this once in 10^6 runs.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.testing import SeededRng
from discreet.work.learn.private_rows import FARTHEST, WHOLE, Grouping, PaidRows, PrivateResiduals
from learning import codes, encoding

ALPHA = 1e-6
DRAWS = 1500
CLAIM = 1


class HalfTheNoise(PrivateResiduals):
    """The twin: noise for half of what a row can do."""

    def _reach(self):
        return super()._reach() // 2


def sums(residuals_type, rows, seed):
    """Return many noisy sums of residuals over all rows, each by a door of its own."""
    shape = encoding().shape
    everyone = Grouping((0,), (np.zeros(11, dtype=np.int64),))
    paid = PaidRows(rows, shape, 2)
    paid.add(everyone, np.full(1, -FARTHEST))  # certain of the first class: residuals are extreme
    dice = SeededRng(seed)
    budget = MarginalBudget(Fraction(CLAIM), concentrated=False)
    return np.array(
        [
            residuals_type(paid, budget, CountSensitivity(), dice)
            .residual_sums(everyone, share=Fraction(1))
            .values.item()
            for _ in range(DRAWS)
        ]
    )


def lower_bound(residuals_type):
    rows = codes(20)
    more = np.concatenate([rows, np.array([[0, 0, 1]], dtype=np.int32)])
    with_, without = sums(residuals_type, more, 1), sums(residuals_type, rows, 2)
    bar = float(np.round((rows[:, 2] == 1).sum() + 1))  # where the two laws differ most
    hits, misses = int((with_ >= bar).sum()), int((without >= bar).sum())
    low = beta.ppf(ALPHA / 2, hits, DRAWS - hits + 1)
    high = beta.ppf(1 - ALPHA / 2, misses + 1, DRAWS - misses)
    return math.log(low / high)


def test_the_claim_holds_and_the_twin_is_caught():
    assert WHOLE == 1024
    assert 0.3 < lower_bound(PrivateResiduals) <= CLAIM
    assert lower_bound(HalfTheNoise) > CLAIM


@pytest.mark.slow
def test_the_claim_holds_for_more_draws(monkeypatch):
    monkeypatch.setattr(f"{__name__}.DRAWS", 40_000)
    assert 0.8 < lower_bound(PrivateResiduals) <= CLAIM
