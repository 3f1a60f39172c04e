from __future__ import annotations

import numpy as np

from discreet.work.synth.methods import random_rows
from synth_kit import marginals_of, shape_of

SHAPE = shape_of(2, 5)


class NoCounter:
    def marginals(self, wanted):
        raise AssertionError("the random method read something")


def test_it_reads_nothing_and_costs_nothing():
    marginals = marginals_of(np.zeros((3, 2), dtype=np.int32), SHAPE)
    marginals._counter = NoCounter()
    model = random_rows.fit(marginals, rows=50)
    assert marginals.events == []
    assert marginals.left == 1
    assert model.total == 50
    assert model.marginal((1,)).tolist() == [10.0] * 5
