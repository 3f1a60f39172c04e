"""Weighted least squares on crossed groupings, matrix-free: conjugate gradients on the leaf grid.

Sums along dimensions stand for the matrix and its transpose; exact sums and zero cells are kept by
projecting every direction onto what leaves them unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.errors import InvalidInput
from discreet.publish.grid import add_up, parts_along, refines, spread
from discreet.publish.reconcile.problem import GridProblem, Sums, implies, open_cells

TOLERANCE = 1e-11
"""The gradient is brought down to this part of where it started."""

ROUGHLY = 1e-5
"""The same where a few digits are enough."""

KNOWN = 1e-6
"""A smaller part of its bound is the variance of a sum that exact facts determine, and rounding."""

MOST_STEPS = 2000

LEAST_MEASURED = 3
"""At how many cells of a table it is measured by how much an interval is too wide, at least."""

MEASURED_WORK = 60_000
"""At more of them on small grids: about this number, divided by that of the leaf cells."""

MOST_EXACT = 4000
"""Crossed exact facts of more cells than this are refused: their projection would be too large."""


class Projection:
    """Onto directions that leave exact sums and zero cells as they are."""

    def __init__(self, problem: GridProblem) -> None:
        self._leaf = problem.leaf
        self._free = None if problem.zero is None else ~problem.zero
        self._facts = finest_facts(problem.exact)
        self._counts = [self._count(fact) for fact in self._facts]
        self._gram = self._dense() if len(self._facts) > 1 else None

    def apply(self, cells: Floats) -> Floats:
        """Return the part of `cells` that moves no exact sum."""
        found = self._masked(cells)
        if not self._facts:
            return found
        if self._gram is None:
            (fact,), (count,) = self._facts, self._counts
            mean = add_up(found, fact.maps, fact.shape) / np.maximum(count, 1)
            return self._masked(found - spread(mean, fact.maps, self._leaf))
        return self._masked(found - self._back(self._gram @ self._sums(found)))

    def start(self) -> Floats:
        """Return cells that have the exact sums: each spread evenly over its leaf cells."""
        if not self._facts:
            return np.zeros(self._leaf)
        if self._gram is None:
            (fact,), (count,) = self._facts, self._counts
            even = fact.values / np.maximum(count, 1)
            return self._masked(spread(even, fact.maps, self._leaf))
        goal = np.concatenate([fact.values.reshape(-1) for fact in self._facts]).astype(float)
        return self._masked(self._back(self._gram @ goal))

    def _masked(self, cells: Floats) -> Floats:
        return cells if self._free is None else np.where(self._free, cells, 0.0)

    def _count(self, fact: Sums) -> Floats:
        ones = np.ones(self._leaf) if self._free is None else self._free.astype(np.float64)
        return np.asarray(add_up(ones, fact.maps, fact.shape))

    def _sums(self, cells: Floats) -> Floats:
        return np.concatenate(
            [add_up(cells, fact.maps, fact.shape).reshape(-1) for fact in self._facts]
        )

    def _back(self, values: Floats) -> Floats:
        found = np.zeros(self._leaf)
        start = 0
        for fact in self._facts:
            size = int(np.prod(fact.shape))
            part = values[start : start + size].reshape(fact.shape)
            found += spread(part, fact.maps, self._leaf)
            start += size
        return self._masked(found)

    def _dense(self) -> Floats:
        size = check_crossing(self._facts)
        columns = [self._sums(self._back(unit)) for unit in np.eye(size)]
        return np.asarray(np.linalg.pinv(np.stack(columns, axis=1), hermitian=True))


def check_crossing(facts: Sequence[Sums]) -> int:
    """Return how many numbers facts have that cross each other; too many are refused."""
    size = sum(int(np.prod(fact.shape)) for fact in facts)
    if size > MOST_EXACT:
        raise InvalidInput(
            f"The exact facts cross each other in {size:,} numbers, more than {MOST_EXACT:,}.",
            hint="Keep facts of one grouping, or of groupings that refine each other.",
        )
    return size


def finest_facts(facts: Sequence[Sums]) -> list[Sums]:
    """Return the facts that no finer fact implies."""
    kept: list[Sums] = []
    for fact in sorted(facts, key=lambda each: -int(np.prod(each.shape))):
        if not any(implies(other, fact) for other in kept):
            kept.append(fact)
    return kept


def crossed_estimate(problem: GridProblem) -> Floats:
    """Return leaf cells whose sums are the least-squares estimates of all measured sums.

    Where the measurements leave leaf cells open, the solution is the one nearest to its start: its
    sums are the optimum all the same.
    """
    projection = Projection(problem)
    cells = projection.start()
    return _descended(problem, projection, cells, _pulled(problem, cells), TOLERANCE)


def _descended(
    problem: GridProblem, projection: Projection, cells: Floats, pulled: Floats, tolerance: float
) -> Floats:
    """Return the cells at which nothing pulls any more, by conjugate gradients."""
    residual = projection.apply(pulled)
    direction = residual
    size = float((residual * residual).sum())
    # Measured against what facts may have taken away: what is left of that is rounding.
    small = tolerance**2 * float((pulled * pulled).sum())
    for _ in range(MOST_STEPS):
        if size <= small:
            break
        curved = projection.apply(_curvature(problem, direction))
        along = float((direction * curved).sum())
        if along <= 0:
            break
        step = size / along
        cells = cells + step * direction
        residual = residual - step * curved
        after = float((residual * residual).sum())
        direction = residual + (after / size) * direction
        size = after
    return cells


def _pulled(problem: GridProblem, cells: Floats) -> Floats:
    """Return the negative gradient: each measurement's residual, weighted, on its leaf cells."""
    found = np.zeros(problem.leaf)
    for sums in problem.measured:
        residual = (sums.values - add_up(cells, sums.maps, sums.shape)) / sums.variance
        found += spread(residual, sums.maps, problem.leaf)
    return found


def _curvature(problem: GridProblem, cells: Floats) -> Floats:
    found = np.zeros(problem.leaf)
    for sums in problem.measured:
        weighted = add_up(cells, sums.maps, sums.shape) / sums.variance
        found += spread(weighted, sums.maps, problem.leaf)
    return found


def bounded_variances(problem: GridProblem) -> list[Floats]:
    """Return upper bounds of the variances: of the best combination of a cell's own measurement
    with sums of whole cells of finer ones, which least squares is never worse than (Gauss-Markov).
    """
    found = []
    for sums in problem.measured:
        precision = np.zeros((1,) * len(problem.leaf))
        for other in problem.measured:
            parts = _parts(other, sums)
            if parts is not None:
                precision = precision + 1.0 / (parts * other.variance)
        variance = np.broadcast_to(1.0 / precision, sums.shape).copy()
        for fact in problem.exact:
            if _parts(fact, sums) is not None:
                variance[:] = 0.0
        if problem.zero is not None:
            variance[~open_cells(problem.zero, sums.maps, sums.shape)] = 0.0
        found.append(variance)
    return found


@dataclass(frozen=True, slots=True)
class Widening:
    """How many times as wide as those of least squares intervals are: the most at `measured` of `cells` cells."""

    factor: float
    measured: int
    cells: int


def sampled_widening(problem: GridProblem) -> Widening:
    """Return by how much intervals of `bounded_variances` are too wide, at some cells of every table.

    They are spread evenly over the cells in the order of how many leaf cells each adds up.
    """
    projection = Projection(problem)
    factor, measured, cells = 1.0, 0, 0
    everything = np.ones(problem.leaf)
    for sums, bounds in zip(problem.measured, bounded_variances(problem), strict=True):
        sizes = add_up(everything, sums.maps, sums.shape).reshape(-1)
        count = min(bounds.size, max(LEAST_MEASURED, MEASURED_WORK // everything.size))
        places = np.linspace(0, bounds.size - 1, count).astype(np.int64)
        chosen = np.unique(np.argsort(sizes, kind="stable")[places])
        for cell in chosen:
            place = np.unravel_index(cell, sums.shape)
            unit = np.zeros(sums.shape)
            unit[place] = 1.0
            counted = spread(unit, sums.maps, problem.leaf)
            solved = _descended(problem, projection, np.zeros(problem.leaf), counted, ROUGHLY)
            variance = float((counted * solved).sum())
            if variance > KNOWN * bounds[place]:
                factor = max(factor, float(np.sqrt(bounds[place] / variance)))
        measured, cells = measured + len(chosen), cells + bounds.size
    return Widening(factor, measured, cells)


def _parts(fine: Sums, coarse: Sums) -> Floats | None:
    """Return how many cells of `fine` make up each cell of `coarse`, None where they do not."""
    if not refines(fine.maps, coarse.maps):
        return None
    found = np.ones((1,) * len(coarse.shape))
    for axis, (one, two, size) in enumerate(zip(fine.maps, coarse.maps, coarse.shape, strict=True)):
        counts = parts_along(one, two, size)
        found = found * counts.reshape([-1 if d == axis else 1 for d in range(found.ndim)])
    return found
