"""Utility bound of the exponential mechanism and its kin: the loss exceeded with probability beta."""

from __future__ import annotations

import math

from discreet.core.numbers import Epsilon, Number, to_fraction
from discreet.errors import InvalidInput


def selection_loss(
    count: int, sensitivity: Number, epsilon: Number | Epsilon, beta: Number
) -> float:
    """Return the loss that a choice among `count` exceeds with probability at most `beta`.

    (2 * sensitivity / epsilon) * ln(count / beta), for `exponential` and `permute_and_flip`; half of it
    where utilities are monotone.

    >>> round(selection_loss(10_000, 1, 1, "0.05"), 2)
    24.41
    """
    failing = float(to_fraction(beta, name="beta"))
    if count < 1 or not 0 < failing < 1:
        raise InvalidInput("count must be at least 1 and beta between 0 and 1.")
    width = 2 * to_fraction(sensitivity, name="sensitivity") / Epsilon.of(epsilon).value
    return float(width) * math.log(count / failing)
