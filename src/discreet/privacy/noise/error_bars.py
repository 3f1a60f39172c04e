"""Error bars: limits of a proportion, of a selection, of sums of noise, and of values that passed a threshold.

*Binomial.* Limits of a probability, exact (Clopper-Pearson) or Wilson's, without scipy.

*Selection.* The loss of utility that the exponential mechanism and its kin exceed with probability beta.

*Sums.* Error bars of single answers are exact (laws/law.py). Those of a weighted sum of independent noises are
numerical with a controlled error: a convolution on the sum's own lattice where that is small enough
(error below 1e-9 in the coverage, on the safe side), otherwise on a coarser grid whose rounding
is added to the half width, which makes it an upper bound.

*Passed a threshold.* A number that is shown only because its noisy value reached a threshold is not its truth plus
noise of the law, but plus noise that was large enough to pass. Let V be t + X given that t + X >= threshold. The
laws are log-concave on the integers, so V grows with t in the likelihood ratio order: P(V >= v) rises with t, and
the t that a noisy v does not rule out begin somewhere and go on upwards. P(V <= v) is at most P(t + X <= v), so
above the end of the law alone serves. [docs/notes/0106-error-bars-of-selected-cells.md]
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.numbers import Epsilon, Number, to_fraction
from discreet.errors import InvalidInput
from discreet.privacy.noise.laws import NoiseLaw, to_confidence
from discreet.privacy.noise.laws.law import REACH

_TINY = 1e-300


def clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return limits that hold the true probability with at least this confidence.

    >>> low, high = clopper_pearson(70, 90, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.6779, 0.8587)
    """
    if not 0 < confidence < 1:
        raise InvalidInput("A confidence must lie between 0 and 1, such as 0.95.")
    return (
        lower_limit(successes, trials, (1 - confidence) / 2),
        upper_limit(successes, trials, (1 - confidence) / 2),
    )


def lower_limit(successes: int, trials: int, alpha: float) -> float:
    """Return the p at which `successes` or more have probability alpha."""
    if successes == 0:
        return 0.0
    # P(Binomial(n, p) >= k) = I_p(k, n - k + 1), which rises with p.
    low, high = 0.0, successes / trials
    while low < (middle := (low + high) / 2) < high:
        if beta_share(successes, trials - successes + 1, middle) <= alpha:
            low = middle
        else:
            high = middle
    return low


def upper_limit(successes: int, trials: int, alpha: float) -> float:
    """Return the p at which `successes` or fewer have probability alpha."""
    return 1.0 - lower_limit(trials - successes, trials, alpha)


def wilson(successes: int, trials: int, z: float) -> tuple[float, float]:
    """Return Wilson's score limits of a share, both `z` deviations away: in closed form, not exact."""
    share, square = successes / trials, z**2
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    half = (
        z
        * math.sqrt(share * (1 - share) / trials + square / (4 * trials**2))
        / (1 + square / trials)
    )
    return max(centre - half, 0.0), min(centre + half, 1.0)


def beta_share(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 100 + 10 * math.isqrt(int(max(a, b)) + 1)):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            c = 1 + numerator / c
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


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


Term: TypeAlias = tuple[Number, NoiseLaw]

CELLS = 1 << 17
ERROR = 1e-9  # of the coverage: what wraps around, and what the transform rounds


def combined_half_width(terms: Sequence[Term], confidence: Number, *, cells: int = CELLS) -> float:
    """Return h such that |sum of coefficient * X| <= h has at least this confidence.

    The X are independent, each with its own law. `cells` bounds the grid: where the sum's lattice
    has more points than that, h is larger than needed by at most one grid step for each term.

    >>> from discreet.privacy.noise.laws import LaplaceLaw
    >>> law = LaplaceLaw.of(1)
    >>> combined_half_width([(1, law), (-1, law)], 0.95)
    4.0
    """
    wanted = to_confidence(confidence)
    counts = Counter((abs(to_fraction(c, name="coefficient")), law) for c, law in terms)
    groups = [(c, law, count) for (c, law), count in counts.items() if c]
    if not groups:
        return 0.0
    if len(groups) == 1 and groups[0][2] == 1:
        return float(groups[0][0] * groups[0][1].half_width(wanted))
    if float(wanted) > 1 - 10 * ERROR:
        raise InvalidInput(
            "confidence is too close to 1 for a sum.", hint="Use joint_half_width for each term."
        )
    unit = _common_unit([c for c, _, _ in groups])
    spread = math.sqrt(sum(float(c) ** 2 * law.variance * count for c, law, count in groups))
    step = unit * max(1, math.ceil(2 * REACH * spread / (float(unit) * cells)))
    size = 1 << max(8, math.ceil(2 * REACH * spread / float(step)).bit_length())
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for c, law, count in groups:
        transform *= np.fft.rfft(_on_grid(law, c / step, size)) ** count
    steps = _cover(np.fft.irfft(transform, size), float(wanted) + ERROR)
    exact = all((c / step).denominator == 1 for c, _, _ in groups)
    rounding = 0 if exact else sum(count for _, _, count in groups)
    return float((steps + Fraction(rounding, 2)) * step)


def _on_grid(law: NoiseLaw, coefficient: Fraction, size: int) -> Floats:
    """Return the law of coefficient * X rounded to whole numbers, wrapped around `size` cells."""
    reach = math.ceil(REACH * math.sqrt(law.variance) * float(coefficient)) + 1
    cells = np.arange(-reach, reach + 2, dtype=np.float64)
    # Cell j holds the x with j - 1/2 < coefficient * x <= j + 1/2.
    first = np.floor((cells - 0.5) / float(coefficient)) + 1
    above = law.survival(first)
    mass = above[:-1] - above[1:]
    return np.bincount(
        np.mod(cells[:-1].astype(np.int64), size), weights=mass, minlength=size
    ).astype(np.float64)


def _cover(masses: Floats, wanted: float) -> int:
    """Return the least h so that the cells -h ... h hold `wanted`."""
    half = len(masses) // 2
    both = masses[1:half] + masses[-1:-half:-1]
    held = masses[0] + np.concatenate([[0.0], np.cumsum(both)])
    return int(np.argmax(held >= wanted))


def _common_unit(values: Sequence[Fraction]) -> Fraction:
    """Return the greatest number of which all values are whole multiples."""
    bottom = math.lcm(*(value.denominator for value in values))
    return Fraction(math.gcd(*(int(value * bottom) for value in values)), bottom)


_RELATIVE, _ABSOLUTE = 1e-5, 1e-11  # far above what `survival` is off by, on the safe side


def passed_ends(
    noisy: Integers, law: NoiseLaw, threshold: int, failure: Fraction
) -> tuple[Integers, Integers]:
    """Return between which ends the true numbers lie, none of them negative.

    Guarantee: for each number by itself, whatever its truth t >= 0 is: given that it passed, the ends hold t
        with at least 1 - failure; so they do for any lower threshold, for which the lower end is higher.

    >>> from discreet.privacy.noise.laws import LaplaceLaw
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
