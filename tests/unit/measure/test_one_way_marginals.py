from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.measure.one_way_marginals import (
    agreed_total,
    by_root,
    measure_singles,
    merged_sizes,
    rare_groups,
    settle,
)
from discreet.measure.private_marginals import Measured
from discreet.privacy.noise.laws import GaussianLaw
from synth_kit import marginals_of, random_codes, shape_of


def noisy(values, variance=100, column=0):
    return Measured((column,), np.array(values), GaussianLaw(Fraction(variance)))


def test_parts_add_up_exactly_and_grow_with_the_root():
    parts = by_root(Fraction(1, 3), [2, 3, 100, 1])
    assert sum(parts) == Fraction(1, 3)
    assert float(parts[2] / parts[3]) == pytest.approx(10)
    assert by_root(Fraction(1), []) == []


def test_the_root_beats_equal_parts_in_summed_error():
    """Expected L1 error of a Laplace histogram: cells / share."""
    sizes = [2, 5, 100, 85]

    def error(parts):
        return sum(size / part for size, part in zip(sizes, parts, strict=True))

    assert error(by_root(Fraction(1), sizes)) < error([Fraction(1, 4)] * 4)


def test_totals_are_weighed_by_their_precision():
    surer, weaker = noisy([60, 50], 1), noisy([10] * 20, 100)
    weights = (1 / 2, 1 / 2000)
    expected = (110 * weights[0] + 200 * weights[1]) / sum(weights)
    assert agreed_total([surer, weaker]) == pytest.approx(expected)


def test_a_negative_total_is_still_something_to_share_out():
    assert agreed_total([noisy([-50, -60])]) == 1.0
    assert settle([noisy([-50, -60])]).counts[0].sum() == pytest.approx(1.0)


def test_all_columns_agree_on_the_total():
    shape = shape_of(2, 6, 3)
    codes = random_codes(np.random.default_rng(1), shape, 500)
    singles = measure_singles(marginals_of(codes, shape), share=Fraction(1, 2))
    assert len(singles.counts) == 3
    for counts in singles.counts:
        assert counts.sum() == pytest.approx(singles.total)
        assert (counts >= 0).all()
    assert singles.deviation(1) < singles.deviation(0), "a larger column has the larger share"
    assert singles.unsure(1) > singles.unsure(0)


def test_rare_codes_are_put_together_last():
    singles = settle([noisy([500, 3, 400, 5, 2], 100)])
    groups = rare_groups(singles)[0]
    assert groups.tolist() == [0, 2, 1, 2, 2]
    assert merged_sizes(shape_of(5), {0: groups}) == (3,)
    assert merged_sizes(shape_of(5), {}) == (5,)


@pytest.mark.parametrize("values", [[500, 400, 5], [500, 600], [5, 3, 4]], ids=str)
def test_one_rare_code_or_nothing_but_rare_ones_are_left_alone(values):
    assert rare_groups(settle([noisy(values, 10_000 if max(values) < 9 else 100)])) == {}
