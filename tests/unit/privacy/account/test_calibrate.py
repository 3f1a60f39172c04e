from fractions import Fraction

import pytest

from discreet.base.numbers import Delta, Epsilon
from discreet.errors import InvalidInput
from discreet.privacy.account.convert import epsilon_of_rho
from discreet.privacy.account.discrete_gaussian import delta_bounds
from discreet.privacy.account.price import (
    gaussian_epsilon,
    gaussian_sigma_squared,
    laplace_scale,
    rho_for,
)
from patience import quickest, slowness

TARGETS = [
    (shift, epsilon, delta)
    for shift in (1, 3, 50_000_000)
    for epsilon in ("0.01", "1", "3", "8")
    for delta in ("1e-3", "1e-6", "1e-12")
]


def test_laplace_scale_is_exact():
    assert laplace_scale(1, Epsilon.of("0.1")) == 10
    assert laplace_scale(Fraction(3), Epsilon.of("0.7")) == Fraction(30, 7)


@pytest.mark.parametrize(("shift", "epsilon", "delta"), TARGETS)
def test_one_coordinate_meets_its_target_and_hardly_more(shift, epsilon, delta):
    target, failure = Epsilon.of(epsilon), Delta.of(delta)
    found = gaussian_sigma_squared(Fraction(shift) ** 2, target, failure, 1)
    _, high = delta_bounds(sigma_squared=found, shift=shift, epsilon=target.value)
    assert high <= failure.value
    less = found * (1 - Fraction(3, 10**6))
    low, _ = delta_bounds(sigma_squared=less, shift=shift, epsilon=target.value)
    assert low > failure.value, "a variance smaller by three millionths would have done"


@pytest.mark.parametrize(("shift", "epsilon", "delta"), TARGETS)
def test_many_coordinates_meet_their_target_in_zcdp(shift, epsilon, delta):
    target, failure = Epsilon.of(epsilon), Delta.of(delta)
    squared = Fraction(shift) ** 2
    found = gaussian_sigma_squared(squared, target, failure)
    assert epsilon_of_rho(squared / (2 * found), failure.value) <= target.value
    less = found * (1 - Fraction(1, 10**5))
    assert epsilon_of_rho(squared / (2 * less), failure.value) > target.value
    assert gaussian_sigma_squared(squared, target, failure, 1) <= found


@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
@pytest.mark.parametrize("variance", ["0.3", "5", "3000", "1e8"])
def test_gaussian_epsilon_is_the_least_that_holds(variance, delta):
    sigma_squared, failure = Fraction(variance), Fraction(delta)
    found = gaussian_epsilon(sigma_squared, 1, failure)
    high = delta_bounds(sigma_squared=sigma_squared, shift=1, epsilon=found)[1]
    assert high <= failure
    if found:
        less = found * (1 - Fraction(1, 10**5))
        low = delta_bounds(sigma_squared=sigma_squared, shift=1, epsilon=less)[0]
        assert low > failure


def test_rho_and_back():
    rho = rho_for(Epsilon.of(1), Delta.of("1e-6"))
    back = epsilon_of_rho(rho.value, Fraction(1, 10**6))
    assert float(back) == pytest.approx(1.0, abs=1e-9)


def test_what_cannot_be_calibrated_is_refused():
    with pytest.raises(InvalidInput, match="delta greater than 0"):
        gaussian_sigma_squared(1, Epsilon.of(1), Delta.of(0))
    with pytest.raises(InvalidInput, match="needs no noise"):
        gaussian_sigma_squared(0, Epsilon.of(1), Delta.of("1e-6"))
    with pytest.raises(InvalidInput, match="no finite epsilon"):
        gaussian_epsilon(Fraction(1), 1, Fraction(0))


def test_calibration_is_quick():
    """Typically under 5 ms; ten times that here, because other tests may be running."""

    def sigmas(turn):
        for digit in range(20):
            gaussian_sigma_squared(1, Epsilon.of(f"0.{digit + 11}{turn}7"), Delta.of("1e-7"), 1)

    assert quickest(sigmas) / 20 < 0.05 * slowness()


def test_an_epsilon_beyond_what_a_float_can_raise_e_to_is_priced():
    assert 0 < gaussian_epsilon(Fraction(1, 4000), 1, Fraction(1, 10**9)) <= 10**4
