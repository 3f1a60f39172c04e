"""Shares and means behind noisy reports: unbiased, or consistent by norm-sub, with intervals for those of the respondents themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.survey.randomizers.base import MeanRandomizer, ShareRandomizer, Shares, Tally
from discreet.survey.randomizers.numbers.lattice import NumberRange

_HALVINGS = 60
Number = TypeVar("Number", float, Shares)


@dataclass(frozen=True, slots=True)
class Estimated(Generic[Number]):
    """An unbiased mean, or one share a value, and its interval; they may leave the bounds, or 0 .. 1."""

    value: Number
    low: Number
    high: Number


def shares_from(
    randomizer: ShareRandomizer,
    supporters: Shares,
    *,
    reports: int,
    confidence: float = 0.95,
    repeats: int = 1,
) -> Estimated[Shares]:
    """Return shares from how many of the reports support each value.

    (supporters / n - other) / (own - other). Each interval by itself holds the respondents' own share
    with about this confidence: the shares whose supporters would lie no further off than normal limits
    with a continuity correction. Where public hashes are fixed, their collisions are allowed for. Up to
    `repeats` reports may be copies of one: the weights k / n of the devices, k <= repeats, have squares
    that add up to at most repeats / n.
    """
    own, other = float(randomizer.own), float(randomizer.other)
    value = (supporters / reports - other) / (own - other)
    apart = reports / repeats
    correction = half_report(randomizer) / apart
    width = NormalDist().inv_cdf((1 + confidence) / 2)

    def reach(share: Shares) -> Shares:
        return correction + width * np.sqrt(variance(randomizer, share, reports=apart))

    return Estimated(value, _edge(value, reach, -1.0), _edge(value, reach, 1.0))


def half_report(randomizer: ShareRandomizer) -> float:
    """Return what half a report moves a share by, times their number: the continuity correction."""
    return 1 / (2 * (float(randomizer.own) - float(randomizer.other)))


def variance(randomizer: ShareRandomizer, share: Any, *, reports: float) -> Shares:
    """Return the variance of an estimated share, given how many of the respondents have the value."""
    own, other = float(randomizer.own), float(randomizer.other)
    held = np.clip(share, 0.0, 1.0)
    chance = held * own * (1 - own) + (1 - held) * other * (1 - other)
    return np.asarray(chance / (reports * (own - other) ** 2) + randomizer.hash_variance)


def _edge(value: Shares, reach: Any, side: float) -> Shares:
    """Return the furthest share on one side from which `value` is still within reach."""
    near = value.copy()
    far = value + side * (1 + np.maximum(reach(np.zeros_like(value)), reach(np.ones_like(value))))
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        inside = np.abs(value - middle) <= reach(middle)
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return near


def norm_sub(shares: Shares) -> Shares:
    """Return the nearest shares (least squares) that are at least 0 and sum to 1.

    One number is subtracted from all, and what falls below 0 is set to 0: the projection on the
    simplex. Large shares keep their size; cutting at 0 and dividing by the sum would shrink them.

    >>> norm_sub(np.array([0.9, 0.3, -0.1])).round(3).tolist()
    [0.8, 0.2, 0.0]
    """
    ordered = np.sort(shares)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.maximum(shares - excess[last], 0.0))


def estimate_mean(
    randomizer: MeanRandomizer,
    tally: Tally,
    span: NumberRange,
    *,
    confidence: float = 0.95,
    repeats: int = 1,
) -> Estimated[float]:
    """Return the mean of the respondents' numbers behind a tally of at least one report.

    Every report stands for a number whose expectation is the value. The variance is that of these
    numbers, which includes how much respondents differ (so it is never too small for their own mean),
    and at least the least that any value could have. Up to `repeats` reports may be copies of one.
    """
    values, reports = randomizer.unbiased(), int(tally.sum())
    mean = float(tally @ values) / reports
    spread = float(tally @ (values - mean) ** 2) / max(1, reports - 1)
    error = math.sqrt(max(spread, float(randomizer.variances().min())) * repeats / reports)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    width = span.upper - span.lower
    low, value, high = (span.lower + width * at for at in (mean - reach, mean, mean + reach))
    return Estimated(value, low, high)


def worst_variance(randomizer: MeanRandomizer) -> float:
    """Return the greatest variance of one report's number, in squares of the range's width."""
    # Numbers between two positions are rounded to either: at most a quarter of a step squared more.
    step = 1 / (len(randomizer.variances()) - 1)
    return float(np.max(randomizer.variances())) + step**2 / 4
