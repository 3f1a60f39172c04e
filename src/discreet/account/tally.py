"""An event taken apart into sums that every accountant of totals starts from.

What has a finite epsilon of its own, what certainly may fail, and what is only concentrated
(Gaussian noise), so that it gets an epsilon from whatever delta is left over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.account.convert import ZERO, amplified, rho_of_gaussian, rho_of_pure, rho_of_range
from discreet.core.cost import sum_known
from discreet.core.event import (
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
)
from discreet.errors import InternalError, InvalidInput


@dataclass(frozen=True, slots=True)
class SampledPart:
    """`count` runs of the soft event `inner`, each on a fresh secret sample at `rate`."""

    inner: Tally
    rate: Fraction
    count: int

    def times(self, count: int) -> SampledPart:
        """Return `count` times as many runs."""
        return SampledPart(self.inner, self.rate, self.count * count)


@dataclass(frozen=True, slots=True)
class Tally:
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

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            soft_rho=self.soft_rho + other.soft_rho,
            soft_parts=self.soft_parts + other.soft_parts,
            shifts=self.shifts + other.shifts,
            sampled=self.sampled + other.sampled,
            rho=sum_known(self.rho, other.rho),
        )

    def times(self, count: int) -> Tally:
        """Return the tally of `count` independent runs."""
        if not count:
            return Tally()
        return Tally(
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


def _pure(epsilon: Fraction) -> Tally:
    return Tally(epsilon=epsilon, rho=rho_of_pure(epsilon))


def _gaussian(event: Gaussian) -> Tally:
    if not event.l2_squared:
        return Tally()
    rho = rho_of_gaussian(event.l2_squared, event.sigma_squared)
    shifts: tuple[tuple[Fraction, int], ...] = ()
    if event.coordinates == 1:
        shift = math.isqrt(event.l2_squared.numerator // event.l2_squared.denominator)
        shifts = ((event.sigma_squared, shift),)
    return Tally(soft_rho=rho, soft_parts=1, shifts=shifts, rho=rho)


def _approximate(event: Approximate) -> Tally:
    # An (epsilon, delta)-DP pair is (1 - delta) of a pure pair and delta of anything [KOV15].
    return Tally(epsilon=event.epsilon, delta=event.delta, rho=rho_of_pure(event.epsilon))


def _concentrated(event: Concentrated) -> Tally:
    if not event.rho:
        return Tally()
    return Tally(soft_rho=event.rho, soft_parts=1, rho=event.rho)


def _sampled(event: Sampled) -> Tally:
    inner = tally(event.event)
    if event.rate == 1:
        return inner
    if event.rate == 0:
        return Tally()
    if inner.soft:
        # No zCDP bound is claimed for a sampled Gaussian: its Renyi curve is not linear.
        hard = Tally(delta=inner.delta * event.rate, rho=None)
        return hard + Tally(sampled=(SampledPart(inner, event.rate, 1),))
    epsilon = amplified(inner.epsilon, event.rate)
    return Tally(epsilon=epsilon, delta=inner.delta * event.rate, rho=rho_of_pure(epsilon))


def _repeated(event: Repeated) -> Tally:
    if event.count < 0:
        raise InvalidInput("An event cannot be repeated a negative number of times.")
    return tally(event.event).times(event.count)


def _non_private(event: NonPrivate) -> Tally:
    raise InvalidInput(
        f"This release has no privacy guarantee and so no price ({event.reason}).",
        hint="It can be recorded, but not paid for.",
    )


Rule: TypeAlias = Callable[[Any], Tally]

_RULES: dict[type[PrivacyEvent], Rule] = {
    Laplace: lambda event: _pure(event.l1 / event.scale),
    Gaussian: _gaussian,
    Select: lambda event: Tally(epsilon=event.epsilon, rho=rho_of_range(event.epsilon)),
    Pure: lambda event: _pure(event.epsilon),
    Approximate: _approximate,
    Failing: lambda event: tally(event.event) + Tally(delta=event.delta),
    Concentrated: _concentrated,
    Sampled: _sampled,
    Composed: lambda event: sum((tally(part) for part in event.events), Tally()),
    Repeated: _repeated,
    NonPrivate: _non_private,
}


def tally(event: PrivacyEvent) -> Tally:
    """Return the event taken apart into sums; refuse one that has no guarantee at all."""
    rule = _RULES.get(type(event))
    if rule is None:
        raise InternalError(f"no accountant knows the event {type(event).__name__}")
    return rule(event)


def is_private(event: PrivacyEvent) -> bool:
    """Return whether every part of `event` carries some guarantee."""
    match event:
        case NonPrivate():
            return False
        case Composed(events):
            return all(is_private(part) for part in events)
        case Failing(inner) | Sampled(inner) | Repeated(inner):
            return is_private(inner)
        case _:
            return True
