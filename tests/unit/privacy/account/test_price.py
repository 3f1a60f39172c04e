from fractions import Fraction

import pytest

from discreet.base.event import (
    EVERYONE,
    FREE,
    NOTHING,
    Approximate,
    Composed,
    Concentrated,
    Cost,
    Failing,
    Gaussian,
    Laplace,
    NonPrivate,
    Positions,
    Pure,
    Region,
    Repeated,
    Sampled,
    Select,
)
from discreet.base.numbers import Delta, Epsilon
from discreet.errors import InternalError, InvalidInput
from discreet.privacy.account.convert import epsilon_of_rho, rho_of_pure
from discreet.privacy.account.discrete_gaussian import delta_bounds
from discreet.privacy.account.price import gaussian_sigma_squared, price
from patience import quickest, slowness

ONE = Fraction(1)
MICRO = Fraction(1, 10**6)


def cost(event, epsilon="1", delta="1e-6"):
    return price(event, epsilon=Epsilon.of(epsilon), delta=Delta.of(delta)).cost


def test_laplace_costs_what_was_written_when_it_is_enough():
    assert cost(Laplace(Fraction(10), ONE), "0.1") == Cost(
        Fraction(1, 10), Fraction(0), rho_of_pure(Fraction(1, 10)), Fraction(0)
    )


def test_laplace_costs_the_truth_when_less_was_written():
    assert cost(Laplace(Fraction(3), ONE), "0.3").epsilon == Fraction(1, 3)


def test_nothing_is_free():
    assert cost(NOTHING) == FREE
    assert cost(Repeated(Pure(ONE), 0)) == FREE
    assert cost(Gaussian(ONE, Fraction(0))) == FREE
    assert cost(Sampled(Pure(ONE), Fraction(0))) == FREE


def test_select_is_cheaper_in_zcdp_than_a_pure_event():
    chosen, pure = cost(Select(ONE)), cost(Pure(ONE))
    assert chosen.epsilon == pure.epsilon == 1
    assert chosen.rho == Fraction(1, 8)
    assert pure.rho > Fraction(46, 100)


def test_failures_are_charged_in_both_currencies():
    found = cost(Failing(Laplace(ONE, ONE), MICRO), "1", "1e-6")
    assert (found.epsilon, found.delta, found.rho_delta) == (1, MICRO, MICRO)
    # Their delta is charged even where less was set aside.
    assert cost(Failing(Laplace(ONE, ONE), MICRO), "1", "0").delta == MICRO
    assert cost(Approximate(ONE, MICRO), "1", "0") == Cost(ONE, MICRO, rho_of_pure(ONE), MICRO)


@pytest.mark.parametrize("coordinates", [1, None, 5])
def test_calibrated_gaussian_costs_exactly_what_was_written(coordinates):
    epsilon, delta = Epsilon.of("0.7"), Delta.of("1e-7")
    sigma_squared = gaussian_sigma_squared(9, epsilon, delta, coordinates)
    found = cost(Gaussian(sigma_squared, Fraction(9), coordinates), "0.7", "1e-7")
    assert (found.epsilon, found.delta) == (epsilon.value, delta.value)
    assert found.rho_delta == 0
    less = cost(Gaussian(sigma_squared * Fraction(9, 10), Fraction(9), coordinates), "0.7", "1e-7")
    assert less.epsilon > epsilon.value


def test_one_coordinate_is_priced_by_its_own_sum():
    found = cost(Gaussian(Fraction(20), ONE, 1), "0.1").epsilon
    assert found < epsilon_of_rho(Fraction(1, 40), MICRO)
    assert delta_bounds(sigma_squared=Fraction(20), shift=1, epsilon=found)[1] <= MICRO


def test_a_move_that_is_no_whole_square_is_rounded_down_to_one():
    # An integer whose squared move is at most 8.9 moves by at most 2.
    assert (
        cost(Gaussian(Fraction(20), Fraction("8.9"), 1), "0.1").epsilon
        == cost(Gaussian(Fraction(20), Fraction(4), 1), "0.1").epsilon
    )


def test_gaussian_without_delta_has_only_a_rho():
    found = cost(Gaussian(Fraction(20), ONE, 1), "1", "0")
    assert found == Cost(None, Fraction(0), Fraction(1, 40), Fraction(0))
    # All of the allotment is already used up by a threshold.
    both = Composed((Gaussian(Fraction(20), ONE, 1), Failing(Pure(ONE), MICRO)))
    assert cost(both, "1", "1e-6").epsilon is None


def test_many_gaussians_are_added_in_rho_before_they_are_converted():
    many = cost(Repeated(Gaussian(Fraction(2000), ONE), 100), "0.5")
    assert many.rho == Fraction(1, 40)
    assert many.epsilon == epsilon_of_rho(Fraction(1, 40), MICRO)
    assert cost(Concentrated(Fraction(1, 40)), "0.5").epsilon == many.epsilon


def test_mixed_statement_takes_the_better_of_two_proofs():
    mixed = Composed((Gaussian(Fraction(2000), ONE), *(Pure(Fraction(1, 100)) for _ in range(100))))
    found = cost(mixed, "0.01")
    separate = 1 + epsilon_of_rho(Fraction(1, 4000), MICRO)
    together = epsilon_of_rho(found.rho, MICRO)
    assert found.epsilon == min(separate, together) == together


def test_composition_adds_and_repetition_multiplies():
    parts = (
        Laplace(Fraction(4), ONE),
        Select(Fraction(1, 5)),
        Failing(Pure(Fraction(1, 7)), MICRO),
    )
    whole = cost(Composed(parts), "0.01")
    singles = [cost(part, "0.01") for part in parts]
    assert whole == singles[0] + singles[1] + singles[2]
    assert cost(Repeated(parts[0], 3), "0.01").epsilon == Fraction(3, 4)


def test_sampling_amplifies_what_is_pure():
    found = cost(Sampled(Failing(Pure(ONE), MICRO), Fraction(1, 100)), "0.001")
    assert float(found.epsilon) == pytest.approx(0.017036863, rel=1e-6)
    assert found.delta == MICRO / 100
    assert found.rho == rho_of_pure(found.epsilon)
    assert cost(Sampled(Pure(ONE), ONE), "1").epsilon == 1


def test_sampled_gaussian_has_an_epsilon_but_no_rho():
    plain = cost(Gaussian(Fraction(20), ONE), "0.001")
    found = cost(Sampled(Gaussian(Fraction(20), ONE), Fraction(1, 100)), "0.001")
    assert found.rho is None
    assert found.delta == MICRO
    assert plain.epsilon / 200 < found.epsilon < plain.epsilon / 20
    many = cost(Repeated(Sampled(Gaussian(Fraction(20), ONE), Fraction(1, 100)), 10**6), "0.001")
    assert many.epsilon > 10**6 * found.epsilon / 10


def test_what_has_no_guarantee_has_no_price():
    with pytest.raises(InvalidInput, match="no privacy guarantee"):
        cost(Composed((Pure(ONE), NonPrivate("k-anonymity"))))
    with pytest.raises(InvalidInput, match="negative number"):
        cost(Repeated(Pure(ONE), -1))
    with pytest.raises(InternalError, match="no accountant"):
        cost("an event of tomorrow")


def test_region_and_event_are_passed_on():
    men = Region.of({"sex": Positions.points([1])})
    event = Pure(ONE)
    quote = price(event, epsilon=Epsilon.of(1), delta=Delta.of(0), region=men)
    assert quote.event is event
    assert quote.region == men
    assert price(event, epsilon=Epsilon.of(1), delta=Delta.of(0)).region == EVERYONE


def test_a_plain_price_is_quick():
    """Under 100 microseconds of processor time by the yardstick, cold caches included."""
    epsilon, delta = Epsilon.of("0.1"), Delta.of("1e-9")

    def prices(turn):
        for i in range(300):
            event = Laplace(Fraction(10_007 + 300 * turn + i, 7), ONE)
            price(event, epsilon=epsilon, delta=delta)

    assert quickest(prices) / 300 < 100e-6 * slowness()
