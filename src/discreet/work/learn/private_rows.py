"""Private rows in training: their codes and scores, whose they are, and noisy sums of residuals.

No row leaves this file: the private marginals see them, and noise is added before anything is returned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ask.plan.ir import Scan
from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.unit import Neighbours
from discreet.data.engines.base import Engine, PaidReader, open_exact, require_paid
from discreet.errors import InvalidInput
from discreet.measure.columns import Coded
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.measure.sealing import (
    PATIENCE,
    SealedCodes,
    SealedSource,
    codes_sql,
    integers,
    scans_of,
    source_of,
)
from discreet.measure.shape import Codes, Columns, Counts, Shape, joint_codes
from discreet.privacy.kernel.canonical import dataset_of
from discreet.privacy.kernel.facts import unit_codes_of
from discreet.privacy.kernel.seal import parse
from discreet.privacy.noise.laws import NoiseLaw
from discreet.privacy.noise.rng import Rng

FINE = 1024
"""Steps to one unit of log-odds in scores."""

WHOLE = 1024
"""A residual of one, in steps."""

FARTHEST = 24 * FINE
"""Log-odds beyond this are certain."""


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Some columns, and for each of them the public group of every code."""

    columns: Columns
    groups: tuple[Integers, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many groups each column has."""
        return tuple(int(group.max()) + 1 for group in self.groups)

    @property
    def cells(self) -> int:
        """Return how many cells the groups have together."""
        return math.prod(self.sizes)

    def places(self, codes: Codes) -> Integers:
        """Return the cell of each row."""
        place = np.zeros(len(codes), dtype=np.int64)
        for column, group, size in zip(self.columns, self.groups, self.sizes, strict=True):
            place *= size
            place += group[codes[:, column]]
        return place


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTerm:
    """A table of weights over the groups of some columns; a row of it for each cell."""

    grouping: Grouping
    weights: Floats


def fetch(reader: PaidReader, codes: SealedCodes) -> Codes:
    """Return the codes of all rows. After paying, and for the private marginals alone."""
    table = open_exact(require_paid(reader).run(codes.sql, seconds=PATIENCE))
    found = np.empty((table.num_rows, codes.shape.width), dtype=np.int32, order="F")
    for i in range(codes.shape.width):
        found[:, i] = integers(table.column(f"c{i}"))
    return found


def steps_of(weights: Floats) -> Integers:
    """Return numbers of log-odds in whole steps of scores."""
    return np.rint(weights * FINE).astype(np.int64)


def best_class(scores: Integers) -> Integers:
    """Return the class with the greatest score; of two classes only the second has one."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.asarray(scores.argmax(axis=1))


class PaidRows:
    """Codes of the rows, the score of each for every class, and exact sums over them.

    `target` is the place of the column that is predicted; with two classes one score is enough.
    """

    def __init__(self, codes: Codes, shape: Shape, target: int | None = None) -> None:
        self._codes = codes
        self.shape = shape
        self._places: dict[tuple[int, ...], tuple[Grouping, Integers]] = {}
        self.classes = 0 if target is None else shape.sizes[target]
        self.outputs = 1 if self.classes == 2 else self.classes
        if target is not None:
            self._truth = codes[:, target].astype(np.int64)
            self._scores = np.zeros((len(codes), self.outputs), dtype=np.int64)
        self._left: Integers | None = None

    def __repr__(self) -> str:
        return "PaidRows(hidden)"

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals, each in the shape of its columns."""
        return [self._marginal(columns) for columns in wanted]

    def _marginal(self, columns: Columns) -> Counts:
        place = joint_codes(self._codes, columns, self.shape.sizes)
        counts = np.bincount(place, minlength=self.shape.cells(columns))
        return counts.reshape(self.shape.of(columns))

    def add(self, grouping: Grouping, steps: Integers) -> None:
        """Add public whole numbers, one for each cell and score, to the scores of all rows."""
        self._left = None
        if grouping.columns:
            self._scores += steps.reshape(-1, self.outputs)[self._cell(grouping)]
        else:
            self._scores += steps.reshape(1, self.outputs)

    def clear(self) -> None:
        """Forget all scores."""
        self._scores[:] = 0
        self._left = None

    def show(self, intercept: Floats, terms: Sequence[ScoreTerm]) -> None:
        """Give every row the scores of a whole model."""
        self.clear()
        self.add(Grouping((), ()), steps_of(intercept))
        for term in terms:
            self.add(term.grouping, steps_of(term.weights))

    def residual_sums(self, grouping: Grouping) -> Integers:
        """Return the exact sums of residuals in each cell, in steps of 1 / WHOLE."""
        if self._left is None:
            self._left = residuals(self._scores, self._truth)
        place, left = self._cell(grouping), self._left
        # Whole numbers below 2^53 add up exactly in doubles.
        sums = [
            np.bincount(place, weights=left[:, output], minlength=grouping.cells)
            for output in range(self.outputs)
        ]
        return np.rint(np.stack(sums, axis=1)).astype(np.int64)

    def right(self) -> Bits:
        """Return which rows the present scores predict rightly."""
        return np.asarray(best_class(self._scores) == self._truth)

    def _cell(self, grouping: Grouping) -> Integers:
        # A feature is visited in every round: its cells are worked out once.
        known = self._places.get(grouping.columns)
        if known is None or known[0] is not grouping:
            known = (grouping, grouping.places(self._codes))
            self._places[grouping.columns] = known
        return known[1]


def residuals(scores: Integers, truth: Integers) -> Integers:
    """Return truth minus prediction: at most WHOLE in one score, 2 WHOLE^2 in squared length.

    Scores are in steps of 1 / FINE, one column for two classes; each row is looked up on its own.
    """
    if scores.shape[1] == 1:
        chance = _CHANCES[np.clip(scores[:, 0], -FARTHEST, FARTHEST) + FARTHEST]
        return np.asarray(truth * WHOLE - chance)[:, None]
    below = scores.max(axis=1, keepdims=True) - scores
    weights = _WEIGHTS[np.minimum(below, FARTHEST)]
    found: Integers = -(weights * WHOLE // weights.sum(axis=1, keepdims=True))
    found[np.arange(len(found)), truth] += WHOLE
    return found


_CHANCES: Integers = np.rint(
    WHOLE / (1 + np.exp(-(np.arange(-FARTHEST, FARTHEST + 1) / FINE)))
).astype(np.int64)
_WEIGHTS: Integers = np.rint(2.0**40 * np.exp(-np.arange(FARTHEST + 1) / FINE)).astype(np.int64)
"""Public tables of the logistic function and of the exponential, in whole numbers."""


@dataclass(frozen=True, slots=True)
class SealedUnitCodes:
    """A SELECT of codes and units that may run; a unit has at most `rows` of them."""

    sql: str
    width: int
    rows: int
    neighbours: Neighbours
    source: SealedSource


def seal_unit_codes(scan: Scan, engine: Engine, columns: Sequence[Coded]) -> SealedUnitCodes:
    """Return the SELECT of codes with their units, judged. An unfit one never runs."""
    if scan.unit is None:
        raise InvalidInput(
            "This protects people, but each row of the table is a unit of its own.",
            hint="Declare whose row it is: unit = 'person' in discreet.toml.",
        )
    plain = codes_sql(scan, engine, columns)
    sql = plain.replace(" FROM (", ", p.u AS u FROM (", 1)
    scans = scans_of(scan, engine)
    tree = parse(sql, engine.capabilities.dialect, engine.tree(sql))
    found = unit_codes_of(tree, tuple(column.size for column in columns), scans)
    neighbours = dataset_of(found, scans.tables).neighbours
    return SealedUnitCodes(sql, len(columns), found.rows, neighbours, source_of(found, scans))


def fetch_unit_codes(reader: PaidReader, sealed: SealedUnitCodes) -> tuple[Codes, Integers]:
    """Return the codes sorted by unit, and each row's unit from 0 on. After paying, for sums alone.

    Rows of a unit are sorted by their own codes: where they stood says nothing.
    """
    table = open_exact(require_paid(reader).run(sealed.sql, seconds=PATIENCE))
    columns = [integers(table.column(f"c{i}")) for i in range(sealed.width)]
    _, unit = np.unique(np.asarray(table.column("u").to_pylist()), return_inverse=True)
    order = np.lexsort((*reversed(columns), unit))
    codes = np.empty((len(unit), sealed.width), dtype=np.int32, order="F")
    for i, column in enumerate(columns):
        codes[:, i] = column[order]
    return codes, np.asarray(unit[order], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class NoisySums:
    """Sums of residuals with noise, a row for each cell: may be shown."""

    values: Floats
    variance: float


class PrivateResiduals(PrivateMarginals):
    """Private marginals that also release noisy sums of residuals over the cells of a grouping.

    Guarantee: a row lies in one cell, where it adds a vector of whole numbers that depends on that
        row and on public numbers only (rows.py): at most WHOLE with two classes, at most 2 WHOLE in
        L1 and 2 WHOLE^2 in squared L2 with more. A unit has at most `unit.rows` rows, so it moves the
        sums by `unit.rows` times that; under replace-one by twice as much, since the terms have
        signs. The noise is for exactly this, and shares add up as in `PrivateMarginals`. (docs/notes/0044)
    """

    def __init__(
        self, rows: PaidRows, budget: MarginalBudget, unit: CountSensitivity, rng: Rng
    ) -> None:
        super().__init__(rows, rows.shape, budget, unit, rng)
        self._rows = rows

    @property
    def outputs(self) -> int:
        """Return how many scores a row has: one for two classes."""
        return self._rows.outputs

    def residual_law(self, share: Fraction) -> NoiseLaw:
        """Return the noise that one sum of residuals gets for a share, in steps; reads nothing."""
        return self.budget.part(share).law(l1=self._reach(), l2_squared=self._reach_squared())

    def residual_variance(self, share: Fraction) -> float:
        """Return the variance of that noise where a residual of one counts one."""
        return self.residual_law(share).variance / WHOLE**2

    def residual_sums(self, grouping: Grouping, *, share: Fraction) -> NoisySums:
        """Return noisy sums of what the present scores leave unexplained, for each cell."""
        self._take(share)
        law = self.residual_law(share)
        exact = self._rows.residual_sums(grouping)
        noisy = exact + self._draw(law, exact.shape)
        self.events.append(law.event(l1=self._reach, l2_squared=self._reach_squared))
        return NoisySums(noisy / WHOLE, law.variance / WHOLE**2)

    def checked(self, *, share: Fraction) -> tuple[int, int, float]:
        """Return noisy numbers of rows that the scores predict rightly and wrongly, and the deviation.

        A row is in one of the two, like in a marginal of two cells.
        """
        return self.counted_right(self._rows.right(), share=share)

    def counted_right(self, right: Bits, *, share: Fraction) -> tuple[int, int, float]:
        """Return the same for a model that is no sum of tables: `right` says it of each row alone."""
        counts = np.array([right.sum(), len(right) - right.sum()], dtype=np.int64)
        self._take(share)
        law = self.law(share)
        yes, no = (counts + self._draw(law, (2,))).tolist()
        self.events.append(self._event(law))
        return yes, no, float(np.sqrt(law.variance))

    def add(self, grouping: Grouping, steps: Integers) -> None:
        """Add public numbers, in steps of 1 / FINE, to the scores of all rows: costs nothing."""
        self._rows.add(grouping, steps)

    def _reach(self) -> int:
        return self.unit.l1 * WHOLE * (1 if self.outputs == 1 else 2)

    def _reach_squared(self) -> int:
        return self.unit.l1**2 * WHOLE**2 * (1 if self.outputs == 1 else 2)
