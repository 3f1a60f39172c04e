"""What every accountant promises. A new one is one more line in ACCOUNTANTS."""

from fractions import Fraction

import pytest

from discreet.account.batch import PldAccountant
from discreet.account.curves.renyi import RenyiAccountant
from discreet.account.pure import PureAccountant
from discreet.account.zcdp import ZcdpAccountant
from discreet.core.event import (
    Approximate,
    Composed,
    Concentrated,
    Failing,
    Gaussian,
    Laplace,
    NonPrivate,
    Pure,
    Repeated,
    Sampled,
    Select,
)
from discreet.errors import InvalidInput

ACCOUNTANTS = [PureAccountant(), ZcdpAccountant(), RenyiAccountant(), PldAccountant()]

ONE = Fraction(1)
DELTA = Fraction(1, 10**5)
EVENTS = [
    Laplace(Fraction(5), ONE),
    Gaussian(Fraction(30), ONE, 1),
    Gaussian(Fraction(30), ONE),
    Select(Fraction(1, 3)),
    Pure(Fraction(1, 4)),
    Approximate(Fraction(1, 4), Fraction(1, 10**7)),
    Failing(Laplace(Fraction(5), ONE), Fraction(1, 10**7)),
    Concentrated(Fraction(1, 50)),
    Sampled(Gaussian(Fraction(4), ONE, 1), Fraction(1, 10)),
    Sampled(Laplace(ONE, ONE), Fraction(1, 10)),
    Composed((Laplace(Fraction(5), ONE), Gaussian(Fraction(30), ONE, 1))),
    Repeated(Pure(Fraction(1, 10)), 7),
]

pytestmark = pytest.mark.parametrize("accountant", ACCOUNTANTS, ids=lambda one: type(one).__name__)


def supported(accountant):
    return [event for event in EVENTS if accountant.supports(event)]


def test_supports_most_events_and_refuses_the_others(accountant):
    assert len(supported(accountant)) >= 7
    for event in EVENTS:
        if not accountant.supports(event):
            with pytest.raises(InvalidInput):
                accountant.cost(event)


def test_a_release_without_a_guarantee_is_never_supported(accountant):
    for event in (NonPrivate("exact"), Composed((Pure(ONE), Repeated(NonPrivate("exact"), 2)))):
        assert not accountant.supports(event)
        with pytest.raises(InvalidInput):
            accountant.cost(event)


def test_composing_with_nothing_changes_nothing(accountant):
    assert accountant.epsilon(accountant.total([]), DELTA) == 0
    for event in supported(accountant)[:4]:
        cost = accountant.cost(event)
        assert accountant.total([cost]) == accountant.total([accountant.total([]), cost])


def test_more_events_never_cost_less(accountant):
    for event in supported(accountant):
        once = accountant.cost(event)
        twice = accountant.total([once, once])
        first, second = accountant.epsilon(once, DELTA), accountant.epsilon(twice, DELTA)
        assert first is not None
        assert second is not None
        assert 0 < first <= second


def test_a_larger_delta_never_needs_a_larger_epsilon(accountant):
    for event in supported(accountant):
        cost = accountant.cost(event)
        assert accountant.epsilon(cost, DELTA) >= accountant.epsilon(cost, 10 * DELTA)


def test_delta_at_the_epsilon_it_gave_is_not_larger(accountant):
    for event in supported(accountant):
        cost = accountant.cost(event)
        epsilon = accountant.epsilon(cost, DELTA)
        assert accountant.delta(cost, epsilon) <= DELTA * Fraction(1_000_001, 1_000_000)
        assert accountant.delta(cost, epsilon / 2) >= accountant.delta(cost, epsilon)


def test_no_accountant_beats_the_exact_one(accountant):
    """The privacy-loss distribution is nearly exact; a smaller claim would be a wrong one."""
    exact = PldAccountant()
    for event in supported(accountant):
        if exact.supports(event) and not isinstance(event, Select):
            truth = exact.epsilon(exact.cost(event), DELTA)
            claim = accountant.epsilon(accountant.cost(event), DELTA)
            assert claim >= truth * Fraction(9999, 10000)
