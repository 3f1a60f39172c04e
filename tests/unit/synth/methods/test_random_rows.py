from __future__ import annotations

import numpy as np

from discreet.synth.methods import random_rows
from synth_kit import door_to, shape_of

SHAPE = shape_of(2, 5)


class NoCounter:
    def marginals(self, wanted):
        raise AssertionError("the random method read something")


def test_it_reads_nothing_and_costs_nothing():
    door = door_to(np.zeros((3, 2), dtype=np.int32), SHAPE)
    door._counter = NoCounter()
    model = random_rows.fit(door, rows=50)
    assert door.events == []
    assert door.left == 1
    assert model.total == 50
    assert model.marginal((1,)).tolist() == [10.0] * 5
