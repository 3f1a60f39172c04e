"""Matrix factorization for running totals (continual counting): noise that grows with the logarithm of the days.

Summing is a triangle of ones, and has a square root with the same shape: its entries are
r(k) = C(2k, k) / 4^k. Each day measures the square root's row with fresh noise; the square root once
more turns measurements into totals. [note 0041; Fichtenberger, Henzinger, Upadhyay, ICML 2023]
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Floats, Integers
from discreet.core.event import Gaussian
from discreet.core.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.noise.additive import discrete_gaussian_squared
from discreet.noise.rng import Rng

LATTICE = 1 << 16
"""Entries of the square root are measured as whole numbers of this fraction."""
LONGEST = 20_000
LARGEST_COUNT = 1 << 36
"""Larger counts of one day are cut to this, whatever the data: totals of weights stay whole."""
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class RunningTotals:
    """A horizon of days, and the noise that pays for all of them when it is fixed.

    `weights` are the entries of the square root in whole steps of 1/LATTICE; `sigma_squared` is the
    variance of the noise on a measurement, in those steps.
    """

    days: int
    weights: tuple[int, ...]
    sigma_squared: Fraction
    neighbours: Neighbours

    @property
    def event(self) -> Gaussian:
        """Return what to tell the accountant, once, for the whole horizon.

        Guarantee: one row of one day moves the vector of all measurements by at most the weights,
            one after the other; the length of that is exact, because the weights are whole.
        """
        return Gaussian(self.sigma_squared, self.moved_squared, self.days * self.neighbours.moves)

    @property
    def moved_squared(self) -> Fraction:
        """Return the squared length by which a neighbour moves the measurements, in steps."""
        return Fraction(_moved_squared(self.weights, self.neighbours))

    def measure(self, counts: npt.ArrayLike, *, after: int = 0, rng: Rng) -> Integers:
        """Return the noisy measurements of the days so far, those after the first `after` of them.

        `counts` are exact, one for each day so far, no more than the horizon has. What comes back is
        published; the event pays for one measurement of each day, so a day that was measured
        before must lie within `after`.
        """
        given = np.asarray(counts, dtype=np.int64)
        if given.ndim != 1 or len(given) > self.days:
            raise InvalidInput(f"The horizon is {self.days} days, fixed when it was charged.")
        weights = np.array(self.weights[: len(given)], dtype=np.int64)
        exact = _convolved(weights, np.clip(given, 0, LARGEST_COUNT))[after:]
        return np.asarray(
            exact + discrete_gaussian_squared(self.sigma_squared, len(exact), rng=rng)
        )

    def totals(self, measured: npt.ArrayLike) -> Floats:
        """Return the running total of each day from published measurements: post-processing."""
        given = np.asarray(measured, dtype=np.float64)
        found: Floats = _convolved(self._back(len(given)), given)
        return found

    def errors(self) -> Floats:
        """Return the standard deviation of each day's total, the last of them at the horizon."""
        back = self._back(self.days)
        return np.asarray(np.sqrt(float(self.sigma_squared) * np.cumsum(back**2)))

    def error95(self) -> Floats:
        """Return the half-width of each day's 95% interval."""
        return self.errors() * Z95

    def _back(self, days: int) -> Floats:
        """Return the sequence that turns measurements into totals: 1/(1-z) over the weights' series."""
        back = np.zeros(days)
        weights = np.array(self.weights[:days], dtype=np.float64)
        for day in range(days):
            known = float(weights[1 : day + 1] @ back[:day][::-1]) if day else 0.0
            back[day] = (1 - known) / weights[0]
        return back


def running_totals(
    days: int, *, rho: Fraction, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> RunningTotals:
    """Return the plan for a horizon of `days`, of which all measurements together cost `rho`.

    >>> plan = running_totals(365, rho=Fraction(1, 2))
    >>> round(float(plan.errors()[-1]), 2)
    2.94
    """
    if not 1 <= days <= LONGEST:
        raise InvalidInput(f"A horizon has 1 to {LONGEST:,} days.")
    if rho <= 0:
        raise InvalidInput("rho must be above 0.")
    weights = tuple(_weights(days))
    moved = Fraction(_moved_squared(weights, neighbours))
    return RunningTotals(days, weights, moved / (2 * rho), neighbours)


def _moved_squared(weights: tuple[int, ...], neighbours: Neighbours) -> int:
    # Replace-one: a row leaves one day and enters another; at most both lengths together.
    return sum(weight * weight for weight in weights) * neighbours.moves**2


def _weights(days: int) -> list[int]:
    """Return r(k) in steps, rounded; whatever they are, what they move is counted exactly."""
    ratio, found = 1.0, []
    for k in range(days):
        found.append(max(1, round(ratio * LATTICE)))
        ratio *= (2 * k + 1) / (2 * k + 2)
    return found


def _convolved(weights: Any, values: Any) -> Any:
    """Return, for each day, the sum of weights times the values of that day and those before."""
    return np.convolve(weights, values)[: len(values)]
