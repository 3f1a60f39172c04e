"""Privacy events: what a mechanism did, priced by any accountant.

Append-only: a class never changes its meaning; a new fact gets a new class. Sensitivities are those
under the dataset's own neighbour relation, computed by the planner. All numbers are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise of `scale` on an integer vector that moves by at most `l1` in L1."""

    scale: Fraction
    l1: Fraction


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Discrete Gaussian noise on an integer vector whose squared L2 move is at most `l2_squared`.

    `coordinates` is the greatest number of coordinates that can move at all, None if unknown; with
    one, the privacy loss is that of a single integer shift and has an exact sum.
    """

    sigma_squared: Fraction
    l2_squared: Fraction
    coordinates: int | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """The exponential mechanism: the log-odds of any two outcomes move by at most `epsilon`.

    That is the bounded-range property, stronger than pure epsilon-DP.
    """

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Pure:
    """Any mechanism that is `epsilon`-DP and nothing more is known: randomized response,
    permute-and-flip, report-noisy-max, above-threshold."""

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Approximate:
    """Any mechanism that is (`epsilon`, `delta`)-DP and nothing more is known."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class Failing:
    """`event`, except that with probability at most `delta` anything may be shown (thresholds)."""

    event: PrivacyEvent
    delta: Fraction


@dataclass(frozen=True, slots=True)
class Concentrated:
    """Any mechanism that is `rho`-zCDP and nothing more is known."""

    rho: Fraction


@dataclass(frozen=True, slots=True)
class Sampled:
    """`event` on a secret Poisson sample: each unit was taken with probability `rate`."""

    event: PrivacyEvent
    rate: Fraction


@dataclass(frozen=True, slots=True)
class Composed:
    """All of `events`, each chosen before any answer or after seeing earlier ones."""

    events: tuple[PrivacyEvent, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """`event`, `count` times with fresh noise."""

    event: PrivacyEvent
    count: int


@dataclass(frozen=True, slots=True)
class NonPrivate:
    """A release without any guarantee; `columns` is what it exposed."""

    reason: str
    columns: tuple[str, ...] = ()


PrivacyEvent: TypeAlias = (
    Laplace
    | Gaussian
    | Select
    | Pure
    | Approximate
    | Failing
    | Concentrated
    | Sampled
    | Composed
    | Repeated
    | NonPrivate
)

NOTHING = Composed(())
"""The event of a release that looked at nothing."""
