"""Drawing with given columns follows the model exactly: against the full joint table."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.testing import ALPHA
from discreet.work.synth.models.junction_tree import drawing_cells, drawing_order, spread
from discreet.work.synth.models.maximum_entropy import layered
from synth_kit import shape_of

SIZES = (3, 2, 4, 2, 3)
GIVEN = (3, 4)
SETS = [(0, 1), (1, 2), (0, 3), (2, 4), (3, 4)]


def model(seed=1):
    rng = np.random.default_rng(seed)
    parts = {s: rng.normal(size=[SIZES[c] for c in s]) for s in [(0,), (1,), *SETS]}
    parts |= {(c,): np.zeros(SIZES[c]) for c in range(5) if (c,) not in parts}
    groups = tuple(np.arange(size) for size in SIZES)
    return layered(shape_of(*SIZES), 100.0, groups, tuple(np.ones(s) for s in SIZES), parts)


@pytest.mark.parametrize("known", [(0, 0), (1, 2)])
def test_rows_follow_the_conditional_law(known):
    found = model()
    joint = np.zeros(SIZES)
    for columns, part in found.parts.items():
        joint = joint + spread(part, columns, tuple(range(5)))
    law = np.exp(joint)[..., known[0], known[1]]
    law /= law.sum()
    rows = 60_000
    drawn = found.draw_given(
        GIVEN,
        np.tile(np.array(known, dtype=np.int32), (rows, 1)),
        dice=np.random.default_rng(2),
    )
    counts = np.zeros(law.shape)
    np.add.at(counts, tuple(drawn.T), 1)
    apart = np.sqrt(np.log(2 * law.size / ALPHA) / (2 * rows))
    assert np.abs(counts / rows - law).max() < apart
    other = np.exp(joint)[..., 1 - known[0], known[1]]
    assert np.abs(counts / rows - other / other.sum()).max() > apart  # or this could not fail


def test_each_row_is_drawn_by_its_own_values():
    found = model()
    known = np.array([[0, 0], [1, 2]] * 5_000, dtype=np.int32)
    drawn = found.draw_given(GIVEN, known, dice=np.random.default_rng(3))
    shares = [np.bincount(drawn[i::2, 0], minlength=3) / 5_000 for i in (0, 1)]
    assert np.abs(shares[0] - shares[1]).max() > 0.02


def test_the_order_covers_every_open_column_once():
    families = drawing_order(SIZES, SETS, GIVEN)
    assert sorted(family[-1] for family in families) == [0, 1, 2]
    seen = set(GIVEN)
    for family in families:
        assert set(family[:-1]) <= seen
        seen.add(family[-1])
    assert drawing_cells(SIZES, SETS, GIVEN) >= sum(SIZES[:3])
