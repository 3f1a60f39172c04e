"""Distances of tables, Cramér's V, groups by size."""

import numpy as np
import pytest
from scipy.stats.contingency import association

from discreet.work.synth.report.quality import apart, cramers_v, groups, invented, shares


def test_shares_have_no_negative_part_and_always_add_up():
    assert shares(np.array([-3, 1, 3])).tolist() == [0.0, 0.25, 0.75]
    assert shares(np.array([-3, 0])).tolist() == [0.5, 0.5]


def test_total_variation_and_the_worst_cell():
    found = apart((0,), np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.3]))
    assert found.tvd == pytest.approx(0.1)
    assert found.worst == pytest.approx(0.1)


def test_cramers_v_is_scipys():
    table = np.random.default_rng(0).integers(1, 50, (4, 6))
    assert cramers_v(table) == pytest.approx(association(table, method="cramer"))


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[5, 5]], [[5, 5], [0, 0]]])
def test_cramers_v_of_a_table_that_says_nothing_is_zero(table):
    assert cramers_v(np.array(table)) == pytest.approx(0)


def test_groups_are_told_apart_by_the_first_sides_sizes():
    first = np.array([0.5, 0.45, 0.04, 0.0095, 0.0005, 0.0])
    second = np.array([0.25, 0.7, 0.04, 0.0095, 0.0, 0.0005])
    found = groups([(first, second)])
    assert [each.cells for each in found] == [2, 1, 1, 1]
    assert found[0].relative == pytest.approx((0.5 + 0.25 / 0.45) / 2)
    assert found[1].relative == 0
    assert found[3].relative == pytest.approx(1)
    assert invented([(first, second)]) == pytest.approx(0.0005)


def test_no_tables_no_groups():
    assert groups([]) == ()
    assert invented([]) == 0
