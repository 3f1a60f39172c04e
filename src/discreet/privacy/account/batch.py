"""Price of a batch that is fixed before its first answer, far below the sum of its parts; of DP-SGD too.

A batch enters the ledger as one (epsilon, delta) charge. Which events it holds, their number and their
noise must not depend on any of its answers.

DP-SGD is a batch of noisy sums over Poisson-subsampled units. A step draws every unit with the same secret
chance, adds up a bounded vector of whole numbers for each, and gets discrete Gaussian noise. Steps, rate and
noise are fixed before the first of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from discreet.base.event import (
    EVERYONE,
    FREE,
    Approximate,
    Composed,
    Concentrated,
    Cost,
    Gaussian,
    PrivacyEvent,
    Quote,
    Region,
    Repeated,
)
from discreet.base.numbers import Delta, round_up
from discreet.errors import InvalidInput
from discreet.privacy.account.convert import ZERO, cost_up
from discreet.privacy.account.pld import Convolved, LossBatch
from discreet.privacy.account.pld_laws import (
    atoms_of,
    concentrated_atoms,
    gaussian_atoms,
    has_directions,
    sampled_atoms,
)
from discreet.privacy.account.price import epsilon_within
from discreet.privacy.account.tally import EventTally, tally

Counts = Counter[PrivacyEvent]


def batch_epsilon(events: Iterable[PrivacyEvent], delta: Delta) -> Fraction:
    """Return the least epsilon (rounded up) that we can prove for all of `events` at `delta`.

    Guarantee: the batch is (epsilon, delta)-DP if it was fixed beforehand. The smallest of three
        proofs: plain sums, zCDP, and the privacy-loss distribution [notes/0008].
    """
    parts = tuple(events)
    simple = epsilon_within(tally(Composed(parts)), delta.value, written=ZERO)
    if not delta.value:
        if simple is None:
            raise InvalidInput("Gaussian noise has no finite epsilon at delta 0.")
        return simple
    # Adding and removing a person must both hold: the larger of the two is what is proven.
    found = [least_epsilon(batch, delta.value) for batch in _directions(parts)]
    proofs = [] if None in found else [max((one for one in found if one is not None), default=ZERO)]
    if simple is not None:
        proofs.append(simple)
    if not proofs:
        raise InvalidInput(
            "No finite epsilon holds at this delta.", hint="Set a larger delta aside."
        )
    return min(proofs)


def price_batch(
    events: Iterable[PrivacyEvent], *, delta: Delta, region: Region = EVERYONE
) -> Quote:
    """Return the quote of a fixed batch as one (epsilon, delta) charge, with its zCDP beside it.

    Guarantee: valid only if the whole batch was fixed before its first answer.
    """
    parts = tuple(events)
    found = tally(Composed(parts))
    if found == EventTally():
        return Quote(Composed(()), FREE, region)
    epsilon = batch_epsilon(parts, delta)
    # Whatever proof was the smallest, it used at most `delta`; plain sums without delta use none.
    used = found.delta if not found.soft and epsilon >= found.epsilon else delta.value
    event = Approximate(epsilon, used)
    return Quote(event, Cost(epsilon, used, found.rho, found.delta), region)


def _directions(parts: tuple[PrivacyEvent, ...]) -> list[LossBatch]:
    """Return the batch once, or twice where adding and removing a person differ."""
    counts: Counts = Counter()
    for part in parts:
        _count(part, 1, counts)
    rho = ZERO
    for event in list(counts):
        # What is only known by its rho is added up in rho first: that loses nothing.
        match event:
            case Concentrated(one):
                rho += one * counts.pop(event)
            case Gaussian(sigma_squared, l2_squared, coordinates) if coordinates != 1:
                rho += l2_squared / (2 * sigma_squared) * counts.pop(event)
            case _:
                pass
    if rho:
        counts[Gaussian(Fraction(1), 2 * cost_up(rho))] = 1
    if not counts:
        return []
    ways = (False, True) if any(has_directions(event) for event in counts) else (False,)
    return [
        LossBatch(tuple((atoms_of(event, adding=way), count) for event, count in counts.items()))
        for way in ways
    ]


def _count(event: PrivacyEvent, times: int, counts: Counts) -> None:
    match event:
        case Composed(events):
            for part in events:
                _count(part, times, counts)
        case Repeated(inner, count):
            if times * count:
                _count(inner, times * count, counts)
        case _:
            counts[event] += times


def least_epsilon(batch: LossBatch, delta: Fraction) -> Fraction | None:
    """Return the least epsilon, to 9 digits, whose bounded delta is at most `delta`."""
    limit = math.nextafter(float(delta), 0)
    if batch.infinite >= limit:
        return None
    summed = batch.around_delta(limit)
    if summed.delta(0.0) <= limit:
        return ZERO
    high = max(1e-9, (summed.log_moment - math.log(limit)) / summed.tilt + 1e-6)
    if summed.delta(high) > limit:
        return None
    return round_up(Fraction(_crossing(summed, high, limit)), digits=9)


def _crossing(summed: Convolved, high: float, limit: float) -> float:
    """Return an epsilon at which delta is at most `limit`, within 10^-9 of the least one.

    Regula falsi with halving (Illinois) on the logarithm of delta, which is nearly straight; only an
    end whose delta was found to be small enough is ever returned.
    """
    goal = math.log(limit)
    low = 0.0
    at_low, at_high = _log_excess(summed, low, goal), _log_excess(summed, high, goal)
    for _ in range(100):
        if high - low < 1e-9:
            break
        middle = high - at_high * (high - low) / (at_high - at_low)
        middle = min(max(middle, low + 5e-10), high - 5e-10)
        excess = _log_excess(summed, middle, goal)
        if excess <= 0:
            high, at_high, at_low = middle, excess, at_low / 2
        else:
            low, at_low, at_high = middle, excess, at_high / 2
    return high


def _log_excess(summed: Convolved, epsilon: float, goal: float) -> float:
    return math.log(max(summed.delta(epsilon), 1e-320)) - goal


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
