"""The protocol that every accountant follows: events in, a cost of its own kind out."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Protocol, TypeVar

from discreet.core.event import PrivacyEvent

CostT = TypeVar("CostT")


class Accountant(Protocol[CostT]):
    """One way to count privacy.

    Guarantee: costs never lie below the truth. `epsilon` and `delta` are upper bounds of what all
    composed events together cost, for costs fixed beforehand; for costs chosen on the way, see filter.py.
    """

    def supports(self, event: PrivacyEvent) -> bool:
        """Return whether this currency can express `event`."""
        ...

    def cost(self, event: PrivacyEvent) -> CostT:
        """Return the cost of `event`, or raise InvalidInput where it is not supported."""
        ...

    def total(self, costs: Iterable[CostT]) -> CostT:
        """Return the cost of all of `costs` together; of none, that of looking at nothing."""
        ...

    def epsilon(self, cost: CostT, delta: Fraction) -> Fraction | None:
        """Return an epsilon that holds together with `delta`, rounded up; None if there is none."""
        ...

    def delta(self, cost: CostT, epsilon: Fraction) -> Fraction:
        """Return a delta that holds together with `epsilon`, rounded up, at most 1."""
        ...
