"""The plain arithmetic behind docs/mistakes.md, and that every test named there exists."""

import itertools
import math
import re
import statistics
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.base.event import Composed, Pure
from discreet.base.numbers import Delta, Epsilon
from discreet.privacy.account.price import price

ROOT = Path(__file__).parents[2]


def test_every_named_test_exists():
    text = (ROOT / "docs" / "mistakes.md").read_text()
    named = re.findall(r"(tests/[\w/]+\.py)::(\w+)", text)
    assert len(named) >= 15
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(), f"{path}::{name}"


@pytest.mark.parametrize("n", [10, 1000])
def test_standard_deviation_moves_by_one_over_root_n(n):
    moved = statistics.pstdev([1.0] + [0.0] * (n - 1)) - statistics.pstdev([0.0] * n)
    assert moved == pytest.approx(math.sqrt(n - 1) / n)
    assert moved > 2 / n


def test_laplace_variance_is_two_b_squared():
    b = 20.0
    t = math.exp(-1 / b)
    p0 = (1 - t) / (1 + t)
    variance = 2 * math.fsum(k * k * p0 * t**k for k in range(1, 3000))
    assert variance == pytest.approx(2 * t / (1 - t) ** 2)
    assert variance == pytest.approx(2 * b * b, rel=1e-3)
    assert variance > 10 * (2 * b)


def test_max_moves_by_the_declared_range():
    lower, upper = 0, 100
    people = [3, 4, 5]
    assert max([*people, upper]) - max(people) > max(people) - min(people)
    pairs = itertools.product(range(lower, upper + 1, 10), repeat=2)
    assert max(abs(max(3, x) - max(3, y)) for x, y in pairs) <= upper - lower


def test_mean_moves_by_more_when_people_come_and_go():
    n = 4
    replaced = abs(statistics.mean([0, 0, 0, 1]) - statistics.mean([0, 0, 0, 0]))
    assert replaced == pytest.approx(1 / n)
    # Removing one of two people moves the mean by 1/2, the last one leaves no mean at all: no 1/n
    # holds for all sizes, and n itself was private.
    assert abs(statistics.mean([0, 1]) - statistics.mean([0])) > replaced


@pytest.mark.parametrize("factor", [1, 2])
def test_exponential_mechanism_needs_its_two(factor):
    """Utilities of three outcomes that all move by 1, one up and two down."""
    epsilon = 1.0

    def law(utilities):
        weights = [math.exp(epsilon * u / factor) for u in utilities]
        return [weight / sum(weights) for weight in weights]

    first, second = law([0, 0, 0]), law([1, -1, -1])
    worst = max(abs(math.log(p / q)) for p, q in zip(first, second, strict=True))
    assert (worst <= epsilon) is (factor == 2)


def test_four_queries_cost_one_point_two_or_one():
    everyone, male, female, adult = (Fraction(text) for text in ("0.5", "0.2", "0.25", "0.25"))
    events = Composed(tuple(Pure(value) for value in (everyone, male, female, adult)))
    quote = price(events, epsilon=Epsilon.of("0.1"), delta=Delta.of(0))
    assert quote.cost.epsilon == Fraction("1.2")
    worst = max(everyone + sex + older for sex in (male, female) for older in (0, adult))
    assert worst == 1


def test_composition_needs_no_noise_that_adds_up():
    """Two randomized responses: nothing is added to anything, and the losses still add up."""
    truth = 3 / 4
    one = math.log(truth / (1 - truth))
    both = math.log(truth**2 / (1 - truth) ** 2)
    assert both == pytest.approx(2 * one)


def test_differencing_gives_the_last_value():
    values = [Fraction(3), Fraction(1), Fraction(4), Fraction(1, 5)]
    n = len(values)
    a, b = sum(values) / n, sum(values[:-1]) / (n - 1)
    assert n * a - (n - 1) * b == values[-1]
    assert 202 - 201 == 71 - 70 == 1  # 3,005 students then 3,004; a poll of 90 then 91


def test_xor_of_equals_is_zero():
    assert [a ^ b for a, b in ((0, 0), (0, 1), (1, 0), (1, 1))] == [0, 1, 1, 0]


def test_a_range_read_from_the_data_has_no_epsilon():
    """Adding one person changes the released domain for sure: no finite epsilon covers that."""
    without, added = [20, 30, 40], [20, 30, 40, 97]
    released = {"without": (min(without), max(without)), "with": (min(added), max(added))}
    assert released["without"] != released["with"]


def test_discrete_tail_is_heavier_than_the_continuous_bound():
    t = math.exp(-1)
    tail = 2 * t**3 / (1 + t)
    assert tail == pytest.approx(0.073, abs=5e-4)
    assert tail > math.exp(-3)
    # 10,000 names, epsilon 1, beta 0.05: the continuous bound says 12.2; at most 12 holds with 0.033.
    assert math.log(10_000 / 0.05) == pytest.approx(12.2, abs=0.01)
    assert 10_000 * 2 * t**13 / (1 + t) == pytest.approx(0.033, abs=5e-4)
