"""Quantiles of Student's law, and the interval for a mean that they give."""

from __future__ import annotations

import math

from discreet.core.arrays import Floats

_STEPS = 80


def student_quantile(chance: float, freedom: int) -> float:
    """Return t such that Student's law with whole degrees of freedom lies below t with this chance.

    >>> round(student_quantile(0.975, 9), 4)
    2.2622
    """
    low, high = 0.0, 1.0
    while _within(high, freedom) < 2 * chance - 1:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 2 * chance - 1 else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """Return P(|T| < t), by the finite sums for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, total = math.cos(angle), 0.0
    term = 1.0 if freedom % 2 == 0 else cosine
    for k in range(freedom % 2 + 1, freedom, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    if freedom % 2 == 0:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + math.sin(angle) * total)


def mean_interval(values: Floats) -> tuple[float, float, float]:
    """Return the mean and Student's 95% interval for it.

    >>> import numpy as np
    >>> tuple(round(x, 3) for x in mean_interval(np.array([1.0, 2, 3, 4])))
    (2.5, 0.446, 4.554)
    """
    mean, n = float(values.mean()), len(values)
    half = student_quantile(0.975, n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half
