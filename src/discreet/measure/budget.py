"""What one synthesis costs, and how the charge is divided before anything is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.base.event import NOTHING, Composed, Failing, PrivacyEvent, Quote, Region
from discreet.base.numbers import Delta, Epsilon
from discreet.errors import InvalidInput
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.account.price import price

DELTA_PART = Fraction(1, 4)
"""The part of a dataset's delta that a synthesis uses unless told otherwise: the ledger keeps two
books, and with this part a run that takes the whole epsilon fits either of them."""

THRESHOLD_PART = Fraction(1, 10)
"""The part of the run's delta that pays for words that appear although one person has them."""

LARGEST = Fraction(1000)
"""No more than this rho (or pure epsilon) is used: counts are next to exact by then, and noise of a
smaller scale cannot be drawn. The charge is what was written all the same."""

HOPELESS = 1e7
"""Noise on a single count beyond this: no table of people is large enough to be seen through it."""


@dataclass(frozen=True, slots=True)
class SynthBudget:
    """The budget of a run, how it is divided, and the quote that is charged for all of it."""

    whole: MarginalBudget
    learn_share: Fraction
    threshold_delta: Fraction
    delta: Delta
    quote: Quote

    @property
    def learning(self) -> MarginalBudget:
        """Return the part that learns domains."""
        return self.whole.part(self.learn_share)

    @property
    def fitting(self) -> MarginalBudget:
        """Return the part that the method uses."""
        return self.whole.part(1 - self.learn_share)


def synth_budget(
    epsilon: Epsilon,
    delta: Delta,
    *,
    region: Region,
    learn_share: Fraction = Fraction(0),
    words: int = 0,
) -> SynthBudget:
    """Return what (epsilon, delta) buys: rho of zCDP where there is a delta, else pure epsilon.

    Guarantee: the event is (epsilon, delta)-DP: rho converts to epsilon at what the thresholds leave
        of delta, checked by the accountant that prices it; both parts of the budget add up to it.
    """
    if not delta.value:
        budget = MarginalBudget(min(epsilon.value, LARGEST), concentrated=False)
        quote = price(budget.event, epsilon=epsilon, delta=delta, region=region)
        return SynthBudget(budget, learn_share, Fraction(0), delta, quote)
    risk = delta.value * THRESHOLD_PART if words else Fraction(0)
    rho = min(rho_of_target(epsilon.value, delta.value - risk), LARGEST)
    for _ in range(64):
        if not rho:
            break
        budget = MarginalBudget(rho, concentrated=True)
        event: PrivacyEvent = budget.event
        if risk:
            event = Composed((budget.event, Failing(NOTHING, risk)))
        quote = price(event, epsilon=epsilon, delta=delta, region=region)
        if quote.cost.epsilon == epsilon.value:
            return SynthBudget(budget, learn_share, risk, delta, quote)
        # The certified conversion back may round up past what was written.
        rho *= 1 - Fraction(1, 10**9)
    raise too_small(epsilon)


def check_epsilon_useful(budget: SynthBudget, unit: CountSensitivity, epsilon: Epsilon) -> None:
    """Refuse, before anything is charged, an epsilon at which even one count would be all noise."""
    if noise_of(budget.whole, unit) > HOPELESS:
        raise too_small(epsilon)


def noise_of(budget: MarginalBudget, unit: CountSensitivity) -> float:
    """Return the standard deviation of one count that gets the whole budget."""
    if budget.concentrated:
        return math.sqrt(unit.l2_squared / (2 * budget.amount))
    return math.sqrt(2) * float(unit.l1 / budget.amount)


def too_small(epsilon: Epsilon) -> InvalidInput:
    """Return the refusal of a budget that buys nothing."""
    return InvalidInput(
        f"At epsilon {epsilon} nothing could be seen: even one count would be off by more than "
        f"{int(HOPELESS):,} rows.",
        hint="Usual values lie between 0.1 and 10. Nothing was charged.",
    )
