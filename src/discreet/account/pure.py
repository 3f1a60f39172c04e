"""Counting in (epsilon, delta): plain sums. Valid for adaptively chosen costs as it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.account.convert import ZERO
from discreet.account.tally import is_private, tally
from discreet.core.bounds import exp_lower, exp_upper
from discreet.core.event import PrivacyEvent
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Spend:
    """A cost in sums: (epsilon, delta)-DP."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class PureAccountant:
    """Adds epsilons and deltas. Knows nothing of Gaussian noise, which has no epsilon of its own."""

    def supports(self, event: PrivacyEvent) -> bool:
        """Return whether every part has a finite epsilon."""
        return is_private(event) and not tally(event).soft

    def cost(self, event: PrivacyEvent) -> Spend:
        """Return the sums of epsilon and delta."""
        found = tally(event)
        if found.soft:
            raise InvalidInput(
                "Gaussian noise has no finite epsilon without a delta.",
                hint="Price it with a delta, or count in zCDP.",
            )
        return Spend(found.epsilon, found.delta)

    def total(self, costs: Iterable[Spend]) -> Spend:
        """Return the sums over `costs`."""
        all_costs = tuple(costs)
        return Spend(
            sum((cost.epsilon for cost in all_costs), ZERO),
            sum((cost.delta for cost in all_costs), ZERO),
        )

    def epsilon(self, cost: Spend, delta: Fraction) -> Fraction | None:
        """Return the sum of epsilons if the deltas fit into `delta`."""
        return cost.epsilon if cost.delta <= delta else None

    def delta(self, cost: Spend, epsilon: Fraction) -> Fraction:
        """Return the delta that remains at a smaller epsilon: that of randomized response."""
        if epsilon >= cost.epsilon:
            return min(Fraction(1), cost.delta)
        # H(e^x) = (e^E - e^x) / (1 + e^E) grows with e^E.
        top = exp_upper(cost.epsilon)
        gap = (top - exp_lower(epsilon)) / (1 + top)
        return min(Fraction(1), cost.delta + (1 - cost.delta) * gap)
