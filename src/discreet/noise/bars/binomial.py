"""Limits of a binomial probability, exact (Clopper-Pearson) or Wilson's, without scipy."""

from __future__ import annotations

import math

from discreet.errors import InvalidInput

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
