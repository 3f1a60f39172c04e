"""Whether a model is as near to its own noisy measurements as the noise explains: chi-square.

Post-processing of what was paid for: no row is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from discreet.core.arrays import Floats
from discreet.synth.encoding.shape import Columns, merge_counts
from discreet.synth.measure.private_marginals import Measured

LEAST = 1e-6
"""A model whose measurements would be this unlikely, were it true, is not handed over."""

WHOLE_ROWS = 1.0
"""Variance that rows add by being whole: a copy cannot be nearer than a row, whatever its model."""


class Estimates(Protocol):
    """Something that estimates the counts of marginals: a fitted model."""

    def marginal(self, columns: Columns) -> Floats:
        """Return the estimated counts of one marginal."""
        ...


@dataclass(frozen=True, slots=True)
class FitAgreement:
    """The chance of noise that lies as far from a model as the measured noise does.

    `chance` is the smaller of two: of all cells together, and of the worst table, multiplied by the
    number of tables. `cells` are all that were measured.
    """

    chance: float
    cells: int
    worst: Columns

    @property
    def holds(self) -> bool:
        """Return whether the noise explains the distance; NaN does not."""
        return self.chance >= LEAST


def agreement(measured: Sequence[Measured], model: Estimates) -> FitAgreement:
    """Return how well a model agrees with the noisy tables that it was made from.

    Each law says which chi-square its noise adds up to. The nearest possible table is never farther from the noisy one than the real one is, so a good fit passes.
    """
    found = [_squares(each, model) for each in measured]
    if not found:
        return FitAgreement(1.0, 0, ())
    chances = [chance_beyond(*each) for each in found]
    alone = min(range(len(found)), key=lambda i: (not math.isnan(chances[i]), chances[i]))
    together = chance_beyond(
        sum(square for square, _ in found), sum(degrees for _, degrees in found)
    )
    chance = min(together, len(found) * chances[alone])
    if math.isnan(together) or math.isnan(chances[alone]):
        chance = 0.0
    cells = sum(each.values.size for each in measured)
    return FitAgreement(min(chance, 1.0), cells, measured[alone].columns)


def _squares(measured: Measured, model: Estimates) -> tuple[float, int]:
    """Return the chi-square of one table and its degrees of freedom."""
    fitted = merge_counts(model.marginal(measured.columns), measured.columns, measured.merged)
    apart = measured.values - fitted
    return measured.law.chi_square(apart, measured.variance + WHOLE_ROWS)


def chance_beyond(square: float, degrees: int) -> float:
    """Return the chance that chi-square exceeds a value: Wilson and Hilferty's cube root.

    >>> round(chance_beyond(18.31, 10), 3)
    0.05
    """
    if not math.isfinite(square):
        return math.nan
    spread = 2 / (9 * degrees)
    place = ((square / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(place / math.sqrt(2)) / 2
