"""The price of a release: two ways to count it side by side, added component by component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.event import PrivacyEvent
from discreet.core.numbers import plain, read_fraction
from discreet.core.region import EVERYONE, Region


@dataclass(frozen=True, slots=True)
class Cost:
    """What a release adds to the bill of everyone in its region.

    `epsilon` and `delta` are one way to count: sums of (epsilon, delta). `rho` and `rho_delta` are
    another: sums of rho-zCDP, each with its own chance of failure. None means that this way of
    counting cannot express the release; the other one then must.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    rho_delta: Fraction

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            epsilon=sum_known(self.epsilon, other.epsilon),
            delta=self.delta + other.delta,
            rho=sum_known(self.rho, other.rho),
            rho_delta=self.rho_delta + other.rho_delta,
        )

    def to_json(self) -> dict[str, Any]:
        """Return exact text for each component, the form that the ledger keeps."""
        return {
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": str(self.delta),
            "rho": None if self.rho is None else str(self.rho),
            "rho_delta": str(self.rho_delta),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Cost:
        """Return the cost that `to_json` wrote."""
        return cls(
            epsilon=None if data["epsilon"] is None else read_fraction(data["epsilon"]),
            delta=read_fraction(data["delta"]),
            rho=None if data["rho"] is None else read_fraction(data["rho"]),
            rho_delta=read_fraction(data["rho_delta"]),
        )

    def __str__(self) -> str:
        shown = "no finite epsilon" if self.epsilon is None else f"epsilon {plain(self.epsilon)}"
        return f"{shown}, delta {plain(self.delta)}" if self.delta else shown


def sum_known(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """Return the sum of two numbers, None where one is not known."""
    return None if first is None or second is None else first + second


def larger(costs: Sequence[Cost]) -> Cost:
    """Return the least cost that none of `costs` exceeds, component by component."""
    return Cost(
        epsilon=_most([cost.epsilon for cost in costs]),
        delta=max(cost.delta for cost in costs),
        rho=_most([cost.rho for cost in costs]),
        rho_delta=max(cost.rho_delta for cost in costs),
    )


def _most(parts: Sequence[Fraction | None]) -> Fraction | None:
    known = [part for part in parts if part is not None]
    return max(known) if len(known) == len(parts) else None


FREE = Cost(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
"""The cost of looking at nothing."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A priced release: what happened, whom it touches, and what that costs."""

    event: PrivacyEvent
    cost: Cost
    region: Region = EVERYONE
