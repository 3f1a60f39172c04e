"""How much one data set says what another says: the measures behind every report of synthesis.

Both are given as counters of marginals. What calls this decides whether it may: a rehearsal compares
two synthetic data sets (free), an owner's comparison reads the real one (recorded as a look).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Floats
from discreet.synth.encoding.shape import Columns, Shape
from discreet.synth.measure.private_marginals import Counter
from discreet.synth.report.quality_marginals import (
    MarginalGroups,
    TableDistance,
    apart,
    cramers_v,
    groups,
    invented,
    shares,
)
from discreet.synth.report.quality_models import (
    Centres,
    accuracy,
    classifier,
    features,
    regression,
)
from discreet.synth.report.quality_scope import ComparisonScope

JOINT_CELLS = 20_000
"""The classifier uses as many columns as fit into a table of this size."""
SHORT = 10
GIVEN = 4
"""Columns that explain another one in the regression."""


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """How to look at a table: which marginals, what codes mean, which column is to be predicted."""

    shape: Shape
    scope: ComparisonScope
    labels: tuple[tuple[str, ...], ...]
    centres: Centres
    target: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """A regression fitted twice; numbers are in standard deviations, indicators are 0 or 1."""

    target: str
    names: tuple[str, ...]
    first: Floats
    second: Floats

    @property
    def worst(self) -> float:
        """Return the largest difference of a coefficient."""
        return float(np.abs(self.first - self.second).max(initial=0.0))


@dataclass(frozen=True, slots=True)
class Prediction:
    """A classifier that learned from each data set, always tested on the first."""

    target: str
    given: tuple[str, ...]
    from_first: float
    from_second: float
    guessing: float


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """All measures of one comparison."""

    lens: ComparisonView
    ones: tuple[TableDistance, ...]
    pairs: tuple[TableDistance, ...]
    triples: tuple[TableDistance, ...]
    histograms: tuple[tuple[Floats, Floats], ...]
    dependence: tuple[Floats, Floats]
    groups: tuple[MarginalGroups, ...]
    invented: float
    coefficients: Coefficients | None
    prediction: Prediction | None


def compare(first: Counter, second: Counter, lens: ComparisonView) -> Quality:
    """Return how far `second` lies from `first`, by every measure."""
    scope = lens.scope
    one, two = _Tables(first, scope), _Tables(second, scope)
    both = {
        columns: (shares(one(columns)), shares(two(columns)))
        for columns in (*scope.ones, *scope.pairs, *scope.triples)
    }
    pairs = [both[columns] for columns in scope.pairs or scope.ones]  # one column has no pairs
    strength = _dependence(two, scope, lens.shape)
    target = _target(lens)
    return Quality(
        lens=lens,
        ones=tuple(apart(columns, *both[columns]) for columns in scope.ones),
        pairs=tuple(apart(columns, *both[columns]) for columns in scope.pairs),
        triples=tuple(apart(columns, *both[columns]) for columns in scope.triples),
        histograms=tuple(both[columns] for columns in scope.ones),
        dependence=(_dependence(one, scope, lens.shape), strength),
        groups=groups(pairs),
        invented=invented(pairs),
        coefficients=_coefficients(one, two, lens, strength),
        prediction=None if target is None else _prediction(one, two, lens, strength, target),
    )


def dependence(counter: Counter, lens: ComparisonView) -> Floats:
    """Return Cramér's V of the pairs of one data set; NaN where a pair is not looked at."""
    return _dependence(
        _Tables(counter, ComparisonScope((), lens.scope.pairs, ())), lens.scope, lens.shape
    )


class _Tables:
    """Tables by columns; those of the scope are read in one go."""

    def __init__(self, counter: Counter, scope: ComparisonScope) -> None:
        self._counter = counter
        wanted = [*scope.ones, *scope.pairs, *scope.triples]
        self._known = dict(zip(wanted, counter.marginals(wanted), strict=True))

    def __call__(self, columns: Columns) -> npt.NDArray[np.generic]:
        if columns not in self._known:
            self._known[columns] = self._counter.marginals([columns])[0]
        return self._known[columns]


def _dependence(table: _Tables, scope: ComparisonScope, shape: Shape) -> Floats:
    """Return Cramér's V of the pairs; NaN where a pair was not compared."""
    found = np.full((shape.width, shape.width), np.nan)
    for low, high in scope.pairs:
        found[low, high] = found[high, low] = cramers_v(table((low, high)))
    return found


def _target(lens: ComparisonView) -> int | None:
    """Return the column to predict: the given one, or the last with a short list of values.

    By public facts alone: a column picked by the data would change from one comparison to the next.
    """
    if lens.target is not None:
        return lens.target
    short = [i for i, size in enumerate(lens.shape.sizes) if 2 <= size <= SHORT]
    return short[-1] if short else None


def _closest(column: int, lens: ComparisonView, strength: Floats) -> list[int]:
    """Return the other columns by how strongly they hang on this one; the reader's data decide."""
    known = [i for i in range(lens.shape.width) if np.isfinite(strength[column, i])]
    return sorted(known, key=lambda i: -float(strength[column, i]))


def _coefficients(
    one: _Tables, two: _Tables, lens: ComparisonView, strength: Floats
) -> Coefficients | None:
    numbers = [i for i, centres in enumerate(lens.centres) if centres is not None]
    if not numbers:
        return None
    target = numbers[-1]
    made = {
        column: features(
            column, lens.shape, lens.centres, lens.labels[column], shares(two((column,)))
        )
        for column in (target, *_closest(target, lens, strength)[:GIVEN])
    }
    aim = made.pop(target)
    given = [feature for found in made.values() for feature in found]
    if not aim or not given:
        return None
    names = ("intercept", *(feature.name for feature in given))
    return Coefficients(
        lens.shape.names[target],
        names,
        regression(one, aim[0], given),
        regression(two, aim[0], given),
    )


def _prediction(
    one: _Tables, two: _Tables, lens: ComparisonView, strength: Floats, target: int
) -> Prediction | None:
    given = _fitting(lens.shape, target, _closest(target, lens, strength))
    if not given:
        return None
    columns = tuple(sorted((target, *given)))
    axis = columns.index(target)
    first, second = one(columns), two(columns)
    return Prediction(
        lens.shape.names[target],
        tuple(lens.shape.names[column] for column in sorted(given)),
        accuracy(first, axis, classifier(first, axis)),
        accuracy(first, axis, classifier(second, axis)),
        float(shares(one((target,))).max()),
    )


def _fitting(shape: Shape, target: int, candidates: Sequence[int]) -> list[int]:
    """Return the closest columns whose joint table with the target is small enough."""
    taken: list[int] = []
    for column in candidates:
        if shape.cells((target, *taken, column)) <= JOINT_CELLS:
            taken.append(column)
    return taken[:5]
