"""Price of an event, and the least noise that meets a price.

`price` says what a release is charged, before any row is read. The other way round, from a target cost to the
least noise that meets it, every result was checked by certified bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from discreet.base.event import EVERYONE, FREE, Cost, Gaussian, PrivacyEvent, Quote, Region
from discreet.base.numbers import Delta, Epsilon, Rho
from discreet.errors import InvalidInput
from discreet.privacy.account.convert import amplified, cost_up, epsilon_of_rho, rho_of_target
from discreet.privacy.account.discrete_gaussian import delta_bounds
from discreet.privacy.account.tally import EventTally, tally

SIGNIFICANT = 7
"""Digits of a calibrated sigma squared: the grid is finer than one part in a million."""


def laplace_scale(l1: Fraction | int, epsilon: Epsilon) -> Fraction:
    """Return the scale of discrete Laplace noise: exactly l1 / epsilon.

    >>> laplace_scale(1, Epsilon.of("0.5"))
    Fraction(2, 1)
    """
    return Fraction(l1) / epsilon.value


def rho_for(epsilon: Epsilon, delta: Delta) -> Rho:
    """Return the greatest rho (rounded down) that implies (epsilon, delta)-DP."""
    _needs_delta(delta)
    return Rho(rho_of_target(epsilon.value, delta.value))


def least_size(unit: PrivacyEvent, epsilon: Epsilon, delta: Delta) -> Fraction:
    """Return the least size, to 7 digits, of concentrated noise that meets (epsilon, delta).

    `unit` is the event of noise of size 1, whose rho falls like one over the size. For Gaussian noise its
    own calibration is sharper.
    """
    if isinstance(unit, Gaussian):
        return gaussian_sigma_squared(unit.l2_squared, epsilon, delta, unit.coordinates)
    rho, target = tally(unit).rho, rho_for(epsilon, delta).value
    if not rho or not target:
        raise InvalidInput("This noise cannot be calibrated to this epsilon and delta.")
    return _round_up_significant(rho / target)


def gaussian_sigma_squared(
    l2_squared: Fraction | int, epsilon: Epsilon, delta: Delta, coordinates: int | None = None
) -> Fraction:
    """Return the least variance parameter, to 7 digits, that meets (epsilon, delta).

    Guarantee: with one moving coordinate the discrete Gaussian's own sum is at most delta; otherwise
        its zCDP conversion is. The value returned was itself checked with certified bounds.
    """
    _needs_delta(delta)
    squared = Fraction(l2_squared)
    if not squared:
        raise InvalidInput("A query that nobody can move needs no noise.")
    if coordinates == 1:
        shift = math.isqrt(squared.numerator // squared.denominator)
        if shift:
            return _sigma_squared_of_shift(shift, epsilon.value, delta.value)
    rho = rho_of_target(epsilon.value, delta.value)
    if not rho:
        raise InvalidInput("This epsilon and delta are too small to calibrate Gaussian noise.")
    return _round_up_significant(squared / (2 * rho))


def gaussian_epsilon(sigma_squared: Fraction, shift: int, delta: Fraction) -> Fraction:
    """Return the least epsilon (rounded up) of one shifted coordinate at `delta`, certified."""
    if _meets(sigma_squared, shift, Fraction(0), delta):
        return Fraction(0)
    if not delta:
        raise InvalidInput("Gaussian noise has no finite epsilon at delta 0.")
    high = epsilon_of_rho(cost_up(Fraction(shift**2) / (2 * sigma_squared)), delta)
    log_delta = math.log(delta)
    guess = _crossing(
        lambda value: _log_delta(float(sigma_squared), shift, value) - log_delta, 0.0, float(high)
    )
    found = _round_up_significant(Fraction(guess))
    while found < high and not _meets(sigma_squared, shift, found, delta):
        found += _unit(found)
    return min(found, high)


def _needs_delta(delta: Delta) -> None:
    if not delta.value:
        raise InvalidInput(
            "Gaussian noise needs a delta greater than 0.",
            hint="Set delta for the data set, or use Laplace noise.",
        )


def _meets(sigma_squared: Fraction, shift: int, epsilon: Fraction, delta: Fraction) -> bool:
    return delta_bounds(sigma_squared=sigma_squared, shift=shift, epsilon=epsilon)[1] <= delta


@lru_cache(maxsize=4096)
def _sigma_squared_of_shift(shift: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the least certified value: a floating-point search proposes, exact bounds decide."""
    rho = rho_of_target(epsilon, delta)
    enough = Fraction(shift**2) / (2 * rho) if rho else None
    log_delta = math.log(delta)
    # zCDP always suffices, and costs at most a small factor: the answer lies below it.
    top = float(enough) * 1.01 if enough else 1e6 * shift**2 / float(epsilon * delta) ** 2
    guess = _crossing(
        lambda value: _log_delta(value, shift, float(epsilon)) - log_delta, top / 40, top
    )
    found = _round_up_significant(Fraction(guess))
    while not _meets(found, shift, epsilon, delta):
        found += _unit(found)
    return found


def _crossing(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return a point from which the decreasing `excess` is about 0: bisection, floats only."""
    while low > 0 and excess(low) < 0:
        low /= 4
    for _ in range(34):
        middle = (low + high) / 2
        if excess(middle) > 0:
            low = middle
        else:
            high = middle
    return high


def _log_delta(sigma_squared: float, shift: int, epsilon: float) -> float:
    """Return ln delta of the discrete law in floats: a proposal, never a guarantee."""
    sigma = math.sqrt(sigma_squared)
    first = math.ceil(epsilon * sigma_squared / shift - shift / 2)
    if sigma < 4:
        near, far = _float_sum(first, sigma), _float_sum(first + shift, sigma)
        total = 2 * _float_sum(0, sigma) - 1
    else:
        near, far = _float_tail(first, sigma), _float_tail(first + shift, sigma)
        total = sigma * math.sqrt(2 * math.pi)
    # Through the logarithm: a large epsilon alone would not fit into a float.
    mass = near - (math.exp(min(epsilon + math.log(far), 700.0)) if far > 0 else 0.0)
    return math.log(mass / total) if mass > 0 else -750.0


def _float_sum(first: int, sigma: float) -> float:
    factor = -1 / (2 * sigma * sigma)
    return sum(math.exp(k * k * factor) for k in range(first, first + int(9 * sigma) + 3))


def _float_tail(first: int, sigma: float) -> float:
    """Return the sum from `first` on as an integral with its first corrections."""
    a = first / sigma
    height = math.exp(-a * a / 2)
    integral = sigma * math.sqrt(math.pi / 2) * math.erfc(a / math.sqrt(2))
    third, fifth = a**3 - 3 * a, a**5 - 10 * a**3 + 15 * a
    corrections = 0.5 + a / (12 * sigma) - third / (720 * sigma**3) + fifth / (30240 * sigma**5)
    return integral + height * corrections


def _unit(value: Fraction) -> Fraction:
    """Return one unit in the last of the significant digits of `value`."""
    digits = len(str(value.numerator)) - len(str(value.denominator))
    power = Fraction(10) ** digits
    leading = digits if value >= power else digits - 1
    return Fraction(10) ** (leading - SIGNIFICANT + 1)


def _round_up_significant(value: Fraction) -> Fraction:
    """Return the least number of 7 significant digits that is not below `value`."""
    if not value:
        return Fraction(1, 10**12)
    unit = _unit(value)
    return -((-value) // unit) * unit


_NEARLY_ONE = Fraction(999_999, 1_000_000)


def price(
    event: PrivacyEvent, *, epsilon: Epsilon, delta: Delta, region: Region = EVERYONE
) -> Quote:
    """Return the quote for `event`, for which `epsilon` was written and `delta` set aside.

    Guarantee: the event is (cost.epsilon, cost.delta)-DP and rho_delta-approximately rho-zCDP. Where
        the event costs no more than was written, cost.epsilon is exactly what was written.
    """
    found = tally(event)
    if found == EventTally():
        return Quote(event, FREE, region)
    charged = epsilon_within(found, delta.value, written=epsilon.value)
    uses_delta = found.soft and charged is not None
    return Quote(
        event=event,
        cost=Cost(
            epsilon=charged,
            delta=delta.value if uses_delta else found.delta,
            rho=found.rho,
            rho_delta=found.delta,
        ),
        region=region,
    )


def epsilon_within(found: EventTally, delta: Fraction, *, written: Fraction) -> Fraction | None:
    """Return `written` if the tally costs no more at `delta`, else its real epsilon rounded up.

    None where no epsilon is finite: soft parts, and no delta left for them.
    """
    if not found.soft:
        return max(written, found.epsilon)
    left = delta - found.delta
    if left <= 0:
        return None
    if _one_shift_fits(found, left, written - found.epsilon):
        return written
    return max(written, _soft_epsilon(found, left))


def _one_shift_fits(found: EventTally, left: Fraction, allowed: Fraction) -> bool:
    """Return whether the only soft part is one shifted integer that meets (allowed, left)."""
    if found.sampled or found.soft_parts != 1 or not found.shifts or allowed < 0:
        return False
    sigma_squared, shift = found.shifts[0]
    return delta_bounds(sigma_squared=sigma_squared, shift=shift, epsilon=allowed)[1] <= left


def _soft_epsilon(found: EventTally, left: Fraction) -> Fraction:
    """Return the least epsilon that we can prove at `left`; each candidate is valid by itself."""
    shares = sum(part.count for part in found.sampled) + bool(found.soft_parts)
    share = left / shares
    total = found.epsilon
    for part in found.sampled:
        # Sampling multiplies a delta by the rate, so that much more is left for what ran inside.
        inner = _soft_epsilon(part.inner, min(share / part.rate, _NEARLY_ONE))
        total += part.count * amplified(inner, part.rate)
    if found.soft_parts:
        total += _concentrated_epsilon(found, share)
    if found.rho is None:
        return total
    return min(total, epsilon_of_rho(found.rho, left))


def _concentrated_epsilon(found: EventTally, share: Fraction) -> Fraction:
    if found.soft_parts == 1 and found.shifts:
        return gaussian_epsilon(*found.shifts[0], share)
    return epsilon_of_rho(found.soft_rho, share)
