"""Counting in zero-concentrated DP: rho adds up, also when it is chosen on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.account.convert import ZERO, delta_of_rho, epsilon_of_rho
from discreet.account.tally import is_private, tally
from discreet.core.event import PrivacyEvent
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Concentration:
    """A cost in zCDP: `delta`-approximately `rho`-zCDP."""

    rho: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class ZcdpAccountant:
    """Adds rho. A sampled Gaussian has no useful rho and is not supported; use Renyi or PLD."""

    def supports(self, event: PrivacyEvent) -> bool:
        """Return whether every part has a rho."""
        return is_private(event) and tally(event).rho is not None

    def cost(self, event: PrivacyEvent) -> Concentration:
        """Return the sums of rho and of the failure probabilities."""
        found = tally(event)
        if found.rho is None:
            raise InvalidInput(
                "Gaussian noise on a sample cannot be expressed in zCDP.",
                hint="Price the whole batch with price_batch.",
            )
        return Concentration(found.rho, found.delta)

    def total(self, costs: Iterable[Concentration]) -> Concentration:
        """Return the sums over `costs`."""
        all_costs = tuple(costs)
        return Concentration(
            sum((cost.rho for cost in all_costs), ZERO),
            sum((cost.delta for cost in all_costs), ZERO),
        )

    def epsilon(self, cost: Concentration, delta: Fraction) -> Fraction | None:
        """Return the conversion at what of `delta` is left beside the failures."""
        if not cost.rho and cost.delta <= delta:
            return ZERO
        return epsilon_of_rho(cost.rho, delta - cost.delta) if cost.delta < delta else None

    def delta(self, cost: Concentration, epsilon: Fraction) -> Fraction:
        """Return the conversion at `epsilon`, plus the failures."""
        return min(Fraction(1), delta_of_rho(cost.rho, epsilon) + cost.delta)
