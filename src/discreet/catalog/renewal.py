"""A budget that renews: by how much, how often, how many times in all, and for which periods it has.

A renewal forgets nothing. It raises the total, `epsilon`, by an amount that was declared before, once for each period
of the calendar. So the total in the file stays what it always is, the most that a person can lose in all, and what a
person can lose over all periods is known from the beginning: `lifetime`.

Guarantee: a policy grants at most `at_most` renewals, at most one for each period, in the order of the calendar. A
clock that is set back renews nothing (its period is not later than the last one granted); one that is set forward
grants one period, and then nothing until the calendar has passed it.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import pairwise

from discreet.catalog.period import Every
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import CatalogError, InvalidInput

LENGTHS = (Every.MONTH, Every.QUARTER, Every.YEAR)
"""How long the periods of a budget may be: shorter ones would be no budget."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What was declared, and the periods that were granted.

    `since` is the period that the first total was for. Each renewal adds `epsilon` and `delta` to the
    total, and `share` to every analyst's share (None: shares stay).
    """

    every: Every
    since: str
    epsilon: Epsilon
    delta: Delta
    share: Epsilon | None
    at_most: int
    granted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        periods = (self.since, *self.granted)
        for name in periods:
            if not self.every.names(name):
                example = self.every.period(dt.date(2026, 11, 15))
                raise CatalogError(
                    f"renew: '{name}' is no {self.every.value}; write it as {example}."
                )
        if any(later <= earlier for earlier, later in pairwise(periods)):
            raise CatalogError(
                "renew: 'granted' holds later and later periods, each once, after 'since'."
            )
        if self.at_most < 1 or len(self.granted) > self.at_most:
            raise CatalogError(
                "renew: 'at_most' is how many renewals there may ever be, at least 1."
            )

    @property
    def left(self) -> int:
        """Return how many renewals may still be granted."""
        return self.at_most - len(self.granted)

    def lifetime(self, total: Epsilon) -> Epsilon:
        """Return the most that a person can lose over all periods, where `total` is in force now."""
        return Epsilon(total.value + self.left * self.epsilon.value)

    def due(self, day: dt.date) -> str:
        """Return the period that a renewal on `day` would be for, or refuse."""
        period, last = self.every.period(day), (self.since, *self.granted)[-1]
        if not self.left:
            raise InvalidInput(
                f"All {self.at_most} renewals that were declared have been granted.",
                hint="More would promise less to everybody: change 'at_most' in discreet.toml if they may lose that much.",
            )
        if period == last:
            raise InvalidInput(
                f"The budget of {period} is in force already.",
                hint=f"It renews once a {self.every.value}.",
            )
        if period < last:
            raise InvalidInput(
                f"This machine's clock says {period}, and {last} was granted before.",
                hint="Set the clock right; a clock that goes back renews nothing.",
            )
        return period

    def words(self, total: Epsilon) -> str:
        """Return the policy in a sentence or two, for people."""
        said = f"{len(self.granted)} of {self.at_most} granted"
        last = f", the last for {self.granted[-1]}" if self.granted else ""
        return (
            f"renews each {self.every.value} by epsilon {self.epsilon}: {said}{last}. Losses add up over periods: "
            f"over all of them a person can lose epsilon {self.lifetime(total)}."
        )
