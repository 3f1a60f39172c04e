from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.measure.one_way_marginals import settle
from discreet.measure.private_marginals import Measured
from discreet.privacy.noise.laws import GaussianLaw
from discreet.work.synth.models.coarse import (
    KEPT,
    MOST_GROUPS,
    coarsen,
    gather,
    seen_ends,
    seen_rows,
    within,
)


def singles_of(*columns, variance=25):
    law = GaussianLaw(Fraction(variance))
    return settle([Measured((i,), np.array(c, dtype=np.int64), law) for i, c in enumerate(columns)])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("least", [1.0, 20.0, 500.0, 1e9])
def test_groups_have_no_gaps_and_are_large_enough(seed, least):
    counts = np.random.default_rng(seed).exponential(30.0, 60)
    groups = gather(counts, least)
    assert set(groups.tolist()) == set(range(groups.max() + 1))
    sums = np.bincount(groups, weights=counts)
    alone = np.bincount(groups) == 1
    gathered = sums[~alone]
    assert (gathered[:-1] >= least).all(), "only the last may be a smaller rest"
    assert gathered.size <= 1 or gathered[-1] >= least / 2
    heavy = counts >= least / 2
    assert all((groups == groups[code]).sum() == 1 for code in np.flatnonzero(heavy))


def test_neighbours_are_gathered_and_a_small_rest_joins_the_last_group():
    assert gather(np.array([4.0, 4, 4, 4, 1]), 8).tolist() == [0, 1, 2, 3, 4]
    assert gather(np.array([3.0, 3, 3, 3, 3, 3, 1]), 9).tolist() == [0, 0, 0, 1, 1, 1, 1]


def test_small_columns_are_left_alone_and_large_ones_are_not():
    flat = np.full(200, 50)
    groups = coarsen(singles_of(np.full(KEPT, 500), flat), deviation=50.0)
    assert groups[0].tolist() == list(range(KEPT))
    assert 2 < groups[1].max() + 1 < 20
    finer = coarsen(singles_of(np.full(KEPT, 500), flat), deviation=5.0)
    assert finer[1].max() > groups[1].max()


def test_there_are_never_so_many_groups_that_a_pair_would_not_fit():
    groups = coarsen(singles_of(np.full(4000, 10**6)), deviation=1.0)
    assert groups[0].max() + 1 <= 2 * MOST_GROUPS + 1


def test_codes_that_differ_by_noise_alone_become_nearly_equal_and_peaks_stay():
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 30, 40)
    flat = np.rint(100 + noise)
    peak = flat.copy()
    peak[5] += 3000
    groups = (np.zeros(40, dtype=np.int64),)
    for values, top in ((flat, 0.05), (peak, 1.0)):
        singles = singles_of(values.astype(np.int64), variance=900)
        (chances,) = within(singles, groups, [np.array([values.sum()])])
        assert chances.sum() == pytest.approx(1)
        assert (chances >= 0).all()
        assert chances.max() < top
    assert chances[5] > 0.3
    raw = np.abs(flat / flat.sum() - 1 / 40).sum()
    singles = singles_of(flat.astype(np.int64), variance=900)
    (calm,) = within(singles, groups, [np.array([flat.sum()])])
    assert np.abs(calm - 1 / 40).sum() < raw / 2


def test_each_group_adds_up_to_one_whatever_the_noise_says():
    singles = singles_of([-50, -3, -9, -100], [0, 0, 0, 0])
    groups = (np.array([0, 0, 0, 1]), np.array([0, 1, 1, 2]))
    for chances, each in zip(
        within(singles, groups, [np.array([0.0, 5.0]), np.zeros(3)]), groups, strict=True
    ):
        assert np.allclose(np.bincount(each, weights=chances), 1)


def test_a_tail_is_cut_only_where_its_nearest_sums_are_noise():
    """Many bins with a little each are rows, whatever the noise far out takes away again."""
    seen = [400] * 6
    thin, far = [8] * 30, [-9] * 40  # noise of 10 each: none of them is seen
    ends = seen_ends(singles_of([*seen, *thin, *far], variance=100), {0: 76})[0]
    assert ends[0] == 0
    assert ends[1] >= 25
    ends = seen_ends(singles_of([*seen, *([1, -1] * 15), *far], variance=100), {0: 76})[0]
    assert ends[1] <= 8


def test_rows_beyond_an_end_open_bins_instead_of_piling_up():
    counts = [400] * 24 + [0] * 40
    singles = singles_of(counts, variance=100)
    ends = {0: (0, 23, 64)}
    groups = coarsen(singles, 1.0, ends)
    rows = np.bincount(groups[0], weights=np.array(counts, dtype=np.float64))
    (inside,) = within(singles, groups, [rows], ends)
    assert (inside[24:] == 0).all()
    rows[groups[0][23]] += 100  # other tables saw a hundred rows more
    (inside,) = within(singles, groups, [rows], ends)
    placed = inside[23:] * rows[groups[0][23]]
    assert placed[0] == pytest.approx(400, abs=30)  # piled up it would be 500: ten deviations
    assert placed[1:11].sum() == pytest.approx(100, abs=30)
    assert (placed[12:] == 0).all()


def test_what_was_counted_beyond_an_end_counts_for_half_and_is_never_taken_away():
    noisy, groups = np.array([50.0, 10.0, -30.0, 8.0]), np.array([0, 0, 1, 1])
    live = np.array([True, False, False, True])
    values, spread = seen_rows(noisy, 4.0, groups, live)
    assert values.tolist() == [55.0, 8.0]
    assert spread.tolist() == [5.0, 5.0]
