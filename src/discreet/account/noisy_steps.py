"""Price of DP-SGD: composed noisy sums over Poisson-subsampled units, fixed beforehand.

A step draws every unit with the same secret chance, adds up a bounded vector of whole numbers for each,
and gets discrete Gaussian noise. Steps, rate and noise are fixed before the first of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from discreet.account.batch import least_epsilon
from discreet.account.curves.gaussian_law import gaussian_atoms
from discreet.account.curves.pld import LossBatch
from discreet.account.curves.pld_laws import concentrated_atoms, sampled_atoms
from discreet.errors import InvalidInput

FINEST = 1 << 10
"""Steps of the lattice that one deviation of the noise must have: then it is as good as continuous."""

FAR = 16
"""Deviations of a coordinate's noise beyond which nothing is claimed: the chance is below 10^-55."""

LEAST, MOST, TRIES = 64, 1 << 18, 14
"""Deviations that are tried, in 256ths of the reach, and how many prices at most."""


@dataclass(frozen=True, slots=True)
class NoisySteps:
    """`count` sums of `coordinates` whole numbers; a unit is in each with chance `rate`.

    It moves a sum by at most `reach` in L2; the noise has the parameter `sigma_squared`.
    """

    count: int
    rate: Fraction
    coordinates: int
    reach: int
    sigma_squared: Fraction


def steps_epsilon(steps: NoisySteps, *, rho: Fraction, delta: Fraction) -> Fraction | None:
    """Return an epsilon that holds at `delta` for all steps and for `rho` of zCDP beside them.

    Guarantee: for units added or removed. Noise rounded from the continuous Gaussian is
        post-processing of it, so its loss is at most that of one continuous shift of `reach`
        (rotate), whose law is bounded by `gaussian_atoms`. The discrete Gaussian's probabilities
        differ from the rounded one's by a factor of at most e^(33/sigma^2) a coordinate, within 16
        deviations: that slack is added twice to epsilon, and to delta. (docs/notes/0053)
    """
    sigma = math.sqrt(float(steps.sigma_squared))
    if sigma < FINEST:
        raise InvalidInput("The lattice is too coarse for the price of these steps.")
    slack = 33 * steps.count * steps.coordinates / float(steps.sigma_squared)
    beyond = 8.0 * steps.count * steps.coordinates * math.exp(-(FAR**2) / 2)
    left = Fraction(float(delta) * math.exp(-slack) * (1 - 1e-12) - beyond * 1e6)
    if left <= 0:
        return None
    whole = gaussian_atoms(steps.reach / sigma)
    side = concentrated_atoms(float(rho) * (1 + 1e-12))
    found = []
    for adding in (False, True):
        each = sampled_atoms(whole, float(steps.rate), adding=adding)
        found.append(least_epsilon(LossBatch(((each, steps.count), (side, 1))), left))
    if None in found:
        return None
    most = max(one for one in found if one is not None)
    return most + Fraction(2 * slack * (1 + 1e-9))


@lru_cache(maxsize=256)
def least_noise(
    steps: NoisySteps, *, rho: Fraction, epsilon: Fraction, delta: Fraction
) -> NoisySteps | None:
    """Return the steps with about the least noise that meets (epsilon, delta); None if none does.

    The noise is a multiple of reach / 256; every candidate is priced, and only one that fits is
    returned. A function of public numbers alone. `steps.sigma_squared` does not matter.
    """
    best, low, high = None, LEAST, MOST
    guess = _first_guess(steps, epsilon, delta)
    for _ in range(TRIES):
        tried = replace(steps, sigma_squared=Fraction(steps.reach * guess, 256) ** 2)
        found = steps_epsilon(tried, rho=rho, delta=delta)
        if found is not None and found <= epsilon:
            best, high = tried, guess
            if found >= epsilon * Fraction(49, 50):
                break
        else:
            low = guess + 1
        # Epsilon falls about like one over the noise: aim a little above what that says.
        aim = 2 * guess if found is None else math.ceil(guess * float(found / epsilon) * 1.003)
        guess = min(max(aim, low), high - 1) if best is not None else min(max(aim, low), MOST)
    return best


def _first_guess(steps: NoisySteps, epsilon: Fraction, delta: Fraction) -> int:
    """Return about the noise that is needed, in 256ths of the reach: large rates, small losses."""
    each = float(steps.rate) * math.sqrt(2 * steps.count * math.log(1 / float(delta)))
    return min(max(round(256 * each / float(epsilon)), LEAST), MOST)
