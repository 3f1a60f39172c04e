"""An event taken apart into sums that every price starts from.

What has a finite epsilon of its own, what certainly may fail, and what is only concentrated
(Gaussian noise), so that it gets an epsilon from whatever delta is left over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.base.event import (
    Approximate,
    Composed,
    Concentrated,
    Failing,
    Gaussian,
    Laplace,
    NonPrivate,
    PrivacyEvent,
    Pure,
    Repeated,
    Sampled,
    Select,
    sum_known,
)
from discreet.errors import InternalError, InvalidInput
from discreet.privacy.account.convert import (
    ZERO,
    amplified,
    rho_of_gaussian,
    rho_of_pure,
    rho_of_range,
)


@dataclass(frozen=True, slots=True)
class SampledPart:
    """`count` runs of the soft event `inner`, each on a fresh secret sample at `rate`."""

    inner: EventTally
    rate: Fraction
    count: int

    def times(self, count: int) -> SampledPart:
        """Return `count` times as many runs."""
        return SampledPart(self.inner, self.rate, self.count * count)


@dataclass(frozen=True, slots=True)
class EventTally:
    """An event taken apart: sums that hold for all its parts together.

    `epsilon`, `delta`: parts with a finite epsilon. `soft_rho`: parts with no finite epsilon, in zCDP.
    `shifts`: those of them that are one shifted integer, as (sigma_squared, shift). `soft_parts`: how
    many there are. `sampled`: what ran on secret samples and is soft. `rho`: all parts in zCDP, or None.
    """

    epsilon: Fraction = ZERO
    delta: Fraction = ZERO
    soft_rho: Fraction = ZERO
    soft_parts: int = 0
    shifts: tuple[tuple[Fraction, int], ...] = ()
    sampled: tuple[SampledPart, ...] = ()
    rho: Fraction | None = ZERO

    def __add__(self, other: EventTally) -> EventTally:
        return EventTally(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            soft_rho=self.soft_rho + other.soft_rho,
            soft_parts=self.soft_parts + other.soft_parts,
            shifts=self.shifts + other.shifts,
            sampled=self.sampled + other.sampled,
            rho=sum_known(self.rho, other.rho),
        )

    def times(self, count: int) -> EventTally:
        """Return the tally of `count` independent runs."""
        if not count:
            return EventTally()
        return EventTally(
            epsilon=self.epsilon * count,
            delta=self.delta * count,
            soft_rho=self.soft_rho * count,
            soft_parts=self.soft_parts * count,
            shifts=self.shifts if count == 1 else (),
            sampled=tuple(part.times(count) for part in self.sampled),
            rho=None if self.rho is None else self.rho * count,
        )

    @property
    def soft(self) -> bool:
        """Return whether some part has no finite epsilon without a delta."""
        return bool(self.soft_parts or self.sampled)


def pure_tally(epsilon: Fraction) -> EventTally:
    """Return the tally of what is `epsilon`-DP, and nothing more is known."""
    return EventTally(epsilon=epsilon, rho=rho_of_pure(epsilon))


def _gaussian(event: Gaussian) -> EventTally:
    if not event.l2_squared:
        return EventTally()
    rho = rho_of_gaussian(event.l2_squared, event.sigma_squared)
    shifts: tuple[tuple[Fraction, int], ...] = ()
    if event.coordinates == 1:
        shift = math.isqrt(event.l2_squared.numerator // event.l2_squared.denominator)
        shifts = ((event.sigma_squared, shift),)
    return EventTally(soft_rho=rho, soft_parts=1, shifts=shifts, rho=rho)


def _approximate(event: Approximate) -> EventTally:
    # An (epsilon, delta)-DP pair is (1 - delta) of a pure pair and delta of anything [KOV15].
    return EventTally(epsilon=event.epsilon, delta=event.delta, rho=rho_of_pure(event.epsilon))


def _concentrated(event: Concentrated) -> EventTally:
    if not event.rho:
        return EventTally()
    return EventTally(soft_rho=event.rho, soft_parts=1, rho=event.rho)


def _sampled(event: Sampled) -> EventTally:
    inner = tally(event.event)
    if event.rate == 1:
        return inner
    if event.rate == 0:
        return EventTally()
    if inner.soft:
        # No zCDP bound is claimed for a sampled Gaussian: its Renyi curve is not linear.
        hard = EventTally(delta=inner.delta * event.rate, rho=None)
        return hard + EventTally(sampled=(SampledPart(inner, event.rate, 1),))
    epsilon = amplified(inner.epsilon, event.rate)
    return EventTally(epsilon=epsilon, delta=inner.delta * event.rate, rho=rho_of_pure(epsilon))


def _repeated(event: Repeated) -> EventTally:
    if event.count < 0:
        raise InvalidInput("An event cannot be repeated a negative number of times.")
    return tally(event.event).times(event.count)


def _non_private(event: NonPrivate) -> EventTally:
    raise InvalidInput(
        f"This release has no privacy guarantee and so no price ({event.reason}).",
        hint="It can be recorded, but not paid for.",
    )


Rule: TypeAlias = Callable[[Any], EventTally]

RULES: dict[type[PrivacyEvent], Rule] = {
    Laplace: lambda event: pure_tally(event.l1 / event.scale),
    Gaussian: _gaussian,
    Select: lambda event: EventTally(epsilon=event.epsilon, rho=rho_of_range(event.epsilon)),
    Pure: lambda event: pure_tally(event.epsilon),
    Approximate: _approximate,
    Failing: lambda event: tally(event.event) + EventTally(delta=event.delta),
    Concentrated: _concentrated,
    Sampled: _sampled,
    Composed: lambda event: sum((tally(part) for part in event.events), EventTally()),
    Repeated: _repeated,
    NonPrivate: _non_private,
}
"""The one row that an event needs: every price starts from it. Rows of PLD are sharper ones."""


def tally(event: PrivacyEvent) -> EventTally:
    """Return the event taken apart into sums; refuse one that has no guarantee at all."""
    rule = RULES.get(type(event))
    if rule is None:
        raise InternalError(f"no accountant knows the event {type(event).__name__}")
    return rule(event)
