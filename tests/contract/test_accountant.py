"""What every way to a price promises: one charge, a batch, and the running total of an account."""

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
    NonPrivate,
    Pure,
    Repeated,
    Sampled,
    Select,
)
from discreet.base.numbers import Delta, Epsilon
from discreet.errors import InvalidInput
from discreet.privacy.account.batch import least_epsilon, price_batch
from discreet.privacy.account.composition import Limits
from discreet.privacy.account.pld import LossBatch
from discreet.privacy.account.pld_laws import atoms_of
from discreet.privacy.account.price import price

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

LEAST = Epsilon.of("1e-9")
"""Below every event here, so that each is charged its true cost and not what was written."""


def one_charge(events, delta):
    return price(Composed(tuple(events)), epsilon=LEAST, delta=Delta(delta)).cost.epsilon


def one_batch(events, delta):
    return price_batch(events, delta=Delta(delta)).cost.epsilon


def running_total(events, delta):
    """What an account shows after charges one by one, each with a hundredth of its delta."""
    total = FREE
    for event in events:
        total = total + price(event, epsilon=LEAST, delta=Delta(delta / 100)).cost
    limits = Limits.of(1000, delta)
    assert limits.allows(total)
    return limits.spent(total)[0]


WAYS = [one_charge, one_batch, running_total]


def exact(event):
    """Return the epsilon of the privacy-loss distribution alone, which is nearly exact."""
    parts = event.events if isinstance(event, Composed) else (event,)
    counted = [(p.event, p.count) if isinstance(p, Repeated) else (p, 1) for p in parts]
    return max(
        least_epsilon(LossBatch(tuple((atoms_of(p, adding=way), n) for p, n in counted)), DELTA)
        for way in (False, True)
    )


each_way = pytest.mark.parametrize("way", WAYS)
each_event = pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)


@each_way
def test_a_release_without_a_guarantee_has_no_price(way):
    for event in (NonPrivate("exact"), Composed((Pure(ONE), Repeated(NonPrivate("exact"), 2)))):
        with pytest.raises(InvalidInput):
            way([event], DELTA)


@each_way
def test_nothing_costs_nothing(way):
    assert way([], DELTA) == 0


@each_event
@each_way
def test_nothing_is_free_and_more_never_costs_less(way, event):
    once, twice = way([event], DELTA), way([event, event], DELTA)
    assert 0 < once <= twice
    assert way([event, Composed(())], DELTA) == once
    for other in (Pure(ONE), Gaussian(Fraction(3), ONE, 1)):
        assert way([event, other], DELTA) >= max(once, way([other], DELTA) * Fraction(999, 1000))


@each_way
def test_what_has_an_epsilon_of_its_own_adds_up(way):
    apart = [Pure(Fraction(1, 4)), Laplace(Fraction(5), ONE)]
    assert way(apart, DELTA) <= sum(way([event], DELTA / 2) for event in apart)


@each_event
@each_way
def test_a_larger_delta_never_needs_a_larger_epsilon(way, event):
    assert way([event], DELTA) >= way([event], 10 * DELTA)


WITH_A_LAW = [event for event in EVENTS if not isinstance(event, Select | Concentrated)]
"""The laws of the two others are the worst that their bounds allow, and wider than their own prices."""


@pytest.mark.parametrize("event", WITH_A_LAW, ids=lambda event: type(event).__name__)
@each_way
def test_no_way_claims_less_than_the_exact_loss(way, event):
    """A smaller claim would be a wrong one."""
    assert way([event], DELTA) >= exact(event) * Fraction(9999, 10000)


@each_event
def test_the_tighter_way_is_never_above_the_looser(event):
    for count in (1, 3):
        assert one_batch([event] * count, DELTA) <= one_charge([event] * count, DELTA)


def test_half_a_price_is_caught():
    """The broken twin: a claim of half the cost lies below the exact loss of most events."""
    caught = [one_charge([event], DELTA) / 2 < exact(event) for event in WITH_A_LAW]
    assert sum(caught) >= 7
