"""How much one data set says what another says: the measures behind every report of synthesis.

Both are given as counters of marginals. What calls this decides whether it may: a rehearsal compares
two synthetic data sets (free), an owner's comparison reads the real one (recorded as a look). Models learn
from marginals only, never from rows: a regression needs the two-way tables, the classifier the joint table
of a few columns. So they work at any size, through any engine. Which marginals a comparison looks at is a
function of public sizes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Floats, Integers
from discreet.measure.private_marginals import Counter
from discreet.measure.shape import Columns, Shape

PAIRS = 300
"""Up to so many pairs all are compared; of wider tables as many are drawn."""
TRIPLES = 64
CELLS = 50_000
"""Tables with more cells than rows, or than this, say little: they are left out."""
ALL_CELLS = 5_000_000
"""Cells of all compared pairs together: what is held in memory stays below a few hundred MB."""
_DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class ComparisonScope:
    """The one-, two- and three-way marginals that are compared."""

    ones: tuple[Columns, ...]
    pairs: tuple[Columns, ...]
    triples: tuple[Columns, ...]

    @classmethod
    def of(cls, shape: Shape, rows: int) -> ComparisonScope:
        """Return all columns, pairs and a draw of triples whose tables are not too large.

        The triples follow the rule of the RAP paper: drawn at random, with fewer cells than rows.

        >>> ComparisonScope.of(Shape(("a", "b", "c"), (2, 3, 4)), 100).triples
        ((0, 1, 2),)
        """
        limit = max(min(rows, CELLS), 1)
        ones = tuple((i,) for i in range(shape.width))
        pairs = tuple(combinations(range(shape.width), 2))
        pairs = tuple(pair for pair in pairs if shape.cells(pair) <= CELLS)
        if len(pairs) > PAIRS:
            picked = sorted(_dice().choice(len(pairs), PAIRS, replace=False))
            pairs = tuple(pairs[i] for i in picked)
        total, kept = 0, []
        for pair in pairs:
            total += shape.cells(pair)
            if total <= ALL_CELLS:
                kept.append(pair)
        return cls(ones, tuple(kept), _triples(shape, limit))


def _triples(shape: Shape, limit: int) -> tuple[Columns, ...]:
    if comb(shape.width, 3) <= TRIPLES:
        every = combinations(range(shape.width), 3)
        return tuple(three for three in every if shape.cells(three) <= limit)
    dice, found = _dice(), dict[Columns, None]()
    for _ in range(_DRAWS):
        three = tuple(sorted(int(i) for i in dice.choice(shape.width, 3, replace=False)))
        if shape.cells(three) <= limit:
            found[three] = None
        if len(found) == TRIPLES:
            break
    return tuple(sorted(found))


def _dice() -> np.random.Generator:  # no guarantee hangs on these dice: the same for all data
    return np.random.default_rng(0)  # no guarantee hangs on these dice: the same for all data


EDGES = (0.1, 0.01, 0.001)
"""Groups are told apart by their share of all rows: over a tenth, a hundredth, a thousandth, less."""


@dataclass(frozen=True, slots=True)
class TableDistance:
    """The distance of one table: total variation, and the largest difference of a share."""

    columns: Columns
    tvd: float
    worst: float


@dataclass(frozen=True, slots=True)
class MarginalGroups:
    """Cells of about the same size: how many, and how far off their counts are.

    `relative` is the median of |difference| / size, `absolute` the mean of |difference|, as a share
    of all rows.
    """

    above: float
    cells: int
    relative: float
    absolute: float


def shares(counts: npt.NDArray[np.generic]) -> Floats:
    """Return counts as parts of their total, without negative parts; all alike where there is none."""
    found = np.maximum(np.asarray(counts, dtype=np.float64), 0.0)
    total = found.sum()
    return found / total if total > 0 else np.full(found.shape, 1 / max(found.size, 1))


def apart(columns: Columns, first: Floats, second: Floats) -> TableDistance:
    """Return how far two tables of shares lie apart."""
    difference = np.abs(first - second)
    return TableDistance(columns, float(difference.sum() / 2), float(difference.max(initial=0.0)))


def cramers_v(counts: npt.NDArray[np.generic]) -> float:
    """Return Cramér's V of a two-way table: 0 for independent columns, 1 if one gives the other.

    >>> cramers_v(np.array([[5, 0], [0, 5]]))
    1.0
    """
    table = shares(counts)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    table = table[rows > 0][:, columns > 0]
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    expected = np.outer(rows[rows > 0], columns[columns > 0])
    squared = float((((table - expected) ** 2) / expected).sum())
    return float(min(1.0, np.sqrt(squared / least)))


def groups(tables: Sequence[tuple[Floats, Floats]]) -> tuple[MarginalGroups, ...]:
    """Return how well groups of each size are kept, over the cells of many tables."""
    if not tables:
        return ()
    first = np.concatenate([one.ravel() for one, _ in tables])
    second = np.concatenate([two.ravel() for _, two in tables])
    found, below = [], np.inf
    for above in (*EDGES, 0.0):
        here = (first > above) & (first <= below)
        off = np.abs(first[here] - second[here])
        relative = float(np.median(off / first[here])) if here.any() else float("nan")
        absolute = float(off.mean()) if here.any() else float("nan")
        found.append(MarginalGroups(above, int(here.sum()), relative, absolute))
        below = above
    return tuple(found)


def invented(tables: Sequence[tuple[Floats, Floats]]) -> float:
    """Return the share of the second's rows that lie where the first has none, over many tables."""
    if not tables:
        return 0.0
    return float(np.mean([two[one == 0].sum() for one, two in tables]))


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
