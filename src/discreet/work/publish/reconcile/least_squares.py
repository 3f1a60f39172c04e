"""Weighted least squares on groupings of a grid, and its exact variances.

Nested groupings: one pass up, one pass down, exact. The estimate of a cell, from below, combines its own
measurement with the sum of its parts, by their precisions; going down, what the parts lack is shared among
them by their variances. This is the Gaussian posterior mean on a tree, so it is the least-squares optimum.
[Hay et al. 2010, weighted]

Crossed groupings: conjugate gradients on the leaf grid, matrix-free. Sums along dimensions stand for the
matrix and its transpose; exact sums and zero cells are kept by projecting every direction onto what leaves
them unchanged.

Variances: positions of a dimension that no grouping tells apart, or that every grouping which tells them
apart lists one by one, can change places. Cells then split into means over such groups of positions and
contrasts within them; measurements and exact sums mix only cells of the same kind (Schur's lemma), and all
contrasts within one group have the same variance. So each kind is a small problem of its own.

Where the groupings of a dimension commute, as bins of one width within bins of one width do, they have common
eigenvectors, and each kind of eigenvector is a problem of its own again, without that dimension.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import numpy as np

from discreet.base.arrays import Bits, Floats, Integers
from discreet.errors import InvalidInput
from discreet.work.publish.reconcile.problem import (
    Array,
    GridProblem,
    Sums,
    add_up,
    implies,
    linked,
    open_cells,
    parts_along,
    refines,
    spread,
)
from discreet.work.publish.reconcile.uneven_tables import (
    block_variances,
    dense_estimate,
    is_dense,
    moved,
)


@dataclass(frozen=True, slots=True, eq=False)
class TreeEstimate:
    """The least-squares estimate of every cell of one grouping, and its variance (broadcast)."""

    values: Floats
    variance: Floats


def is_nested(sums: Sequence[Sums]) -> bool:
    """Return whether the groupings, from coarse to fine, each refine the one before, completely."""
    ordered = coarse_to_fine(sums)
    whole = all(each.complete for each in ordered)
    return whole and all(implies(fine, coarse) for coarse, fine in pairwise(ordered))


def coarse_to_fine(sums: Sequence[Sums]) -> list[Sums]:
    """Return groupings by their number of cells."""
    return sorted(sums, key=lambda each: int(np.prod(each.shape, dtype=np.float64)))


def tree_estimates(sums: Sequence[Sums], zero: Bits | None = None) -> list[TreeEstimate]:
    """Return the estimates of nested groupings, in the order of `sums`."""
    ordered = coarse_to_fine(sums)
    links = [linked(fine.maps, coarse.maps, fine.shape) for coarse, fine in pairwise(ordered)]
    known = [None if zero is None else ~open_cells(zero, each.maps, each.shape) for each in ordered]
    below = [_own(each, mask) for each, mask in zip(ordered, known, strict=True)]
    parts: list[tuple[Array, Array]] = []
    for i in reversed(range(len(ordered) - 1)):
        shape = ordered[i].shape
        total = add_up(below[i + 1].values, links[i], shape)
        # A broadcast variance is that of each part: the sum needs their number.
        variance = add_up(below[i + 1].variance, links[i], shape)
        parts.insert(0, (total, variance))
        below[i] = _combined(below[i], total, variance)
    found = [below[0]]
    del below[0]
    for i in range(1, len(ordered)):
        # Taken from the list, so that only one copy of the finest cells is held.
        own = below.pop(0)
        found.append(_adjusted(own, found[-1], parts[i - 1], links[i - 1], ordered[i].shape))
    by_sums = {id(each): estimate for each, estimate in zip(ordered, found, strict=True)}
    return [by_sums[id(each)] for each in sums]


def _own(sums: Sums, zero: Bits | None) -> TreeEstimate:
    values = sums.values.astype(np.float64)
    variance = np.full((1,) * values.ndim, sums.variance)
    if zero is None or not zero.any():
        return TreeEstimate(values, variance)
    values[zero] = 0.0
    return TreeEstimate(values, np.where(zero, 0.0, variance))


def _combined(own: TreeEstimate, total: Array, variance: Array) -> TreeEstimate:
    """Return the estimate from a cell's own measurement and the sum of its parts."""
    both = own.variance + variance
    weight = np.divide(variance, both, out=np.zeros_like(both * 1.0), where=both > 0)
    values = total + weight * (own.values - total)
    # Exact numbers stand, whatever their parts say.
    values = np.where(own.variance == 0, own.values, values)
    return TreeEstimate(values, weight * own.variance)


def _adjusted(
    own: TreeEstimate,
    above: TreeEstimate,
    parts: tuple[Array, Array],
    links: Sequence[Array],
    shape: tuple[int, ...],
) -> TreeEstimate:
    """Return the estimate after the parts of each cell were brought to its own estimate."""
    total, variance = parts
    inverse = np.divide(1.0, variance, out=np.zeros_like(variance * 1.0), where=variance > 0)
    missing = spread((above.values - total) * inverse, links, shape)
    missing *= own.variance
    missing += own.values
    share = own.variance * _spread_small(inverse, links)
    left = own.variance - share * own.variance + share**2 * _spread_small(above.variance, links)
    return TreeEstimate(missing, np.maximum(left, 0.0))


def _spread_small(values: Array, links: Sequence[Array]) -> Array:
    """Return values spread to parts, dimensions of size one left to be broadcast."""
    found = values
    for axis, link in enumerate(links):
        if found.shape[axis] > 1:
            found = found.take(link, axis=axis)
    return found


TOLERANCE = 1e-11
"""The gradient is brought down to this part of where it started."""

ROUGHLY = 1e-5
"""The same where a few digits are enough."""

KNOWN = 1e-6
"""A smaller part of its bound is the variance of a sum that exact facts determine, and rounding."""

MOST_STEPS = 2000

SETTLED = 1e-6
"""Conjugate gradients begin again until no sum moves by more, in standard deviations of its table."""

MOST_RESTARTS = 20

QUIET_STEPS = 20
"""A run also ends after so many steps that together move the sums by less than `SETTLED`."""

FLAT = 1e-6
"""A direction in which the weakest table has less than this part of its weight is told apart by none."""

LEAST_MEASURED = 3
"""At how many cells of a table it is measured by how much an interval is too wide, at least."""

ONE_MEASURED_FROM = 2_000_000
"""On grids of more leaf cells it is one cell of a table: each takes as long as the estimate of all numbers."""

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

    Guarantee: variances of which none is a smaller part of the largest than `evened` leaves are all fitted: a weak
        table no less than a precise one. One run of conjugate gradients ends at a part of its first gradient, and
        that of a precise table can be all of it; so they begin again, with the gradient of the cells they found.
    """
    if is_dense(problem):
        return dense_estimate(problem)
    projection = Projection(problem)
    cells = projection.start()
    for count in range(MOST_RESTARTS):
        before, pulled = cells, _pulled(problem, cells)
        cells = _descended(problem, projection, cells, pulled, TOLERANCE, quiets=count > 0)
        if moved(problem, cells - before) <= SETTLED:
            break
    return cells


def _descended(
    problem: GridProblem,
    projection: Projection,
    cells: Floats,
    pulled: Floats,
    tolerance: float,
    *,
    quiets: bool = False,
) -> Floats:
    """Return the cells at which nothing pulls any more, by conjugate gradients; where it `quiets`, hardly anything."""
    residual = projection.apply(pulled)
    direction = residual
    size = float((residual * residual).sum())
    # Measured against what facts may have taken away: what is left of that is rounding.
    small = tolerance**2 * float((pulled * pulled).sum())
    # Curvature below this is rounding: every direction that some sum tells apart has more.
    flat = FLAT / max(sums.variance for sums in problem.measured)
    quiet = 0
    for _ in range(MOST_STEPS):
        if size <= small or quiet > QUIET_STEPS:
            break
        curved = projection.apply(_curvature(problem, direction))
        along = float((direction * curved).sum())
        if along <= flat * float((direction * direction).sum()):
            break
        step = size / along
        # Step times size is the sum of squares by which all sums move, in standard deviations.
        quiet = quiet + 1 if quiets and step * size < (SETTLED / QUIET_STEPS) ** 2 else 0
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
        least = LEAST_MEASURED if everything.size <= ONE_MEASURED_FROM else 1
        count = min(bounds.size, max(least, MEASURED_WORK // everything.size))
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


MOST_UNKNOWNS = 1500
"""A block of more unknowns is not solved: half a minute of a core and 0.3 GB."""

MOST_KINDS = 4096
"""Problems into which eigenvectors may divide one block."""

MOST_WORK = 2 * MOST_UNKNOWNS**3
"""Cubes of unknowns over all problems: a minute of a core."""

LEAST_UNKNOWNS = 50
"""A problem of fewer takes as long as one of so many."""

_DIAGONAL = 1e-10
"""What may stand beside the diagonal, of the largest that can, where eigenvectors are common ones."""
_SAME = 1e-9
"""Eigenvalues that are this near are one."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupedSums:
    """The classes of one table along one dimension, in groups of positions that can change places.

    A row of `rows` sums normed means of groups: one row for each class of several positions, one for each group
    whose positions are classes of their own. `row` is the row of each class, `of_mean` the share of the squared
    length of a class that lies in means, the rest lies in contrasts within `group`.
    """

    rows: Floats
    row: Integers
    of_mean: Floats
    group: Integers


@dataclass(frozen=True, slots=True, eq=False)
class GroupedAxis:
    """One dimension: a position of each group, how large it is, and which tables list it one by one."""

    first: Integers
    sizes: Integers
    listed: Bits
    sums: tuple[GroupedSums, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EigenKind:
    """Common eigenvectors of the groupings of one dimension on which each grouping acts as one number.

    `weight` is that number for each table; `share` says how much of each of its rows lies on them: the sum of
    squared products.
    """

    weight: tuple[float, ...]
    share: tuple[Floats, ...]


def eigen_kinds(axis: GroupedAxis) -> list[EigenKind] | None:
    """Return the common eigenvectors of one dimension's groupings, by kind; None where there are none.

    With A_t the rows of table t, the matrices A_t' A_t must commute. A generic combination of them is
    diagonalized, and its eigenvectors are taken only if they diagonalize each of them.
    """
    squares = [sums.rows.T @ sums.rows for sums in axis.sums]
    norms = [max(float(np.abs(each).sum(axis=1).max(initial=0.0)), 1.0) for each in squares]
    mixed = np.zeros_like(squares[0])
    for t, (square, norm) in enumerate(zip(squares, norms, strict=True)):
        mixed += (1.0 + np.sqrt(2.0 + t)) * square / norm
    _, vectors = np.linalg.eigh(mixed)
    weights = np.empty((len(squares), len(mixed)))
    for t, (square, norm) in enumerate(zip(squares, norms, strict=True)):
        moved = vectors.T @ square @ vectors
        weights[t] = np.diag(moved) / norm
        np.fill_diagonal(moved, 0.0)
        if np.abs(moved).max(initial=0.0) > _DIAGONAL * norm:
            return None
    weights[weights < _SAME] = 0.0
    kinds: list[tuple[Floats, list[int]]] = []
    for i, each in enumerate(weights.T):
        known = next((k for w, k in kinds if np.abs(w - each).max() <= _SAME), None)
        if known is None:
            kinds.append((each, [i]))
        else:
            known.append(i)
    return [
        EigenKind(
            tuple(float(w) * norm for w, norm in zip(weight, norms, strict=True)),
            tuple(np.square(sums.rows @ vectors[:, places]).sum(axis=1) for sums in axis.sums),
        )
        for weight, places in kinds
    ]


class SymmetricBlocks:
    """The variances of all measured sums, as least squares has them."""

    def __init__(self, problem: GridProblem) -> None:
        self._problem = problem
        self._all = (*problem.measured, *problem.exact)
        self._axes = [_grouped(problem, self._all, axis) for axis in range(len(problem.leaf))]
        self._kinds_of = self._split() if problem.zero is None else {}
        zero = problem.zero
        self._open = (
            np.ones([len(axis.sizes) for axis in self._axes], dtype=bool)
            if zero is None
            else ~zero[np.ix_(*[axis.first for axis in self._axes])]
        )

    def _split(self) -> dict[int, list[EigenKind]]:
        """Return the dimensions that are taken apart by eigenvectors: in at most `MOST_KINDS` problems in all."""
        found = {d: eigen_kinds(axis) for d, axis in enumerate(self._axes)}
        split: dict[int, list[EigenKind]] = {}
        problems = 1
        for d, kinds in sorted(found.items(), key=lambda each: len(each[1] or ())):
            if kinds is not None and problems * len(kinds) <= MOST_KINDS:
                split[d] = kinds
                problems *= len(kinds)
        return split

    @property
    def unknowns(self) -> int:
        """Return how many unknowns the largest block has."""
        return self._unknowns(range(len(self._axes)))

    @property
    def work(self) -> int:
        """Return the cubes of the unknowns of all problems, at most: what `variances` would take."""
        found, dimensions = 0, range(len(self._axes))
        for outer in (o for n in range(len(self._axes) + 1) for o in combinations(dimensions, n)):
            problems = math.prod(len(self._kinds(d)) for d in dimensions if d not in outer)
            problems *= math.prod(len(self._kinds_of[d]) for d in outer if d in self._kinds_of)
            found += problems * max(self._unknowns(outer), LEAST_UNKNOWNS) ** 3
        return found

    @property
    def fits(self) -> bool:
        """Return whether no block and no number of blocks is too large to be solved."""
        return self.unknowns <= MOST_UNKNOWNS and self.work <= MOST_WORK

    def _unknowns(self, outer: Sequence[int]) -> int:
        """Return how many unknowns means along the dimensions `outer` have, at most."""
        kept = math.prod(len(self._axes[d].sizes) for d in outer if d not in self._kinds_of)
        return kept if self._problem.zero is None else min(kept, int(self._open.sum()))

    def variances(self) -> list[Floats]:
        """Return the variance of every estimate, table by table.

        Guarantee: those of least squares under all exact sums and zeros, up to rounding: what exact
            sums determine has variance 0.
        """
        found = [
            np.zeros([len(axis.sums[t].rows) for axis in self._axes])
            for t in range(len(self._problem.measured))
        ]
        dimensions = range(len(self._axes))
        for count in range(len(self._axes) + 1):
            for inner in combinations(dimensions, count):
                for groups in product(*[self._kinds(d) for d in inner]):
                    self._add(found, dict(zip(inner, groups, strict=True)))
        full = []
        for t, reduced in enumerate(found):
            places = [axis.sums[t].row for axis in self._axes]
            full.append(np.asarray(reduced[np.ix_(*places)]))
        return full

    def _kinds(self, dimension: int) -> list[Integers]:
        """Return the groups along a dimension that have contrasts, those of one kind together."""
        axis = self._axes[dimension]
        slices = np.moveaxis(self._open, dimension, 0).reshape(len(axis.sizes), -1)
        alike: dict[tuple[bytes, bytes], list[int]] = {}
        for group in np.flatnonzero(axis.sizes > 1):
            kind = axis.listed[:, group].tobytes(), slices[group].tobytes()
            alike.setdefault(kind, []).append(int(group))
        return [np.array(groups) for groups in alike.values()]

    def _add(self, found: list[Floats], inner: dict[int, Integers]) -> None:
        """Add what contrasts along the dimensions `inner`, within groups of one kind, add."""
        outer = [d for d in range(len(self._axes)) if d not in inner]
        split = [d for d in outer if d in self._kinds_of]
        for kinds in product(*[self._kinds_of[d] for d in split]):
            self._add_kind(found, inner, outer, dict(zip(split, kinds, strict=True)))

    def _add_kind(
        self,
        found: list[Floats],
        inner: dict[int, Integers],
        outer: list[int],
        kinds: dict[int, EigenKind],
    ) -> None:
        """Add what eigenvectors of these kinds add to it; dimensions that have none are one dense problem."""
        scale = [
            float(np.prod([kind.weight[t] for kind in kinds.values()]))
            for t in range(len(self._all))
        ]
        acting = [
            t
            for t in range(len(self._all))
            if scale[t] > 0
            and all(self._axes[d].listed[t, groups[0]] for d, groups in inner.items())
        ]
        place = tuple(
            inner[d][0] if d in inner else 0 if d in kinds else slice(None)
            for d in range(len(self._axes))
        )
        open_ = np.asarray(self._open[place]).reshape(-1)
        measured = [t for t in acting if t < len(found)]
        if not measured or not open_.any():
            return

        def rows(t: int) -> Floats:
            found: Floats = np.ones((1, 1))
            for d in outer:
                if d not in kinds:
                    found = np.asarray(np.kron(found, self._axes[d].sums[t].rows), dtype=np.float64)
            return np.asarray(found[:, open_])

        weights = [scale[t] / self._all[t].variance for t in measured]
        exact = [rows(t) for t in acting if t >= len(found)]
        variances = block_variances([rows(t) for t in measured], weights, exact)
        for t, variance in zip(measured, variances, strict=True):
            self._spread(found[t], t, variance, inner, kinds)

    def _spread(
        self,
        found: Floats,
        t: int,
        variance: Floats,
        inner: dict[int, Integers],
        kinds: dict[int, EigenKind],
    ) -> None:
        """Add the variances of one table's rows in one block to all the cells that have a part in it."""
        rank = len(self._axes)
        dense = [d for d in range(rank) if d not in inner and d not in kinds]
        shaped = variance.reshape(
            [len(self._axes[d].sums[t].rows) if d in dense else 1 for d in range(rank)]
        )
        target = []
        for d, axis in enumerate(self._axes):
            sums = axis.sums[t]
            inside = d in inner
            kept = (
                np.flatnonzero(np.isin(sums.group, inner[d]))
                if inside
                else np.arange(len(sums.rows))
            )
            share = (1.0 - sums.of_mean if inside else sums.of_mean)[kept]
            if d in kinds:
                share = share * kinds[d].share[t]
            shaped = shaped * share.reshape([-1 if e == d else 1 for e in range(rank)])
            target.append(kept)
        found[np.ix_(*target)] += shaped


def _grouped(problem: GridProblem, sums: Sequence[Sums], axis: int) -> GroupedAxis:
    size = problem.leaf[axis]
    counts = [
        np.bincount(each.maps[axis][each.maps[axis] >= 0], minlength=each.shape[axis])
        for each in sums
    ]
    keys = [np.zeros(size, dtype=np.int64)]
    for each, count in zip(sums, counts, strict=True):
        classes = each.maps[axis]
        alone = (classes >= 0) & (count[classes] == 1)
        keys.append(np.where(alone, -2, classes))
    if problem.zero is not None:
        slices = np.packbits(np.moveaxis(problem.zero, axis, 0).reshape(size, -1), axis=1)
        keys.append(np.unique(slices, axis=0, return_inverse=True)[1].reshape(-1))
    _, first, group = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    sizes = np.bincount(group)
    listed = np.stack([key[first] == -2 for key in keys[1 : len(sums) + 1]])
    grouped = [
        _rows(each.maps[axis], count, group, sizes, alone)
        for each, count, alone in zip(sums, counts, listed, strict=True)
    ]
    return GroupedAxis(first, sizes, listed, tuple(grouped))


def _rows(
    classes: Integers, count: Integers, group: Integers, sizes: Integers, alone: Bits
) -> GroupedSums:
    several = np.flatnonzero(count != 1)
    single = np.flatnonzero(alone)
    rows = np.zeros((len(several) + len(single), len(sizes)))
    row = np.zeros(len(count), dtype=np.int64)
    row[several] = np.arange(len(several))
    inside = (classes >= 0) & (count[classes] != 1)
    rows[row[classes[inside]], group[inside]] = np.sqrt(sizes[group[inside]])
    places = len(several) + np.arange(len(single))
    rows[places, single] = 1.0
    of_group = np.zeros(len(sizes), dtype=np.int64)
    of_group[single] = places
    listed = (classes >= 0) & (count[classes] == 1)
    row[classes[listed]] = of_group[group[listed]]
    of_mean = np.concatenate([np.ones(len(several)), 1.0 / sizes[single]])
    return GroupedSums(rows, row, of_mean, np.concatenate([np.full(len(several), -1), single]))
