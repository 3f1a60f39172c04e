import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.account.convert import (
    amplified,
    epsilon_of_rho,
    rho_of_pure,
    rho_of_range,
    rho_of_target,
)

epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=1000)
deltas = st.integers(2, 12).map(lambda power: Fraction(1, 10**power))


def response_divergence(epsilon, order):
    """The Renyi divergence of randomized response, in floats."""
    top = math.log(math.exp(order * epsilon) + math.exp((1 - order) * epsilon))
    return (top - math.log1p(math.exp(epsilon))) / (order - 1)


@given(epsilons, st.floats(1.0001, 60))
def test_rho_of_pure_covers_randomized_response_at_every_order(epsilon, order):
    rho = float(rho_of_pure(epsilon))
    if order * float(epsilon) < 600:
        assert response_divergence(float(epsilon), order) <= order * rho * (1 + 1e-6) + 1e-11


@given(epsilons)
def test_rho_of_pure_is_tight_and_better_than_the_textbook(epsilon):
    assert rho_of_pure(epsilon) <= epsilon**2 / 2
    near_one = response_divergence(float(epsilon), 1.000001)
    # A rho 1 % smaller would be wrong: the order next to 1 shows it.
    assert near_one > 0.99 * float(rho_of_pure(epsilon))


def test_known_values():
    assert float(rho_of_pure(Fraction(1))) == pytest.approx(math.tanh(0.5))
    assert rho_of_range(Fraction(1)) == Fraction(1, 8)
    assert rho_of_pure(Fraction(0)) == 0
    assert epsilon_of_rho(Fraction(0), Fraction(1, 10)) == 0


def test_the_textbook_conversion_is_never_better():
    # epsilon = rho + 2 sqrt(rho ln(1/delta))
    rho, delta = Fraction(1, 100), Fraction(1, 10**9)
    expected = 0.01 + 2 * math.sqrt(0.01 * math.log(1e9))
    assert epsilon_of_rho(rho, delta) < expected


@given(epsilons, deltas)
def test_target_and_cost_are_inverse_and_safe(epsilon, delta):
    rho = rho_of_target(epsilon, delta)
    back = epsilon_of_rho(rho, delta)
    assert back <= epsilon * (1 + Fraction(1, 10**9))
    assert epsilon_of_rho(rho * Fraction(101, 100), delta) > epsilon


@given(st.fractions(min_value=Fraction(1, 1000), max_value=5, max_denominator=1000), deltas)
def test_gaussian_truth_lies_below_the_conversion(rho, delta):
    # The continuous Gaussian is rho-zCDP exactly: its own delta must not exceed delta.
    epsilon = float(epsilon_of_rho(rho, delta))
    mu = math.sqrt(2 * float(rho))

    def above(x):
        return math.erfc(x / math.sqrt(2)) / 2

    truth = above(epsilon / mu - mu / 2) - math.exp(epsilon) * above(epsilon / mu + mu / 2)
    assert truth <= float(delta)


@given(epsilons, st.fractions(min_value=0, max_value=1, max_denominator=1000))
def test_amplified_is_safe_and_close(epsilon, rate):
    value = amplified(epsilon, rate)
    truth = math.log1p(float(rate) * math.expm1(float(epsilon)))
    assert truth * (1 - 1e-12) <= float(value) <= truth * (1 + 1e-9) + 1e-20
    assert value <= epsilon


def test_amplified_edges():
    assert amplified(Fraction(2), Fraction(1)) == 2
    assert amplified(Fraction(2), Fraction(0)) == 0
    assert amplified(Fraction(5000), Fraction(1, 2)) == 5000
