from fractions import Fraction

import pytest

from discreet.account.pure import PureAccountant, Spend
from discreet.account.tally import EventTally, SampledPart, is_private, tally
from discreet.account.zcdp import Concentration, ZcdpAccountant
from discreet.core.event import (
    Composed,
    Failing,
    Gaussian,
    Laplace,
    NonPrivate,
    Pure,
    Repeated,
    Sampled,
)
from discreet.errors import InvalidInput

ONE = Fraction(1)


def test_parts_are_kept_apart():
    found = tally(
        Composed(
            (
                Laplace(Fraction(2), ONE),
                Failing(Pure(ONE), Fraction(1, 10**6)),
                Gaussian(Fraction(50), ONE, 1),
            )
        )
    )
    assert found.epsilon == Fraction(3, 2)
    assert found.delta == Fraction(1, 10**6)
    assert found.soft_rho == Fraction(1, 100)
    assert found.shifts == ((Fraction(50), 1),)
    assert found.soft


def test_a_repeated_shift_is_no_longer_one_shift():
    assert tally(Repeated(Gaussian(ONE, ONE, 1), 2)).shifts == ()
    assert tally(Repeated(Gaussian(ONE, ONE, 1), 1)).shifts == ((ONE, 1),)


def test_sampled_soft_parts_are_counted_not_copied():
    inner = Gaussian(Fraction(4), ONE)
    found = tally(Repeated(Sampled(inner, Fraction(1, 10)), 10**9))
    assert found.sampled == (SampledPart(tally(inner), Fraction(1, 10), 10**9),)
    assert found.rho is None
    assert found.times(0) == EventTally()


def test_privacy_is_looked_for_at_every_depth():
    exposed = NonPrivate("exact table")
    for event in (exposed, Composed((Pure(ONE), Failing(Repeated(Sampled(exposed, ONE), 2), ONE)))):
        assert not is_private(event)
    assert is_private(Composed((Pure(ONE), Failing(Pure(ONE), Fraction(1, 2)))))


def test_pure_accountant_below_its_epsilon():
    accountant = PureAccountant()
    cost = accountant.cost(Repeated(Pure(Fraction(1, 2)), 2))
    assert cost == Spend(ONE, Fraction(0))
    assert accountant.delta(cost, ONE) == 0
    # At epsilon 0 randomized response of epsilon 1 has delta tanh(1/2).
    assert float(accountant.delta(cost, Fraction(0))) == pytest.approx(0.46211715726)
    failing = accountant.cost(Failing(Pure(ONE), Fraction(1, 100)))
    assert accountant.epsilon(failing, Fraction(1, 1000)) is None
    with pytest.raises(InvalidInput, match="no finite epsilon"):
        accountant.cost(Gaussian(ONE, ONE))


def test_zcdp_accountant_and_failures():
    accountant = ZcdpAccountant()
    cost = accountant.cost(Failing(Gaussian(Fraction(50), ONE), Fraction(1, 10**6)))
    assert cost == Concentration(Fraction(1, 100), Fraction(1, 10**6))
    assert accountant.epsilon(cost, Fraction(1, 10**6)) is None
    assert accountant.epsilon(cost, Fraction(2, 10**6)) > 0
    only_failing = accountant.cost(Failing(Composed(()), Fraction(1, 10**6)))
    assert accountant.epsilon(only_failing, Fraction(1, 10**6)) == 0
    with pytest.raises(InvalidInput, match="cannot be expressed"):
        accountant.cost(Sampled(Gaussian(ONE, ONE), Fraction(1, 2)))
