"""Error bars of numbers that are shown only because their noisy value reached a threshold.

Such a number is not its truth plus noise of the law, but plus noise that was large enough to pass. Let V be
t + X given that t + X >= threshold. The laws are log-concave on the integers, so V grows with t in the
likelihood ratio order: P(V >= v) rises with t, and the t that a noisy v does not rule out begin somewhere and go
on upwards. P(V <= v) is at most P(t + X <= v), so above the end of the law alone serves.
[docs/notes/0106-error-bars-of-selected-cells.md]
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Bits, Floats, Integers
from discreet.noise.laws import NoiseLaw

_RELATIVE, _ABSOLUTE = 1e-5, 1e-11  # far above what `survival` is off by, on the safe side


def passed_ends(
    noisy: Integers, law: NoiseLaw, threshold: int, failure: Fraction
) -> tuple[Integers, Integers]:
    """Return between which ends the true numbers lie, none of them negative.

    Guarantee: for each number by itself, whatever its truth t >= 0 is: given that it passed, the ends hold t
        with at least 1 - failure; so they do for any lower threshold, for which the lower end is higher.

    >>> from discreet.noise.laws import LaplaceLaw
    >>> low, high = passed_ends(np.array([22, 25, 40, 400]), LaplaceLaw.of(1), 22, Fraction(5, 100))
    >>> low.tolist(), high.tolist()
    ([0, 0, 37, 397], [25, 28, 43, 403])
    """
    values = np.asarray(noisy, dtype=np.int64)
    half = law.half_width(1 - failure)
    enough = float(failure) / 2 * (1 - _RELATIVE) - _ABSOLUTE

    def possible(below: Integers) -> Bits:
        """Return where P(V >= v) is large enough at t = v - below."""
        return _share(_reach(law, below), _reach(law, below - values + threshold)) > enough

    return values - _greatest(possible, np.minimum(half, values), values), values + half


def _reach(law: NoiseLaw, distance: Integers) -> Floats:
    return law.survival(distance.astype(np.float64))


def _share(part: Floats, whole: Floats) -> Floats:
    """Return part / whole; 1 where the whole is too small for a float, so that nothing is ruled out."""
    return np.divide(part, whole, out=np.ones_like(part), where=whole > 0)


def _greatest(good: Callable[[Integers], Bits], low: Integers, high: Integers) -> Integers:
    """Return the greatest distance that is good, all below it being good, or `low`."""
    low, high = low.copy(), high.copy()
    near = np.minimum(low + 1, high)
    high = np.where(good(near), high, low)
    while (low < high).any():
        middle = low + (high - low + 1) // 2
        fits = good(middle)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low
