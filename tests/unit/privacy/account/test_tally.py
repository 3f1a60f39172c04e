from fractions import Fraction

from discreet.base.event import (
    Composed,
    Failing,
    Gaussian,
    Laplace,
    Pure,
    Repeated,
    Sampled,
)
from discreet.privacy.account.tally import EventTally, SampledPart, tally

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
