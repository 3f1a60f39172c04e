"""Running totals: the factorisation is exact, its price is, and its error is what is promised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.privacy.account.tally import tally
from discreet.privacy.noise.rng import SystemRng
from discreet.work.publish.totals import LATTICE, RunningTotals, running_totals

ALPHA = 1e-9


def test_the_error_on_the_last_day_of_a_year() -> None:
    # One day alone at the same privacy, rho 1/2, has sigma 1.
    errors = running_totals(365, rho=Fraction(1, 2)).errors()
    assert errors[-1] == pytest.approx(2.94, abs=0.01)
    assert errors[-1] <= 3.5
    assert (np.diff(errors) > 0).all()


def test_without_noise_the_totals_are_exact() -> None:
    plan = running_totals(50, rho=Fraction(1))
    counts = np.random.default_rng(3).integers(0, 100, size=50)
    weights = np.array(plan.weights)
    exact = np.array([weights[: t + 1] @ counts[: t + 1][::-1] for t in range(50)])
    assert plan.totals(exact) == pytest.approx(np.cumsum(counts), abs=1e-6)
    assert plan.totals(exact[:7]) == pytest.approx(np.cumsum(counts)[:7], abs=1e-6)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_price_is_the_rho_that_was_asked(neighbours: Neighbours) -> None:
    plan = running_totals(100, rho=Fraction(1, 10), neighbours=neighbours)
    assert tally(plan.event).rho == Fraction(1, 10)


def test_no_row_moves_the_measurements_by_more_than_is_paid() -> None:
    plan = running_totals(40, rho=Fraction(1))
    weights = np.array(plan.weights, dtype=object)
    for day in (0, 3, 39):
        moved = [0] * day + list(weights[: 40 - day])
        assert sum(step * step for step in moved) <= plan.moved_squared
    assert sum(w * w for w in weights) == plan.moved_squared
    # The lattice costs accuracy only, and hardly any of it.
    assert plan.weights[1] == LATTICE // 2


def test_a_row_that_moves_to_another_day_is_paid_for_and_the_twin_for_one_day_is_not() -> None:
    plan = running_totals(12, rho=Fraction(1), neighbours=Neighbours.REPLACE_ONE)
    alone = running_totals(12, rho=Fraction(1))
    days = [np.array([0] * day + list(plan.weights[: 12 - day]), dtype=object) for day in range(12)]
    worst = max(int(((one - other) ** 2).sum()) for one in days for other in days)
    assert worst <= plan.moved_squared
    assert worst > alone.moved_squared
    assert plan.sigma_squared / alone.sigma_squared == plan.moved_squared / alone.moved_squared


def test_measured_errors_are_the_computed_ones() -> None:
    # 2,000 releases of 30 days; a chi-square of 2,000 degrees at ALPHA on both sides.
    plan = running_totals(30, rho=Fraction(1, 2))
    counts = np.arange(30) % 7
    rng = SystemRng()
    wrong = np.array([plan.totals(plan.measure(counts, rng=rng)) for _ in range(2000)])
    wrong -= np.cumsum(counts)
    for day in (0, 12, 29):
        ratio = float((wrong[:, day] ** 2).mean()) / plan.errors()[day] ** 2
        assert abs(ratio - 1) < 0.2  # 6.3 standard deviations of the mean square
    halved = RunningTotals(30, plan.weights, plan.sigma_squared / 4, plan.neighbours)
    ratio = float((wrong[:, 29] ** 2).mean()) / halved.errors()[29] ** 2
    assert abs(ratio - 1) > 0.2  # a plan with half the noise would be caught


def test_days_that_were_measured_are_not_measured_again() -> None:
    plan = running_totals(10, rho=Fraction(1))
    rng = SystemRng()
    first = plan.measure([5, 6, 7], rng=rng)
    rest = plan.measure([5, 6, 7, 8], after=3, rng=rng)
    assert len(first) == 3
    assert len(rest) == 1
    with pytest.raises(InvalidInput, match="horizon"):
        plan.measure([1] * 11, rng=rng)


def test_bad_horizons_get_one_sentence() -> None:
    for days, rho in ((0, 1), (10**6, 1), (5, 0)):
        with pytest.raises(InvalidInput):
            running_totals(days, rho=Fraction(rho))
