"""Functions that bend one way, as far as drawing them in straight lines needs to know."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class CurveShape:
    """A monotone function, where it begins, and the scale on which it bends evenly."""

    value: Callable[[float], float]
    even: Callable[[float], float]
    back: Callable[[float], float]
    from_zero: bool | None  # None: from anywhere; True: 0 is in; False: only above 0


def logarithm(value: Callable[[float], float]) -> CurveShape:
    """Return the shape of a logarithm to any base."""
    return CurveShape(value, math.log, math.exp, from_zero=False)


def exponential() -> CurveShape:
    """Return the shape of e to the power of x."""
    return CurveShape(
        math.exp, lambda x: math.exp(x / 2), lambda g: 2 * math.log(g), from_zero=None
    )


def power(given: Fraction) -> CurveShape:
    """Return the shape of x to the power of a constant."""
    exponent = float(given)
    half = exponent / 2
    return CurveShape(
        lambda x: x**exponent,
        lambda x: x**half,
        lambda g: g ** (1 / half),
        from_zero=exponent > 0,
    )
