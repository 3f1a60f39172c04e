import math

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.testing.rng import SeededRng
from discreet.testing.statistics import audit, epsilon_lower_bound
from noise_kit import bernoulli
from sittings import FULL


def coin(rng):
    return lambda p, trials: bernoulli(p, trials, rng=rng)


def test_a_known_ratio_is_approached_from_below():
    found = audit(coin(SeededRng(1)), "3/4", "1/4", trials=400_000, alpha=1e-6)
    assert math.log(3) - 0.05 < found.epsilon <= math.log(3)
    assert found.outcomes in ((0,), (1,))


def test_equal_laws_lose_nothing():
    assert audit(coin(SeededRng(1)), "1/3", "1/3", trials=50_000).epsilon < 0.01


def test_delta_is_forgiven():
    # With probability 0.1 the mechanism gives the data away; at delta 0.1 that is allowed.
    def leak(data, trials, rng=SeededRng(1)):  # noqa: B008 - one stream for both neighbours
        return data * bernoulli("0.1", trials, rng=rng)

    assert audit(leak, 0, 5, trials=100_000).epsilon > 3
    assert audit(leak, 0, 5, trials=100_000, delta=0.11).epsilon == 0


def test_direction_does_not_matter():
    rng = SeededRng(1)
    often, rarely = bernoulli("1/2", 100_000, rng=rng), bernoulli("1/100", 100_000, rng=rng)
    one = epsilon_lower_bound(often.astype(int), rarely.astype(int))
    other = epsilon_lower_bound(rarely.astype(int), often.astype(int))
    assert one.epsilon == other.epsilon > 3


def test_false_alarms_are_rare():
    # At alpha 0.05 at most 5 % of the bounds may exceed the truth; chance below 1e-9 (binomial).
    generator = np.random.default_rng(1)  # plays the mechanism; no guarantee hangs on it
    wrong, audits, most = 0, *((100, 22) if FULL else (40, 14))
    for _ in range(audits):
        first, second = generator.random(1000) < 0.6, generator.random(1000) < 0.4
        bound = epsilon_lower_bound(first.astype(int), second.astype(int), alpha=0.05)
        wrong += bound.epsilon > math.log(1.5)
    assert wrong <= most


def test_a_handful_of_outcomes_is_refused():
    with pytest.raises(InvalidInput):
        epsilon_lower_bound(np.zeros(3, int), np.zeros(3, int))
