"""From an event to its price: what every release is charged, before any row is read."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.calibrate import gaussian_epsilon
from discreet.account.convert import amplified, epsilon_of_rho
from discreet.account.curves.discrete_gaussian import delta_bounds
from discreet.account.tally import EventTally, tally
from discreet.core.cost import FREE, Cost, Quote
from discreet.core.event import PrivacyEvent
from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import EVERYONE, Region

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
