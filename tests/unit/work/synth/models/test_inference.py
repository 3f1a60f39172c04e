from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.measure.one_way_marginals import settle
from discreet.measure.private_marginals import Measured
from discreet.privacy.noise.laws import GaussianLaw
from discreet.work.synth.models.conditional_chain import ModelLink, infer
from synth_kit import shape_of

SHAPE = shape_of(2, 3, 2)


def measured(columns, values, variance):
    return Measured(columns, np.array(values), GaussianLaw(Fraction(variance)))


def story(seed=1, variance=(25, 100)):
    """One-way and two-way marginals of a chain 0 - 1 - 2, noisy and far from zero."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(200, 900, (2, 3, 2))
    noise = rng.integers(-30, 30, 100).tolist()

    def noisy(columns, size):
        others = tuple(axis for axis in range(3) if axis not in columns)
        exact = truth.sum(axis=others)
        return measured(columns, exact + np.resize(noise, exact.shape), size)

    ones = [noisy((column,), variance[0]) for column in range(3)]
    pairs = [noisy((0, 1), variance[1]), noisy((1, 2), variance[1])]
    links = [ModelLink(0, (), None), ModelLink(1, (0,), pairs[0]), ModelLink(2, (1,), pairs[1])]
    return ones, pairs, links


def slow_least_squares(ones, pairs):
    """Return the margins by one big weighted least squares over both tables at once."""
    rows, values, weights = [], [], []
    # Unknown: table 0-1 (6 cells), table 1-2 (6 cells), tied together by the margin of column 1.
    tables = np.eye(12).reshape(12, 12)
    first, second = tables[:6].reshape(2, 3, 12), tables[6:].reshape(3, 2, 12)
    for one, lines in zip(
        ones, (first.sum(axis=1), first.sum(axis=0), second.sum(axis=0)), strict=True
    ):
        rows += list(lines)
        values += one.values.tolist()
        weights += [1 / one.variance] * one.values.size
    for pair, lines in zip(pairs, (first.reshape(6, 12), second.reshape(6, 12)), strict=True):
        rows += list(lines)
        values += pair.values.ravel().tolist()
        weights += [1 / pair.variance] * 6
    tie = first.sum(axis=0) - second.sum(axis=1)
    normal = (np.array(rows).T * weights) @ np.array(rows)
    pulled = (np.array(rows).T * weights) @ np.array(values)
    system = np.block([[normal, tie.T], [tie, np.zeros((3, 3))]])
    solved = np.linalg.lstsq(system, np.concatenate([pulled, np.zeros(3)]), rcond=None)[0][:12]
    table = solved[:6].reshape(2, 3)
    return table.sum(axis=1), table.sum(axis=0), solved[6:].reshape(3, 2).sum(axis=0)


@pytest.mark.parametrize("variance", [(25, 100), (400, 9), (50, 50)])
def test_margins_and_total_equal_one_big_least_squares(variance):
    ones, pairs, links = story(variance=variance)
    network = infer(SHAPE, settle(ones), {}, links)
    expected = slow_least_squares(ones, pairs)
    assert network.total == pytest.approx(expected[0].sum(), rel=1e-9)
    for column in range(3):
        assert np.allclose(network.marginal((column,)), expected[column], rtol=1e-5)


def test_weighing_all_alike_would_be_seen():
    """The other side: with the variances swapped the margins differ."""
    ones, _pairs, links = story(variance=(25, 100))
    swapped = story(variance=(100, 25))
    one = infer(SHAPE, settle(ones), {}, links)
    two = infer(SHAPE, settle(swapped[0]), {}, swapped[2])
    assert not np.allclose(one.marginal((1,)), two.marginal((1,)), rtol=1e-5)


def test_without_noise_a_chain_is_found_again():
    rng = np.random.default_rng(4)
    first, second = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(2), 3)
    start = np.array([40_000, 60_000])
    one = start[:, None] * first
    two = one.sum(axis=0)[:, None] * second
    tiny = Fraction(1, 10)
    ones = [
        measured((0,), start, tiny),
        measured((1,), np.rint(one.sum(axis=0)).astype(int), tiny),
        measured((2,), np.rint(two.sum(axis=0)).astype(int), tiny),
    ]
    pairs = [
        measured((0, 1), np.rint(one).astype(int), tiny),
        measured((1, 2), np.rint(two).astype(int), tiny),
    ]
    # From the middle outwards: axes of a table need not be in the order of its columns.
    links = [ModelLink(1, (), None), ModelLink(0, (1,), pairs[0]), ModelLink(2, (1,), pairs[1])]
    network = infer(SHAPE, settle(ones), {}, links)
    assert np.abs(network.marginal((0, 1)) - one).max() < 5
    assert np.abs(network.marginal((1, 2)) - two).max() < 5


def test_merged_codes_share_their_group_by_their_own_counts():
    shape = shape_of(2, 4)
    ones = [measured((0,), [600, 400], 1), measured((1,), [900, 60, 30, 10], 1)]
    groups = {1: np.array([0, 1, 1, 1])}
    pair = measured((0, 1), [[560, 40], [340, 60]], 1)
    network = infer(shape, settle(ones), groups, [ModelLink(0, (), None), ModelLink(1, (0,), pair)])
    found = network.marginal((1,))
    assert np.allclose(found, [900, 60, 30, 10], atol=2)
    # Given either parent, the rare codes stand 6 : 3 : 1.
    table = network.marginal((0, 1))
    assert np.allclose(table[:, 1] / table[:, 3], found[1] / found[3])


def test_a_group_that_vanished_is_shared_evenly():
    shape = shape_of(3)
    ones = [measured((0,), [1000, -40, -50], 100)]
    network = infer(shape, settle(ones), {0: np.array([0, 1, 1])}, [ModelLink(0, (), None)])
    assert network.marginal((0,))[0] == pytest.approx(network.total)
