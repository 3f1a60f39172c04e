import math
from fractions import Fraction

import pytest

from discreet.account.curves.renyi import ORDERS, RenyiAccountant
from discreet.core.event import Composed, Concentrated, Failing, Gaussian, Laplace, Pure, Sampled
from discreet.errors import InvalidInput

ONE = Fraction(1)


def divergence(event, order):
    return RenyiAccountant((Fraction(order),)).cost(event).divergences[0]


def laplace_law(scale, at, reach):
    weights = [math.exp(-abs(k - at) / scale) for k in range(-reach, reach + 1)]
    total = (1 + math.exp(-1 / scale)) / (1 - math.exp(-1 / scale))
    return [weight / total for weight in weights]


def gaussian_law(variance, at, reach):
    weights = [math.exp(-((k - at) ** 2) / (2 * variance)) for k in range(-reach, reach + 1)]
    return [weight / math.fsum(weights) for weight in weights]


def divergence_of(first, second, order):
    total = math.fsum(
        math.exp(order * math.log(p) + (1 - order) * math.log(q))
        for p, q in zip(first, second, strict=True)
        if p > 0 and q > 0
    )
    return math.log(total) / (order - 1)


@pytest.mark.parametrize("order", ["3/2", "2", "5", "20"])
@pytest.mark.parametrize(("scale", "shift"), [(2, 1), (5, 3), (1, 4)])
def test_laplace_is_the_divergence_of_its_own_law(scale, shift, order):
    a = float(Fraction(order))
    truth = divergence_of(laplace_law(scale, 0, 300), laplace_law(scale, shift, 300), a)
    found = float(divergence(Laplace(Fraction(scale), Fraction(shift)), order))
    assert found == pytest.approx(truth, rel=1e-9)
    assert found >= truth * (1 - 1e-12)


def test_spreading_a_move_over_coordinates_costs_no_more():
    for order in ("3/2", "4", "32"):
        together = divergence(Laplace(Fraction(2), Fraction(5)), order)
        spread = divergence(Laplace(Fraction(2), Fraction(2)), order)
        rest = divergence(Laplace(Fraction(2), Fraction(3)), order)
        assert spread + rest <= together


@pytest.mark.parametrize("order", [2, 3, 8, 30])
@pytest.mark.parametrize("rate", ["0.01", "0.3"])
def test_sampled_gaussian_is_the_divergence_of_the_mixture(rate, order):
    """Equality for the discrete law too, and the other direction is not larger."""
    q = float(rate)
    base, moved = gaussian_law(3.0, 0, 250), gaussian_law(3.0, 1, 250)
    mixture = [(1 - q) * p + q * m for p, m in zip(base, moved, strict=True)]
    found = float(divergence(Sampled(Gaussian(Fraction(3), ONE), Fraction(rate)), order))
    assert found == pytest.approx(divergence_of(mixture, base, order), rel=1e-6)
    assert divergence_of(base, mixture, order) <= found * (1 + 1e-9)


@pytest.mark.parametrize("order", [2, 3, 8])
@pytest.mark.parametrize("rate", ["0.05", "0.5"])
def test_general_sampling_bound_covers_a_sampled_gaussian(rate, order):
    """Two answers of one sample have no closed form here; their law is that of one wider shift."""
    event = Composed((Gaussian(Fraction(4), ONE), Gaussian(Fraction(4), ONE)))
    general = divergence(Sampled(event, Fraction(rate)), order)
    exact = divergence(Sampled(Gaussian(Fraction(2), ONE), Fraction(rate)), order)
    assert exact <= general <= divergence(event, order)


def test_between_integers_the_next_order_is_used():
    event = Sampled(Gaussian(Fraction(4), ONE), Fraction(1, 10))
    assert divergence(event, "5/2") == divergence(event, 3)
    assert divergence(event, "5/4") == divergence(event, 2)


def test_without_sampling_nothing_changes():
    for event in (Pure(ONE), Gaussian(Fraction(4), ONE)):
        assert divergence(Sampled(event, ONE), 4) == divergence(event, 4)


def test_orders_beyond_the_general_bound_are_unknown_and_never_used():
    accountant = RenyiAccountant((Fraction(8), Fraction(128)))
    cost = accountant.cost(Sampled(Concentrated(Fraction(1, 10)), Fraction(1, 10)))
    assert cost.divergences[0] is not None
    assert cost.divergences[1] is None
    assert accountant.epsilon(cost, Fraction(1, 1000)) is not None
    only = RenyiAccountant((Fraction(128),))
    unknown = only.cost(Sampled(Concentrated(Fraction(1, 10)), Fraction(1, 10)))
    assert only.epsilon(unknown, Fraction(1, 1000)) is None
    assert only.delta(unknown, ONE) == 1


def test_failures_and_their_limits():
    accountant = RenyiAccountant()
    cost = accountant.cost(Failing(Pure(ONE), Fraction(1, 100)))
    assert accountant.epsilon(cost, Fraction(1, 1000)) is None
    with pytest.raises(InvalidInput, match="no Renyi rule"):
        accountant.cost(Sampled(Failing(Gaussian(ONE, ONE), Fraction(1, 9)), Fraction(1, 2)))


def test_beats_zcdp_for_many_sampled_answers():
    """A thousand steps at rate 1/100 and sigma 2: far below what unsampled noise would cost."""
    accountant = RenyiAccountant(ORDERS)
    one = accountant.cost(Sampled(Gaussian(Fraction(4), ONE), Fraction(1, 100)))
    thousand = accountant.total([one] * 1000)
    assert 0.4 < float(accountant.epsilon(thousand, Fraction(1, 10**5))) < 1.2
