"""Relaxed Adaptive Projection: cells of marginals, chosen where relaxed rows are most wrong.

Optional (extra `rap`, which brings JAX) and never the default: public sources name a US patent,
11,487,765, that describes this algorithm. Whoever uses it should know. (docs/notes/0023)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.display import Progress, silent
from discreet.base.packages import needs
from discreet.measure.private_marginals import Counter, Measured, PrivateMarginals
from discreet.measure.shape import CodeGroups, Columns, Shape, WorkloadSpec, find_workload
from discreet.work.synth.methods.registry import check_whole
from discreet.work.synth.models.model import Mixture, mixture, shares_of

TOTAL = Fraction(1, 100)
"""Share for the number of rows, which turns counts into shares of all rows."""

CHOICE = Fraction(1, 2)
"""Part of a round's share that pays for the choices; the other half pays for the counts."""

RATE = 0.1


def fit(
    marginals: PrivateMarginals,
    *,
    workload: WorkloadSpec | None = None,
    rounds: int = 10,
    queries: int = 20,
    relaxed_rows: int = 1000,
    steps: int = 100,
    progress: Progress = silent,
) -> Mixture:
    """Return relaxed rows that agree with noisy counts of the cells they were most wrong about.

    In each of T `rounds`, K `queries` (single cells of the workload's marginals) are chosen one
    after another by how wrong the relaxed rows are about them, and counted; then `steps` steps of
    gradient descent bring the `relaxed_rows` towards all counts so far. A cell is counted as
    the table of "this code or not" of its columns: a row is in one cell of that table, so the other
    cells come at no cost and are fitted as well. With one round nothing is chosen: all marginals of
    the workload are counted, each for the same part.

    Guarantee: 1/100 for the number of rows; of the rest rho each of the T * K cells gets rho / (2TK)
        to be chosen and rho / (2TK) to be counted. A score moves by at most 1 for a row. All noise
        is that of `marginals`. (docs/notes/0023)
    """
    check_whole("rap", rounds=rounds, queries=queries, relaxed_rows=relaxed_rows, steps=steps)
    wanted = find_workload(marginals.shape, workload)
    relaxed = _relaxed(marginals.shape, relaxed_rows)
    progress(0, rounds + 1, "counting rows")
    total = max(float(marginals.measure([()], share=TOTAL)[0].values), 1.0)
    if rounds == 1:
        progress(1, 2, "counting all marginals")
        measured = marginals.measure(wanted, share=1 - TOTAL)
        shares = [each.values / total for each in measured]
        relaxed.fit_marginals(wanted, shares, steps=steps, rate=RATE)
    else:
        cells = _Cells.of(marginals.shape, wanted)
        asked = _Asked(marginals.shape, cells, min(rounds * queries, cells.many), total)
        contest = _Contest(marginals, cells)
        for turn in range(rounds):
            progress(turn + 1, rounds + 1, "choosing and counting cells")
            chosen = contest.choose(relaxed.blocks(), asked, queries, (1 - TOTAL) / rounds)
            asked.learn(contest.measure(chosen, (1 - TOTAL) / rounds))
            relaxed.fit_cells(asked.codes, asked.shares, asked.counted, steps=steps, rate=RATE)
    progress(rounds + 1, rounds + 1, "done")
    return mixture(marginals.shape, total, relaxed.blocks())


def _relaxed(shape: Shape, rows: int) -> Any:
    """Return the relaxed rows; JAX is imported here, and nowhere else on the way to a model."""
    with needs("jax", extra="rap"):
        from discreet.work.synth.methods.rap_descent import Relaxed
    return Relaxed(shape.sizes, rows)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """All cells of some marginals, end to end."""

    shape: Shape
    marginals: Sequence[Columns]
    ends: Integers

    @classmethod
    def of(cls, shape: Shape, marginals: Sequence[Columns]) -> _Cells:
        """Return the cells of these marginals."""
        sizes = [shape.cells(columns) for columns in marginals]
        return cls(shape, marginals, np.cumsum([0, *sizes]))

    @property
    def many(self) -> int:
        """Return how many cells there are."""
        return int(self.ends[-1])

    def find(self, cell: int) -> tuple[Columns, tuple[int, ...]]:
        """Return the marginal of a cell, and its codes."""
        which = int(np.searchsorted(self.ends, cell, side="right")) - 1
        columns = self.marginals[which]
        place = np.unravel_index(cell - int(self.ends[which]), self.shape.of(columns))
        return columns, tuple(int(code) for code in place)


class _Asked:
    """The cells chosen so far and their noisy shares, in arrays of a fixed, public size."""

    def __init__(self, shape: Shape, cells: _Cells, most: int, total: float) -> None:
        self.width = max(len(columns) for columns in cells.marginals)
        self.starts = np.cumsum([0, *shape.sizes])
        self.total = total
        # One past the last code stands for "any": narrower marginals leave columns open.
        self.codes = np.full((self.width, most), self.starts[-1], dtype=np.int32)
        self.shares = np.zeros((1 << self.width, most))
        self.counted = np.zeros(most, dtype=np.bool_)
        self.open = np.ones(cells.many, dtype=np.bool_)

    def learn(self, found: Sequence[tuple[tuple[int, ...], Measured]]) -> None:
        """Take in the noisy table of each chosen cell."""
        for codes, measured in found:
            query = int(self.counted.sum())
            columns = measured.columns
            for place, (column, code) in enumerate(zip(columns, codes, strict=True)):
                self.codes[place, query] = self.starts[column] + code
            # Along each axis: not this code, this code. A column of one code has only the latter.
            table = np.pad(measured.values, [(2 - side, 0) for side in measured.values.shape])
            # The first column is the lowest bit; columns that are left open have their bit set.
            left_open = (1 << self.width) - (1 << len(columns))
            places = np.arange(table.size) + left_open
            self.shares[places, query] = table.T.ravel() / self.total
            self.counted[query] = True


class _Contest:
    """The cells to choose from, and their exact counts once they have been asked for."""

    def __init__(self, marginals: PrivateMarginals, cells: _Cells) -> None:
        self._marginals = marginals
        self._cells = cells
        self._exact: Integers | None = None

    def choose(
        self, blocks: tuple[Floats, ...], asked: _Asked, queries: int, share: Fraction
    ) -> list[int]:
        """Return cells that the relaxed rows are wrong about and that have not been counted."""
        candidates = np.flatnonzero(asked.open)
        count = min(queries, candidates.size, int((~asked.counted).sum()))
        if not count:
            return []
        light = tuple(block.astype(np.float32) for block in blocks)
        guess = np.concatenate(
            [
                np.rint(asked.total * shares_of(light, columns)).astype(np.int64).ravel()
                for columns in self._cells.marginals
            ]
        )

        def scores(counter: Counter) -> Integers:
            # One row moves one cell of each marginal by 1; the relaxed rows are public by now.
            found: Integers = np.abs(self._read(counter) - guess)[candidates]
            return found

        drawn = self._marginals.choose_several(
            scores, count=count, sensitivity=1, share=share * CHOICE
        )
        chosen = [int(candidates[place]) for place in drawn]
        asked.open[chosen] = False
        return chosen

    def measure(
        self, chosen: Sequence[int], share: Fraction
    ) -> list[tuple[tuple[int, ...], Measured]]:
        """Return, for each chosen cell, its codes and the noisy table of "this code or not"."""
        found = []
        for cell in chosen:
            columns, codes = self._cells.find(cell)
            sizes = self._cells.shape.of(columns)
            merged = {c: _alone(code, n) for c, code, n in zip(columns, codes, sizes, strict=True)}
            part = share * (1 - CHOICE) / len(chosen)
            found.append((codes, self._marginals.measure([columns], share=part, merged=merged)[0]))
        return found

    def _read(self, counter: Counter) -> Integers:
        if self._exact is None:
            tables = counter.marginals(self._cells.marginals)
            self._exact = np.concatenate([table.ravel() for table in tables], dtype=np.int64)
        return self._exact


def _alone(code: int, size: int) -> CodeGroups:
    """Return two groups of a column's codes: the others, and this one."""
    if size == 1:
        return np.zeros(1, dtype=np.int64)
    groups = np.zeros(size, dtype=np.int64)
    groups[code] = 1
    return groups
