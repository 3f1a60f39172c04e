from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from discreet.base.event import (
    FREE,
    Approximate,
    Composed,
    Concentrated,
    Failing,
    Gaussian,
    Laplace,
    Pure,
    Repeated,
    Sampled,
    Select,
)
from discreet.base.numbers import Delta, Epsilon
from discreet.errors import InvalidInput
from discreet.privacy.account.batch import batch_epsilon, price_batch
from discreet.privacy.account.composition import optimal_delta, optimal_epsilon
from discreet.privacy.account.convert import epsilon_of_rho
from discreet.privacy.account.price import gaussian_epsilon

ONE = Fraction(1)
MICRO = Delta.of("1e-6")


def test_a_hundred_tenths_cost_477_instead_of_ten():
    """Worked number: 100 discrete-Laplace answers at 0.1 each, delta 1e-6."""
    found = batch_epsilon([Repeated(Laplace(Fraction(10), ONE), 100)], MICRO)
    assert Fraction("4.77") < found <= Fraction("4.78")
    exact = optimal_epsilon(Fraction(1, 10), 100, MICRO.value)
    assert abs(found - exact) < Fraction(1, 10**5)


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12", "1e-20"])
@pytest.mark.parametrize(("epsilon", "count"), [("0.37", 1), ("0.37", 9), ("0.05", 400)])
def test_equal_responses_match_the_exact_theorem(epsilon, count, delta):
    one = Fraction(epsilon)
    found = batch_epsilon([Pure(one)] * count, Delta.of(delta))
    # Never below the exact value (optimal_epsilon is rounded up to 10^-6), and close to it.
    assert optimal_delta(one, count, found) <= Fraction(delta)
    assert found <= optimal_epsilon(one, count, Fraction(delta)) + Fraction(2, 10**5)


@pytest.mark.parametrize("variance", ["0.8", "30", "5000", "3e9"])
def test_one_gaussian_matches_its_own_sum(variance):
    event = Gaussian(Fraction(variance), ONE, 1)
    exact = gaussian_epsilon(event.sigma_squared, 1, MICRO.value)
    found = batch_epsilon([event], MICRO)
    assert exact * (1 - Fraction(1, 10**6)) <= found <= exact + Fraction(1, 10**5)


def test_many_small_gaussians_are_one_large_one():
    """100 answers with sigma^2 = 2,000 hardly differ from one continuous Gaussian with 20."""
    found = float(batch_epsilon([Repeated(Gaussian(Fraction(2000), ONE, 1), 100)], MICRO))
    assert found == pytest.approx(0.94047, abs=2e-4)  # analytic Gaussian, sigma^2 = 20
    blocks = float(batch_epsilon([Repeated(Gaussian(Fraction(10**12), 10**7 * ONE, 1), 1)], MICRO))
    coarse = float(gaussian_epsilon(Fraction(10**12), 3162, MICRO.value))
    assert blocks == pytest.approx(coarse, rel=1e-4)


def test_gaussians_of_unknown_shape_are_added_in_rho():
    events = [Repeated(Gaussian(Fraction(2000), ONE), 50), Concentrated(Fraction(1, 80))]
    assert batch_epsilon(events, MICRO) <= epsilon_of_rho(Fraction(1, 40), MICRO.value)
    # The curve of deltas as a law: alone it costs a little more than the formula, never less.
    mixed = batch_epsilon([*events, Repeated(Pure(Fraction(1, 10)), 10)], MICRO)
    assert epsilon_of_rho(Fraction(1, 40), MICRO.value) < mixed < Fraction("1.75")


def test_sampling_uses_the_worse_of_both_directions():
    event = Sampled(Laplace(ONE, ONE), Fraction(1, 10))
    plain = Epsilon.of("0.15833").value  # ln(1 + 0.1 (e - 1)) = 0.158563
    found = batch_epsilon([event], MICRO)
    assert plain < found < Fraction("0.15857")
    many = batch_epsilon([Repeated(event, 200)], MICRO)
    assert many < batch_epsilon([Repeated(Laplace(ONE, ONE), 200)], MICRO) / 5


def test_failures_need_a_delta_of_their_own():
    events = [Repeated(Failing(Pure(Fraction(1, 10)), Fraction(1, 10**8)), 50)]
    found = batch_epsilon(events, MICRO)
    assert batch_epsilon([Repeated(Pure(Fraction(1, 10)), 50)], MICRO) < found < 5
    # 50 failures of 1e-8 leave nothing at 5e-7: only the plain sum still holds.
    assert batch_epsilon(events, Delta.of("5e-7")) == 5
    with pytest.raises(InvalidInput, match="No finite epsilon"):
        batch_epsilon([*events, Gaussian(ONE, ONE, 1)], Delta.of("5e-7"))
    with pytest.raises(InvalidInput, match="at delta 0"):
        batch_epsilon([Gaussian(ONE, ONE, 1)], Delta.of(0))
    assert batch_epsilon([Select(ONE), Select(ONE)], Delta.of(0)) == 2


def test_what_has_no_law_is_refused():
    half = Fraction(1, 2)
    with pytest.raises(InvalidInput, match="cannot hold"):
        batch_epsilon([Sampled(Composed((Gaussian(ONE, ONE, 1),)), half)], MICRO)
    with pytest.raises(InvalidInput, match="sample of a sample"):
        batch_epsilon([Sampled(Sampled(Pure(ONE), half), half)], MICRO)


def test_a_batch_is_one_charge():
    quote = price_batch([Repeated(Laplace(Fraction(10), ONE), 100)], delta=MICRO)
    assert quote.event == Approximate(quote.cost.epsilon, MICRO.value)
    assert quote.cost.epsilon <= Fraction("4.78")
    assert quote.cost.rho_delta == 0
    assert quote.cost.rho < Fraction(1, 2)
    alone = price_batch([Laplace(Fraction(10), ONE)], delta=Delta.of(0))
    assert (alone.cost.epsilon, alone.cost.delta) == (Fraction(1, 10), 0)
    assert price_batch([], delta=MICRO).cost == FREE


def test_many_different_laws_at_once():
    events = [Pure(Fraction(100 + i, 5000)) for i in range(220)]
    found = batch_epsilon(events, MICRO)
    average = sum((event.epsilon for event in events), Fraction(0)) / len(events)
    assert optimal_epsilon(average, len(events), MICRO.value) * Fraction(99, 100) < found
    largest = optimal_epsilon(events[-1].epsilon, len(events), MICRO.value)
    assert found < largest


def exact_epsilon(laws, step, delta):
    """Return the exact epsilon of a batch whose losses are multiples of `step`, in 50 digits."""
    total = {0: Decimal(1)}
    for law, count in laws:
        for _ in range(count):
            following = {}
            for loss, mass in total.items():
                for more, share in law.items():
                    following[loss + more] = following.get(loss + more, Decimal(0)) + mass * share
            total = following
    low, high = Decimal(0), Decimal(100)
    for _ in range(110):
        middle = (low + high) / 2
        excess = sum(
            m * (1 - (middle - k * step).exp()) for k, m in total.items() if k * step > middle
        )
        low, high = (middle, high) if excess > delta else (low, middle)
    return high


def test_a_mixed_batch_matches_fifty_digits():
    with localcontext(prec=50):
        t = (-Decimal(1) / 8).exp()
        inner = (1 - t) / (1 + t)
        laplace = {3: 1 / (1 + t), 1: inner * t, -1: inner * t * t, -3: t**3 / (1 + t)}
        truth = 1 / (1 + (-Decimal(1)).exp())
        response = {8: truth, -8: 1 - truth}
        delta = Decimal("2.7728407252202107e-08")
        exact = Fraction(exact_epsilon([(laplace, 60), (response, 5)], Decimal("0.125"), delta))
    events = [Repeated(Laplace(Fraction(8), Fraction(3)), 60), Repeated(Pure(ONE), 5)]
    found = batch_epsilon(events, Delta.of(str(delta)))
    assert exact <= found <= exact + Fraction(1, 10**6)
