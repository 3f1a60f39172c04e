"""A running figure of what was spent, that may be read at any time and acted upon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.account.convert import ZERO, cost_up, epsilon_of_renyi, epsilon_of_rho
from discreet.core.numbers import Delta
from discreet.errors import InvalidInput

FIRST_LEVEL = Fraction(1, 10_000)
GROWTH = Fraction(5, 4)
"""Levels of rho (or of divergence) grow by this factor: the figure is at most a little coarse."""


@dataclass(frozen=True, slots=True)
class Odometer:
    """Adds adaptively chosen costs in one currency and shows an epsilon beside `delta`.

    Pure epsilons: the figure is their sum, and delta their deltas' sum. zCDP, or Renyi at one fixed
    order: levels are fixed beforehand, level j with its own share delta / (j (j+1)); the figure is the
    conversion of the first level that the total has not passed.

    Guarantee: for every level, the interaction up to the moment its level is passed is (figure, share)-DP,
        whatever chose the costs; all levels together fail with probability at most delta. A sum that is
        converted at its own value, without levels, has no such guarantee. [Rogers et al. 2016; Feldman &
        Zrnic 2021]
    """

    delta: Fraction
    order: Fraction | None
    concentrated: bool
    spent: Fraction = ZERO
    failure: Fraction = ZERO

    @classmethod
    def pure(cls) -> Odometer:
        """Return an odometer over sums of epsilon."""
        return cls(ZERO, None, concentrated=False)

    @classmethod
    def zcdp(cls, delta: Delta) -> Odometer:
        """Return an odometer over sums of rho."""
        return cls(_positive(delta), None, concentrated=True)

    @classmethod
    def renyi(cls, order: Fraction, delta: Delta) -> Odometer:
        """Return an odometer over sums of divergences at one fixed order."""
        if order <= 1:
            raise InvalidInput("A Renyi order must be greater than 1.")
        return cls(_positive(delta), order, concentrated=True)

    def after(self, cost: Fraction, *, failure: Fraction = ZERO) -> Odometer:
        """Return the odometer after one more step."""
        if cost < 0 or failure < 0:
            raise InvalidInput("A cost must not be negative.")
        return replace(self, spent=self.spent + cost, failure=self.failure + failure)

    def epsilon(self) -> Fraction:
        """Return the figure to show: an upper bound, rounded up; 0 before anything was spent."""
        if not self.concentrated or not self.spent:
            return self.spent
        for number, level in _levels():
            if self.spent <= level:
                return self._converted(level, self.delta / (number * (number + 1)))
        raise InvalidInput("This total is beyond any level.")

    def total_delta(self) -> Fraction:
        """Return the delta that belongs to the figure, failures of the mechanisms included."""
        return self.delta + self.failure

    def _converted(self, level: Fraction, share: Fraction) -> Fraction:
        if self.order is None:
            return epsilon_of_rho(level, share)
        return epsilon_of_renyi(level, self.order, share)


def _levels() -> Iterator[tuple[int, Fraction]]:
    level = FIRST_LEVEL
    for number in range(1, 200):
        yield number, cost_up(level)
        level *= GROWTH


def _positive(delta: Delta) -> Fraction:
    if not delta.value:
        raise InvalidInput("This odometer needs a delta greater than 0.")
    return delta.value
