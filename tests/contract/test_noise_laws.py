"""What every law of additive noise promises; adding one to LAWS adds it here."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from asking import plan
from discreet.base.numbers import Delta, Epsilon
from discreet.privacy.account.convert import cost_up
from discreet.privacy.account.price import price
from discreet.privacy.account.tally import tally
from discreet.privacy.noise.error_bars import combined_half_width
from discreet.privacy.noise.laws import law_costing, law_of
from discreet.privacy.noise.laws.law import LEAST
from discreet.privacy.noise.laws.registry import LAWS
from discreet.testing import SeededRng
from discreet.testing.statistics import assert_law
from discreet.work.publish.contents import PriceEvent
from discreet.work.publish.package import moves, verifier
from discreet.work.publish.verify import SIZES
from noise_kit import coverage, tail

pytestmark = pytest.mark.parametrize("kind", LAWS.values(), ids=LAWS)
SOME = [Fraction(1), Fraction(25, 4), Fraction(400)]
REACH = 16_000


def masses(law):
    """Return whole numbers and their chances."""
    places = np.arange(-REACH, REACH + 1)
    ends = law.survival(np.arange(-REACH, REACH + 2).astype(float))
    return places, ends[:-1] - ends[1:]


def event_of(law, moved, coordinates=None):
    return law.event(l1=lambda: moved, l2_squared=lambda: moved, coordinates=coordinates)


@pytest.mark.parametrize("size", SOME)
def test_its_numbers_agree_with_its_masses(kind, size):
    law = kind(size)
    places, chances = masses(law)
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    assert chances == pytest.approx(chances[::-1], abs=1e-11)
    assert law.variance == pytest.approx(float((chances * places**2).sum()), rel=1e-6)
    assert law.mean_size >= float((chances * np.abs(places)).sum()) * (1 - 1e-6)
    low, high = law.tail_bounds(5)
    assert float(low) - 1e-9 <= chances[np.abs(places) >= 5].sum() <= float(high) + 1e-9


def test_it_is_drawn_as_it_says(kind):
    for size in SOME:
        law = kind(size)
        assert_law(law.draw(50_000, SeededRng(1)), law, wrong_laws=[kind(size * Fraction(5, 4))])


@pytest.mark.parametrize("size", SOME)
def test_it_costs_what_its_counting_says(kind, size):
    """The masses of a number and its neighbour show no larger loss than the size pays for."""
    law, (_, chances) = kind(size), masses(kind(size))
    seen = chances > 1e-8  # survival is good to 1e-12: a ratio to one in ten thousand
    both = seen[1:] & seen[:-1]
    losses = np.log(chances[1:][both] / chances[:-1][both])
    if law.concentrated:
        for order in (2, 4):
            moment = float((chances[:-1][both] * np.exp(order * losses)).sum())
            assert math.log(moment) / (order - 1) <= order / (2 * float(size)) + 1e-3
        assert tally(event_of(law, 3)).rho == cost_up(Fraction(3) / (2 * size))
    else:
        assert np.abs(losses).max() <= 1 / float(size) + 1e-3
        assert tally(event_of(law, 3)).epsilon == Fraction(3) / size


def test_a_price_buys_it(kind):
    law = kind.costing(Fraction(1, 3), 5)
    found = tally(event_of(law, 5))
    bought = found.rho if kind.concentrated else found.epsilon
    assert abs(bought - Fraction(1, 3)) <= Fraction(1, 10**20)
    quote = price(event_of(law, 5), epsilon=Epsilon.of("0.001"), delta=Delta.of("1e-9"))
    assert quote.cost.epsilon is not None
    cheapest = law_costing(Fraction(1, 3), 5, concentrated=kind.concentrated)
    assert cheapest.variance <= law.variance


def test_its_widths_hold_95_in_100(kind):
    law = kind(Fraction(10**6))
    deviation = math.sqrt(law.variance)
    assert 0.945 <= coverage(law, round(law.width95 * deviation)) <= 0.955
    assert 0.945 <= coverage(law, round(law.error95)) <= 0.955


def test_its_tail_is_as_heavy_as_it_says(kind):
    law = kind(Fraction(10**6))
    deviation = math.sqrt(law.variance)
    near, far = (math.log(tail(law, round(k * deviation))) for k in (5, 10))
    assert (far / near < 3) is law.heavy


def test_its_chi_square_is_one(kind):
    law = kind(Fraction(400))
    noise = law.draw(20_000, SeededRng(2)).astype(float)
    value, degrees = law.chi_square(noise, law.variance)
    assert abs(value - degrees) <= 6 * math.sqrt(2 * degrees)
    wide, degrees = law.chi_square(2 * noise, law.variance)
    assert wide - degrees > 6 * math.sqrt(2 * degrees)


def test_it_is_written_down_and_read_again(kind):
    law = kind(Fraction(5, 2))
    assert law_of(*law.to_json()) == law
    assert law.to_json() == [kind.name, "5/2"]
    assert LAWS[kind.name] is kind
    assert "noise" in law.words
    assert law.scale_shown > 0


def test_packages_know_it(kind):
    written = PriceEvent("m", kind.name, Fraction(5, 2), Fraction(3), 7, 2)
    assert written.noise == kind(Fraction(5, 2))
    assert written.event == event_of(kind(Fraction(5, 2)), Fraction(3), 2)
    assert moves()[kind.name] in SIZES
    assert f'"{kind.name}": "{moves()[kind.name]}"'.encode() in verifier()


EXTREMES = [Fraction(10) ** n for n in range(-9, 5)] + [Fraction(n) for n in (3, 300, 800)]
"""From 1e-9 to 1e4, and where the variance of pure noise is below every float."""


def numbers_of(law) -> list[float]:
    """Return everything that grows with the noise."""
    both = combined_half_width([(1, law), (2, law)], "0.95", cells=1 << 10)
    widths = [law.half_width("0.95"), law.joint_half_width(1000, "0.95"), both]
    return [law.scale_shown, law.variance, law.error95, law.mean_size, *widths]


@pytest.mark.parametrize("moved", [1, 10**4])
def test_its_numbers_are_finite_and_ordered_at_any_epsilon(kind, moved):
    """More epsilon is never more noise, and what divides by an error does not divide by 0."""
    laws = [kind.costing(epsilon, moved) for epsilon in sorted(EXTREMES)]
    found = [numbers_of(law) for law in laws]
    assert all(math.isfinite(number) for numbers in found for number in numbers)
    assert all(min(numbers[:4]) > 0 for numbers in found)
    for less, more in pairwise(found):
        assert all(a >= b for a, b in zip(less[:-1], more[:-1], strict=True))
        assert less[-1] >= 0.9 * more[-1]  # on a grid, rounded up
    for law in laws:
        assert law.error95 / law.error95 == 1
        assert law.variance <= LEAST or law.mean_size**2 <= law.variance * (1 + 1e-9)
        assert np.isfinite(law.survival(np.array([-3.0, 0.0, 1.0, 2.0, 1e6]))).all()
        assert law.chi_square(np.zeros(2), law.variance) == (0, law.chi_square(np.ones(2), 1.0)[1])


def test_a_second_pure_law_is_weighed_at_any_epsilon(kind, monkeypatch):
    twice = type("Twice", (kind,), {"name": "twice", "__slots__": ()})
    monkeypatch.setitem(LAWS, "twice", twice)
    for epsilon in EXTREMES:
        found = plan("SELECT COUNT(*) FROM people", epsilon=str(epsilon.limit_denominator(10**9)))
        assert math.isfinite(found.mechanisms.laws["m0"].error95)
