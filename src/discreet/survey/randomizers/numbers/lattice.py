"""Numbers between two bounds, moved to a finite lattice by unbiased rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.arrays import Integers
from discreet.errors import InvalidInput
from discreet.noise.rng import Rng
from discreet.survey.randomizers.device_coins import WORD, Draws
from discreet.survey.randomizers.dyadic import words32

STEPS = 2048
"""Positions 0 .. 2,048 stand for the numbers from the lower to the upper bound."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The declared bounds of a number question.

    Rounding is preparation: whichever position a number gets, what follows hides positions. Doubles
    are the same on every device, so that reports are too.
    """

    lower: float
    upper: float
    steps: int = field(default=STEPS, init=False)

    @classmethod
    def of(cls, lower: float, upper: float) -> NumberRange:
        """Return the bounds, or refuse those without an inside."""
        width = upper - lower
        if not (math.isfinite(lower) and math.isfinite(upper) and 0 < width < math.inf):
            raise InvalidInput("A number question needs lower below upper, both finite.")
        return cls(lower, upper)

    def scaled(self, value: float) -> float:
        """Return where a number lies, in steps from the lower bound; outside means at the bound."""
        held = min(max(value, self.lower), self.upper)
        return (held - self.lower) / (self.upper - self.lower) * STEPS

    def position(self, value: float, draws: Draws) -> int:
        """Return the step below or the step above, by one coin, so that the mean is kept."""
        scaled = self.scaled(value)
        below = math.floor(scaled)
        return below + draws.coin(math.floor((scaled - below) * WORD))

    def positions(self, values: Any, rng: Rng) -> Integers:
        """Return `position` for many numbers."""
        held = np.clip(np.asarray(values, dtype=np.float64), self.lower, self.upper)
        scaled = (held - self.lower) / (self.upper - self.lower) * STEPS
        below = np.floor(scaled)
        up = words32(held.size, rng) < np.floor((scaled - below) * WORD)
        return np.asarray(below.astype(np.int64) + up)
