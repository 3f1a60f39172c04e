import math

import numpy as np
import pytest
from scipy.stats import binomtest

from discreet.errors import InvalidInput
from discreet.noise.bars.estimate import (
    ShareEstimate,
    estimate_coin_response,
    estimate_kary,
    estimate_response,
    selection_loss,
    truth_of,
)
from discreet.noise.select import exponential_rows
from discreet.testing.rng import SeededRng

ALPHA = 1e-9


def test_fair_coin_estimate_is_twice_the_share_less_one_half():
    for yes in (0, 30, 45, 90):
        assert math.isclose(
            estimate_coin_response(yes, 90, "1/2").value, 2 * yes / 90 - 0.5, abs_tol=1e-12
        )


def test_truth_is_tanh_of_half_epsilon():
    for truth in (0.1, 0.5, 0.9):
        assert math.isclose(truth_of(math.log((1 + truth) / (1 - truth))), truth)


def test_both_forms_agree():
    one = estimate_response(40, 90, math.log(3))
    other = estimate_coin_response(40, 90, "1/2")
    assert math.isclose(one.value, other.value)
    assert math.isclose(one.low, other.low)


def test_estimates_are_clipped_only_on_request():
    estimate = estimate_coin_response(0, 90, "1/2")
    assert estimate.value == -0.5
    assert estimate.clipped().value == 0
    assert estimate.clipped().low == 0


def test_interval_contains_the_value():
    estimate = estimate_response(41, 90, 1)
    assert estimate.low < estimate.value < estimate.high
    assert isinstance(estimate, ShareEstimate)


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_coverage_of_the_interval(share):
    # 4,000 surveys of 200 people: coverage at least 95 % and not much more.
    surveys, people, truth = 4000, 200, 0.5
    chance = share * (1 + truth) / 2 + (1 - share) * (1 - truth) / 2
    generator = np.random.default_rng(3)  # plays the population; no guarantee hangs on it
    reports = generator.binomial(people, chance, size=surveys)
    found = {yes: estimate_coin_response(int(yes), people, "1/2") for yes in set(reports.tolist())}
    covered = sum(found[yes].low <= share <= found[yes].high for yes in reports.tolist())
    assert binomtest(covered, surveys, 0.95, alternative="less").pvalue > ALPHA
    assert binomtest(covered, surveys, 0.985, alternative="greater").pvalue > ALPHA
    assert binomtest(covered, surveys, 0.90, alternative="two-sided").pvalue < ALPHA


def test_kary_estimates_undo_the_expected_reports():
    k, epsilon, total = 4, 1.0, 10**6
    power = math.exp(epsilon)
    shares = np.array([0.7, 0.2, 0.1, 0.0])
    expected = (shares * power + (1 - shares)) / (power + k - 1)
    codes = np.repeat(np.arange(k), np.round(expected * total).astype(int))
    estimates = estimate_kary(codes, k, epsilon)
    for estimate, share in zip(estimates, shares, strict=True):
        assert abs(estimate.value - share) < 1e-5
        assert estimate.low < share < estimate.high


def test_selection_loss_of_the_documents():
    assert math.isclose(selection_loss(10_000, 1, 1, "0.05"), 2 * math.log(200_000))


def test_selection_loss_holds():
    # One best candidate and 999 others just at the bound: they win with probability at most beta.
    bound = selection_loss(1000, 1, 1, "0.05")
    utilities = np.zeros((4000, 1000), dtype=np.int64)
    utilities[:, 0] = math.ceil(bound)
    lost = int((exponential_rows(utilities, 1, 1, rng=SeededRng(1)) != 0).sum())
    assert binomtest(lost, 4000, 0.05, alternative="greater").pvalue > ALPHA
    assert lost > 100, "the bound is far from tight: the test could not have caught a bug"


def test_nonsense_is_refused():
    for yes, reports in ((1, 0), (5, 4), (-1, 4)):
        with pytest.raises(InvalidInput):
            estimate_response(yes, reports, 1)
    with pytest.raises(InvalidInput):
        estimate_coin_response(1, 2, 0)
    with pytest.raises(InvalidInput):
        estimate_kary([4], 3, 1)
    with pytest.raises(InvalidInput):
        selection_loss(10, 1, 1, 0)
