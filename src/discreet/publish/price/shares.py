"""How the price is divided: shares as written, accuracy targets, and optimal weights for the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from discreet.errors import InvalidInput
from discreet.publish.families.find import Member
from discreet.publish.grid import mean_parts, refines
from discreet.publish.reads import CellRead
from discreet.publish.specification.spec import AccuracyTarget

LEAST = Fraction(1, 100)
"""No table gets less than this part of an equal share: each is measured, also where a finer one is."""

GRID = 10**6
"""Shares are multiples of one part in this many."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasureShare:
    """One measure of one table: its place and its read, what was written about it, its unit of error.

    `length` is the squared L2 (or the L1) move of one unit, in published units.
    """

    family: int
    place: int
    member: Member
    read: CellRead
    length: int
    share: Fraction | None
    accuracy: AccuracyTarget | None


def optimal_shares(
    wanted: Sequence[MeasureShare],
    *,
    pure: bool,
    fixed: Mapping[int, Fraction],
) -> list[Fraction]:
    """Return shares that add up to 1: `fixed` ones by place in `wanted`, the others optimal.

    Optimal: the least sum over tables of the mean variance of a cell, in units of what one person
    moves, each cell estimated from its own measurement and from those of finer tables. This is an
    upper bound of what least squares achieves, and depends on the spec alone.
    """
    free = [i for i in range(len(wanted)) if i not in fixed]
    rest = 1 - sum(fixed.values(), Fraction(0))
    if not free:
        total = sum(fixed.values(), Fraction(0))
        return [fixed[i] / total for i in range(len(wanted))]
    weights = np.full(len(wanted), 1e-12)
    for i, part in fixed.items():
        weights[i] = float(part)
    weights[free] = float(rest) / len(free)
    links = _links(wanted)
    least = float(LEAST) * float(rest) / len(free)
    for _ in range(400):
        before = weights[free]
        gradient = _gradient(weights, links, power=2 if pure else 1)
        moved = before * np.sqrt(gradient[free])
        weights[free] = np.maximum(moved / moved.sum() * float(rest), least)
        weights[free] *= float(rest) / weights[free].sum()
        if np.array_equal(weights[free], before):
            break  # to the last digit, and so would every further step be
    parts = [Fraction(max(1, math.floor(weights[i] / float(rest) * GRID)), GRID) for i in free]
    total = sum(parts, Fraction(0))
    shares = dict(fixed) | {i: rest * part / total for i, part in zip(free, parts, strict=True)}
    return [shares[i] for i in range(len(wanted))]


def _links(wanted: Sequence[MeasureShare]) -> list[list[tuple[int, float]]]:
    """Return for each member the ones that say something about it, with the number of their cells."""
    return [
        [
            (j, 1.0 if i == j else mean_parts(other.member.maps, one.member.maps, one.member.shape))
            for j, other in enumerate(wanted)
            if other.family == one.family and refines(other.member.maps, one.member.maps)
        ]
        for i, one in enumerate(wanted)
    ]


def _gradient(
    weights: np.ndarray, links: list[list[tuple[int, float]]], *, power: int
) -> np.ndarray:
    """Return how fast the sum of variances falls as each weight grows."""
    found = np.zeros(len(weights))
    for sources in links:
        precision = sum(weights[j] ** power / parts for j, parts in sources)
        for j, parts in sources:
            found[j] += power * weights[j] ** (power - 1) / parts / precision**2
    return found


def needed_rho(wanted: MeasureShare) -> Fraction:
    """Return the rho that one table needs for its accuracy target, by its own measurement alone."""
    target, measure = wanted.accuracy, wanted.read.measure
    assert target is not None, "asked for tables with a target"
    # Whole numbers: an error of at most this many units is allowed.
    allowed = math.floor(target.within * target.size / (measure.step * measure.grain))
    if allowed < 1:
        raise InvalidInput(
            f"Table '{wanted.member.table.name}': its accuracy asks for less than one unit of error.",
            hint="Name larger cells, or a larger percentage.",
        )
    quantile = NormalDist().inv_cdf((1 + float(target.confidence)) / 2)
    sigma_squared = (allowed / quantile) ** 2
    return Fraction(wanted.length) / (2 * Fraction(sigma_squared))
