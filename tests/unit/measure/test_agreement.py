"""Chi-square of a model against its own noisy tables: right models pass, wrong ones do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.measure.private_marginals import LEAST, Measured, agreement, chance_beyond
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw

DICE = np.random.default_rng(11)
LAWS = {"gaussian": GaussianLaw(Fraction(100)), "laplace": LaplaceLaw(Fraction(7))}


class Truth:
    """Counts of two columns, as a model would tell them."""

    def __init__(self, table):
        self.table = table

    def marginal(self, columns):
        gone = tuple(axis for axis in (0, 1) if axis not in columns)
        return self.table.sum(axis=gone)


def noisy(law, table, columns=(0, 1), merged=None):
    size = float(law.variance) ** 0.5
    drawn = (
        DICE.normal(0, size, table.shape)
        if isinstance(law, GaussianLaw)
        else DICE.laplace(0, float(law.scale), table.shape)
    )
    return Measured(columns, np.rint(table + drawn).astype(np.int64), law, merged or {})


TABLE = DICE.integers(0, 400, (12, 9)).astype(np.float64)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_truth_agrees_and_a_shifted_table_does_not(law):
    measured = [noisy(law, TABLE), noisy(law, TABLE.sum(axis=1), (0,))]
    chances = [
        agreement([noisy(law, TABLE), noisy(law, TABLE.sum(axis=1), (0,))], Truth(TABLE)).chance
        for _ in range(200)
    ]
    assert min(chances) > LEAST
    assert np.median(chances) < 1
    assert not agreement(measured, Truth(np.roll(TABLE, 1, axis=0))).holds
    assert agreement(measured, Truth(np.roll(TABLE, 1, axis=0))).worst in {(0,), (0, 1)}


def test_one_wrong_cell_in_one_small_table_is_seen_among_many():
    law = LAWS["gaussian"]
    measured = [*(noisy(law, TABLE) for _ in range(20)), noisy(law, TABLE.sum(axis=1), (0,))]
    values = measured[-1].values.copy()
    values[3] += 100
    measured[-1] = Measured((0,), values, law)
    found = agreement(measured, Truth(TABLE))
    assert not found.holds
    assert found.worst == (0,)


def test_groups_of_codes_are_compared_by_group():
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    summed = TABLE.reshape(4, 3, 9).sum(axis=1)
    measured = [noisy(LAWS["gaussian"], summed, merged={0: groups})]
    assert agreement(measured, Truth(TABLE)).holds
    assert not agreement(measured, Truth(TABLE[::-1])).holds


def test_numbers_that_are_none_never_agree():
    measured = [noisy(LAWS["gaussian"], TABLE)]
    assert agreement(measured, Truth(np.full_like(TABLE, np.nan))).chance == 0
    assert agreement(measured, Truth(np.full_like(TABLE, np.inf))).chance == 0
    assert agreement([], Truth(TABLE)).holds


def test_the_tail_is_that_of_chi_square():
    stats = pytest.importorskip("scipy.stats")
    for degrees in (1, 3, 10, 100, 10_000):
        for chance in (0.5, 1e-2, 1e-6):
            found = chance_beyond(float(stats.chi2.isf(chance, degrees)), degrees)
            assert chance / 5 < found < 5 * chance
