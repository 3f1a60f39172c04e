"""Codes and integer scores of rows during training, seen by the private marginals alone.

A score is a sum of public whole numbers that a row's own codes pick; its residual (what happened minus
what was predicted) is looked up in a public table. So what a row adds to any sum is a function of that
row and of public numbers, exactly, wherever it stands among the others: no floating point is involved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Bits, Floats, Integers
from discreet.engine.base import PaidReader, open_exact, require_paid
from discreet.synth.measure.counters import PATIENCE, integers
from discreet.synth.measure.sealing import SealedCodes
from discreet.synth.shape import Codes, Columns, Counts, Shape, joint_codes

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
