"""How likely each row of a sample is the only one of its kind in the population, by a Gaussian copula.

After Rocher, Hendrickx and de Montjoye (2019): every column is a coarse view of a normal number, the
numbers are correlated, and the chance p of a row's combination is the mass of a box. Among N people
nobody else has it with probability (1 - p)^(N - 1). Where a column of the sample shows only part of its
values (birth dates), the Ewens-Pitman law says how much weight the others have: a value seen once among
1,000 rows of 25,000 possible ones is not 1/1,000 of the population. Nothing is guaranteed: it is an
adversary's model, and is judged by how often it is right where the truth is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.anonymize.groups import packed
from discreet.anonymize.risk.class_sizes import ClassSizes
from discreet.anonymize.risk.uniqueness import pitman_parameters
from discreet.core.arrays import Bits, Floats, Integers
from discreet.core.system.extras import needs

_DRAWS = 200
_AT_ONCE = 2_000
_LEAST = 1e-9
_FARTHEST = 10.0
"""Logarithm of the largest factor that calibration may find."""


def chances_of_uniqueness(
    columns: Sequence[Integers], population: int, rng: np.random.Generator
) -> Floats:
    """Return for each row the chance that nobody else among `population` people is like it.

    Every column holds codes 0, 1, ... in the order of its values.
    """
    boxes = [_boxes(column) for column in columns]
    root: Floats = np.linalg.cholesky(_positive(_correlations(columns, boxes))).astype(np.float64)
    edges = [box[:, column] for box, column in zip(boxes, columns, strict=True)]
    parts = [
        _masses([edge[:, place : place + _AT_ONCE] for edge in edges], root, rng)
        for place in range(0, len(columns[0]), _AT_ONCE)
    ]
    alone = _alone(columns)
    mass = _calibrated(np.concatenate(parts), float(alone.mean()))
    others = max(0, population - len(alone))
    return np.where(alone, np.exp(others * np.log1p(-mass)), 0.0)


def _alone(columns: Sequence[Integers]) -> Bits:
    """Return which rows of the sample are like no other row of it."""
    key, _ = packed(columns, [int(column.max()) + 1 for column in columns])
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse] == 1)


def _calibrated(mass: Floats, alone: float) -> Floats:
    """Return the masses times the factor at which the model expects as many uniques as there are.

    The sample itself says how many of its rows are alone in it, and the model says how many it
    would expect; a wrong dependence between columns shows there. Where every row is alone, one pair
    short of that is aimed at: the sample does not say how rare pairs are.
    """
    rows = len(mass)
    aim = min(alone, 1 - 2 / rows)

    def expected(log_factor: float) -> float:
        scaled = np.minimum(mass * np.exp(log_factor), 1 - _LEAST)
        return float(np.exp((rows - 1) * np.log1p(-scaled)).mean())

    low, high = -_FARTHEST, _FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) > aim else (low, middle)
    return np.asarray(np.minimum(mass * np.exp(low), 1 - _LEAST))


def _boxes(column: Integers) -> Floats:
    """Return the lower and upper end of each value on the scale of chances, unseen values between."""
    counts = np.bincount(column)
    discount, strength = pitman_parameters(ClassSizes.of(counts))
    width = np.maximum(counts - discount, _LEAST) / (len(column) + max(strength, 0.0))
    gap = max(0.0, 1 - width.sum()) / len(width)
    upper = np.cumsum(width + gap) - gap / 2
    return np.stack([upper - width, upper])


def _correlations(columns: Sequence[Integers], boxes: Sequence[Floats]) -> Floats:
    """Return the correlation of the normal scores of each pair of columns.

    Correlations as strong as the mutual information of words (which have no order) were tried: they
    put mass where nobody is, and the claims were right less often.
    """
    special = _normal()
    scores = [
        special.ndtri(np.clip(box.mean(axis=0), _LEAST, 1 - _LEAST))[column]
        for box, column in zip(boxes, columns, strict=True)
    ]
    size = len(columns)
    found = np.eye(size)
    for i in range(size):
        for j in range(i):
            found[i, j] = found[j, i] = _linear(scores[i], scores[j])
    return found


def _linear(first: Floats, second: Floats) -> float:
    if first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _positive(found: Floats) -> Floats:
    """Return the nearest matrix with positive eigenvalues and ones on its diagonal."""
    values, vectors = np.linalg.eigh(found)
    mended = (vectors * np.maximum(values, 1e-3)) @ vectors.T
    scale = np.sqrt(np.diag(mended))
    return np.asarray(mended / np.outer(scale, scale))


def _masses(edges: Sequence[Floats], root: Floats, rng: np.random.Generator) -> Floats:
    """Return the mass of each row's box: one column after the other, given the ones before (Genz)."""
    special = _normal()
    rows = edges[0].shape[1]
    drawn = np.zeros((len(edges), rows, _DRAWS))
    mass = np.ones((rows, _DRAWS))
    for place, edge in enumerate(edges):
        ends = special.ndtri(np.clip(edge, 0.0, 1.0))[:, :, None]
        known = np.tensordot(root[place, :place], drawn[:place], axes=1) if place else 0.0
        low, high = special.ndtr((ends - known) / root[place, place])
        mass *= high - low
        inside = np.clip(low + rng.random((rows, _DRAWS)) * (high - low), 1e-15, 1 - 1e-15)
        drawn[place] = special.ndtri(inside)
    return np.asarray(mass.mean(axis=1))


def _normal() -> Any:
    """Return scipy's normal law; it is an extra, so it is imported when needed."""
    with needs("scipy", extra="lab"):
        from scipy import special
    return special
