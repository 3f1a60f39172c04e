"""Security test 14: a group of one unit appears with probability at most delta."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from discreet.errors import InvalidInput
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.privacy.noise.select import _least_distance, keep_groups, threshold_for
from discreet.testing.rng import SeededRng
from noise_kit import appearance_bounds

ALPHA = 1e-9
NOISES = [
    LaplaceLaw.of(1),
    LaplaceLaw.of("0.3"),
    LaplaceLaw.of(20),
    GaussianLaw.of(1),
    GaussianLaw.of("0.2"),
    GaussianLaw.of(400),
]


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("delta", ["1e-15", "1e-9", "1e-6", "0.05", "0.9"])
@pytest.mark.parametrize("groups", [1, 7])
def test_threshold_is_sound_and_least(noise, delta, groups):
    threshold = threshold_for(noise, delta, max_groups=groups)
    _, high = appearance_bounds(noise, threshold, max_groups=groups)
    low, _ = appearance_bounds(noise, threshold - 1, max_groups=groups)
    assert high <= Fraction(delta), "a person alone in its groups shows too often"
    assert low > Fraction(delta), "a lower threshold would do: this one loses groups for nothing"


@pytest.mark.parametrize("sigma_squared", [10**8, 10**14])
def test_large_sigma_is_sound_and_nearly_least(sigma_squared):
    noise = GaussianLaw.of(sigma_squared)
    threshold = threshold_for(noise, "1e-9", max_groups=1)
    sigma = int(sigma_squared**0.5)
    assert appearance_bounds(noise, threshold)[1] <= Fraction("1e-9")
    assert appearance_bounds(noise, threshold - sigma // 100)[0] > Fraction("1e-9")
    assert 5.99 * sigma < threshold < 6.01 * sigma


def test_worked_numbers():
    # t = 1/e: t^21/(1+t) = 5.5e-10, t^20/(1+t) = 1.5e-9.
    assert threshold_for(LaplaceLaw.of(1), "1e-9", max_groups=1) == 22
    # Ten groups at 1e-9 each way cost as much as one at 1e-10.
    ten = threshold_for(LaplaceLaw.of(1), "1e-9", max_groups=10)
    assert ten == threshold_for(LaplaceLaw.of(1), "1e-10", max_groups=1)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_sampled_appearance_equals_the_computed_one(noise):
    groups = 200_000
    threshold = threshold_for(noise, "0.2", max_groups=1)
    kept = keep_groups(np.ones(groups, int), noise, threshold, rng=SeededRng(1)).keep
    low, high = appearance_bounds(noise, threshold)
    assert high - low < Fraction(1, 10**15)
    assert binomtest(int(kept.sum()), groups, float(high)).pvalue > ALPHA
    too_low, _ = appearance_bounds(noise, threshold - 1)
    assert binomtest(int(kept.sum()), groups, float(too_low)).pvalue < ALPHA


def test_a_person_in_several_groups_is_safe_only_if_they_are_counted():
    noise, people, delta = LaplaceLaw.of(2), 50_000, Fraction(1, 20)

    def shown(said_groups):
        threshold = threshold_for(noise, delta, max_groups=said_groups)
        kept = keep_groups(np.ones(people * 5, int), noise, threshold, rng=SeededRng(1)).keep
        return int(kept.reshape(people, 5).any(axis=1).sum())

    assert binomtest(shown(5), people, 0.05, alternative="greater").pvalue > ALPHA
    assert binomtest(shown(1), people, 0.05, alternative="greater").pvalue < ALPHA


def test_noisy_counts_are_what_was_compared():
    appearing = keep_groups([1, 50, 10**6], GaussianLaw.of(4), 30, rng=SeededRng(1))
    assert (appearing.keep == (appearing.noisy >= 30)).all()
    assert appearing.keep.tolist() == [False, True, True]
    assert keep_groups([], LaplaceLaw.of(1), 3).keep.shape == (0,)


def test_larger_groups_appear_more_often():
    noise = LaplaceLaw.of(3)
    chances = [appearance_bounds(noise, 20, units=units)[0] for units in (1, 5, 19, 20, 30)]
    assert chances == sorted(chances)
    assert chances[-1] > Fraction(9, 10)


@pytest.mark.parametrize("delta", [0, 1, -1])
def test_without_delta_no_private_groups(delta):
    with pytest.raises(InvalidInput):
        threshold_for(LaplaceLaw.of(1), delta, max_groups=1)


def test_nonsense_is_refused():
    with pytest.raises(InvalidInput):
        LaplaceLaw.of(0)
    with pytest.raises(InvalidInput):
        GaussianLaw.of(-1)
    with pytest.raises(InvalidInput):
        threshold_for(LaplaceLaw.of(1), "1e-9", max_groups=0)
    for counts in ([0.5], [[1, 2]], 3, ["a"]):
        with pytest.raises(InvalidInput):
            keep_groups(counts, LaplaceLaw.of(1), 3)


@pytest.mark.parametrize("noise", [LaplaceLaw.of(1), GaussianLaw.of(4)], ids=str)
@pytest.mark.parametrize("distance", [-2, 0, 1, 3, 9])
def test_a_delta_next_to_a_tail_is_told_apart(noise, distance):
    low, high = noise.one_sided.bounds(distance, 400)
    just_enough, too_little = (
        side + Fraction(sign, 2**300) for side, sign in ((high, 1), (low, -1))
    )
    assert threshold_for(noise, just_enough, max_groups=1) == distance + 1
    assert threshold_for(noise, too_little, max_groups=1) == distance + 2


@dataclass
class Cliff:
    """A tail that falls from 1 to 0 at one place, and counts how often it is asked."""

    place: int
    asked: list = field(default_factory=list)

    def bounds(self, m, bits):
        self.asked.append(m)
        return (Fraction(m < self.place),) * 2


@pytest.mark.parametrize("place", [*range(-40, 41), 10**15, -(10**15)])
def test_the_least_distance_is_found_in_few_steps(place):
    tail = Cliff(place)
    assert _least_distance(tail, Fraction(1, 2), 64) == place
    assert len(tail.asked) <= 3 * abs(place).bit_length() + 6
