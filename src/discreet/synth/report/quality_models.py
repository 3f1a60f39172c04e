"""What models learn from a table of counts: least squares and a classifier, in numpy.

Both read marginals only, never rows: a regression needs the two-way tables, the classifier the joint
table of a few columns. So they work at any size, through any engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Floats, Integers
from discreet.synth.encoding.shape import Columns, Shape
from discreet.synth.report.quality_marginals import shares

Table: TypeAlias = Callable[[Columns], npt.NDArray[np.generic]]
"""From columns to their table of counts."""

Centres: TypeAlias = Sequence[Floats | None]
"""For each column the number that a code stands for (NaN: missing), None for categories."""

RIDGE = 1e-6
STEPS = 25
_INDICATORS = 8
"""So many of the commonest categories of a column are told apart; the others are one group."""
RARE = 0.01
"""Rarer categories have no coefficient of their own: it would only show noise."""


@dataclass(frozen=True, slots=True)
class ModelFeature:
    """One column of a design matrix: a function of one column's code."""

    column: int
    name: str
    values: Floats


def features(
    column: int, shape: Shape, centres: Centres, labels: Sequence[str], common: Floats
) -> list[ModelFeature]:
    """Return a column as features: itself if it is a number, else indicators of its codes.

    `common` are the shares of its codes: the commonest is the base that the others are told from.
    """
    name, numbers = shape.names[column], centres[column]
    if numbers is not None:
        known = np.isfinite(numbers)
        weight = np.where(known, common, 0.0)
        filled = np.where(known, numbers, 0.0)
        mean = float((weight * filled).sum() / max(weight.sum(), 1e-12))
        values = np.where(known, filled - mean, 0.0)
        spread = float(np.sqrt((weight * values**2).sum() / max(weight.sum(), 1e-12)))
        return [ModelFeature(column, name, values / spread)] if spread > 0 else []
    order = np.argsort(-common, kind="stable")[1 : 1 + _INDICATORS]
    return [
        ModelFeature(
            column, f"{name} = {labels[code]}", (np.arange(len(common)) == code).astype(float)
        )
        for code in order
        if common[code] >= RARE
    ]


def regression(table: Table, target: ModelFeature, given: Sequence[ModelFeature]) -> Floats:
    """Return the least-squares coefficients of `target` on `given`, from two-way tables.

    The first coefficient is the intercept. Solved with a tiny ridge, so that it always exists.
    """
    size = len(given) + 1
    moments, sides = np.zeros((size, size)), np.zeros(size)
    moments[0, 0], sides[0] = 1.0, _mean(table, target)
    for i, one in enumerate(given, start=1):
        moments[0, i] = moments[i, 0] = _mean(table, one)
        sides[i] = _product(table, one, target)
        for j, other in enumerate(given[:i], start=1):
            moments[i, j] = moments[j, i] = _product(table, one, other)
    return np.asarray(np.linalg.solve(moments + RIDGE * np.eye(size), sides))


def _mean(table: Table, one: ModelFeature) -> float:
    return float((shares(table((one.column,))) * one.values).sum())


def _product(table: Table, one: ModelFeature, other: ModelFeature) -> float:
    if one.column == other.column:
        return float((shares(table((one.column,))) * one.values * other.values).sum())
    low, high = (one, other) if one.column < other.column else (other, one)
    joint = shares(table((low.column, high.column)))
    return float(low.values @ joint @ high.values)


def classifier(joint: npt.NDArray[np.generic], axis: int) -> Integers:
    """Return the predicted code of `axis` for every cell of the other columns.

    One logistic regression for each code against the rest, fitted to the counts in `joint`, with an
    indicator for each code of each other column.
    """
    weights = np.moveaxis(shares(joint), axis, -1)
    cells = weights.reshape(-1, weights.shape[-1])
    design = _indicators(weights.shape[:-1])
    present = cells.sum(axis=1)
    used = present > 0
    scores = np.stack(
        [
            design @ _logistic(design[used], cells[used, code], present[used])
            for code in range(cells.shape[1])
        ],
        axis=1,
    )
    return np.asarray(scores.argmax(axis=1))


def accuracy(joint: npt.NDArray[np.generic], axis: int, predicted: Integers) -> float:
    """Return the share of rows of `joint` whose code the prediction meets."""
    weights = np.moveaxis(shares(joint), axis, -1)
    cells = weights.reshape(-1, weights.shape[-1])
    return float(cells[np.arange(len(cells)), predicted].sum())


def _indicators(sizes: Sequence[int]) -> Floats:
    places = np.indices(sizes).reshape(len(sizes), -1) if sizes else np.zeros((0, 1), dtype=int)
    blocks = [np.ones((places.shape[1], 1))]
    for place, size in zip(places, sizes, strict=True):
        blocks.append(np.eye(size)[place][:, 1:])
    return np.hstack(blocks)


def _logistic(design: Floats, hits: Floats, present: Floats) -> Floats:
    """Return the coefficients of a weighted logistic regression, by damped Newton steps."""
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ found, -30, 30)))
        slope = design.T @ (hits - present * chance) - RIDGE * found
        curve = (design * (present * chance * (1 - chance))[:, None]).T @ design
        step = np.linalg.solve(curve + 10 * RIDGE * np.eye(len(found)), slope)
        longest = float(np.abs(step).max(initial=0.0))
        found = found + step * min(1.0, 2.0 / max(longest, 1e-12))
        if longest < 1e-6:
            break
    return found
