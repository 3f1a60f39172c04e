from __future__ import annotations

import numpy as np

from discreet.measure.shape import merge_counts


def test_every_row_stays_in_exactly_one_cell():
    counts = np.arange(24).reshape(2, 3, 4)
    merges = {5: np.array([1, 0, 1]), 9: np.array([0, 0, 0, 1])}
    found = merge_counts(counts, (2, 5, 9), merges)
    assert found.shape == (2, 2, 2)
    assert found.sum() == counts.sum()
    assert found[1, 1, 0] == counts[1, [0, 2]][:, :3].sum()


def test_columns_without_groups_stay_as_they_are():
    counts = np.arange(6).reshape(2, 3)
    assert merge_counts(counts, (0, 1), {}) is counts
    assert merge_counts(counts, (0, 1), {7: np.array([0, 0])}) is counts
