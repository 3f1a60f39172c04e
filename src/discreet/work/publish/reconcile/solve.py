"""From noisy sums to what is published: cells that are not negative, whole numbers that add up, intervals.

Crossed tables leave leaf cells open, and the least-squares cells may be negative where their sums are not.
So goals for the tables are settled from coarse to fine: not negative, near their estimates, with the sums
that settled tables already have in common with them. Then, from equal cells, each table in turn scales the
cells of its groups to its goals (iterative proportional fitting).

Leaf cells in whole numbers make every sum of them agree. So that coarse sums stay near their estimates as
well, totals are settled first: the parts of a cell are the nearest numbers (not negative) to their estimates
that add up to it, rounded so that they still do. Exact facts are settled before all others, in the cells
that all facts together tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.packages import needs
from discreet.errors import FactsContradict, InvalidInput
from discreet.work.publish.families import numbered_by_first_occurrence
from discreet.work.publish.reconcile.least_squares import (
    SymmetricBlocks,
    TreeEstimate,
    Widening,
    bounded_variances,
    coarse_to_fine,
    crossed_estimate,
    finest_facts,
    is_nested,
    sampled_widening,
    tree_estimates,
)
from discreet.work.publish.reconcile.problem import (
    Array,
    GridProblem,
    Sums,
    add_up,
    linked,
    narrowed,
    open_cells,
    spread,
)
from discreet.work.publish.reconcile.uneven_tables import evened

MOST_ROUNDS = 100
LARGE = 20_000_000
FEW_ROUNDS = 20
"""Rounds for grids of more leaf cells than that."""
CLOSE = 0.02
"""Sums that are this near to their goals are near enough: they will be whole numbers."""
TURNS = 5
"""How often the goals of one table are brought to each of the settled tables."""


Goal = tuple[Sums, Floats]
"""A table with the sums that leaf cells should have: none of them negative."""


def fitted_cells(problem: GridProblem, estimates: Sequence[TreeEstimate]) -> Floats:
    """Return leaf cells, none negative, whose sums are near the estimates of all tables."""
    goals = settled_goals(problem, estimates)
    cells = np.ones(problem.leaf)
    if problem.zero is not None:
        cells[problem.zero] = 0.0
    # Fine tables first: what coarse ones and facts say is kept best.
    ordered = sorted(goals, key=lambda goal: (goal[0].variance == 0, -goal[1].size))
    for _ in range(FEW_ROUNDS if cells.size > LARGE else MOST_ROUNDS):
        worst = 0.0
        for sums, wanted in ordered:
            held = add_up(cells, sums.maps, sums.shape)
            known = held > 0
            lacking = np.where(known, wanted - held, 0.0)
            worst = max(worst, float(np.abs(lacking).max(initial=0.0)))
            more = np.divide(lacking, held, out=np.zeros_like(held), where=known)
            # Cells that a table does not count stay as they are.
            cells = cells * (1.0 + spread(more, sums.maps, problem.leaf))
        if worst < CLOSE:
            break
    return cells


def settled_goals(problem: GridProblem, estimates: Sequence[TreeEstimate]) -> list[Goal]:
    """Return goals for facts and tables that agree with each other as far as they have in common."""
    found: list[Goal] = [
        (fact, fact.values.astype(np.float64)) for fact in finest_facts(problem.exact)
    ]
    tables = sorted(
        zip(problem.measured, estimates, strict=True), key=lambda pair: pair[0].values.size
    )
    for sums, estimate in tables:
        values = np.broadcast_to(estimate.values, sums.shape).reshape(-1).astype(np.float64)
        if problem.zero is not None:
            open_ = open_cells(problem.zero, sums.maps, sums.shape)
            values = np.where(open_.reshape(-1), values, 0.0)
        bonds = [(_bond(sums, other), wanted) for other, wanted in found]
        goals = np.maximum(values, 0.0)
        for _ in range(TURNS if len(bonds) > 1 else 1):
            for (mine, theirs, groups), wanted in bonds:
                kept = theirs >= 0
                totals: Floats = np.bincount(
                    theirs[kept], weights=wanted.reshape(-1)[kept], minlength=groups
                ).astype(np.float64)
                goals = nearest(values, mine, totals)
                values = goals
        found.append((sums, goals.reshape(sums.shape)))
    return found


def nearest(values: Floats, groups: Integers, totals: Floats) -> Floats:
    """Return the nearest numbers, none negative, with these totals by group; group -1 has none.

    >>> nearest(np.array([3.0, -2.0, 7.0, -1.0]), np.array([0, 0, 0, -1]), np.array([8.0])).tolist()
    [2.0, 0.0, 6.0, 0.0]
    """
    found = np.maximum(values, 0.0)
    inside = np.flatnonzero(groups >= 0)
    mine, owner = values[inside], groups[inside]
    active = np.ones(len(mine), dtype=bool)
    shift = np.zeros(len(mine))
    for _ in range(MOST_ROUNDS):
        count = np.bincount(owner, weights=active, minlength=len(totals))
        held = np.bincount(owner, weights=np.where(active, mine, 0.0), minlength=len(totals))
        shift = ((held - totals) / np.maximum(count, 1))[owner]
        kept = active & (mine > shift)
        if (kept == active).all():
            break
        active = kept
    found[inside] = np.where(active, mine - shift, 0.0)
    return found


def _bond(one: Sums, two: Sums) -> tuple[Integers, Integers, int]:
    """Return for each cell of two tables the group in which both have the same sum, -1 for none."""
    mine: list[Integers] = []
    theirs: list[Integers] = []
    sizes = []
    for first, second, n, m in zip(one.maps, two.maps, one.shape, two.shape, strict=True):
        of_first, of_second, size = _joined(first, second, n, m)
        mine.append(of_first)
        theirs.append(of_second)
        sizes.append(size)
    return _flat(mine, sizes), _flat(theirs, sizes), int(np.prod(sizes))


def _joined(first: Integers, second: Integers, n: int, m: int) -> tuple[Integers, Integers, int]:
    """Return along one dimension the finest classes that are unions of classes of both sides.

    Where one side does not count what the other does, there is no such class: -1.
    """
    pairs = np.unique(
        np.stack([np.where(first < 0, n, first), np.where(second < 0, m, second)]), axis=1
    )
    label = np.arange(n + 1 + m + 1)
    while True:
        low = np.minimum(label[pairs[0]], label[n + 1 + pairs[1]])
        after = label.copy()
        np.minimum.at(after, pairs[0], low)
        np.minimum.at(after, n + 1 + pairs[1], low)
        if (after == label).all():
            break
        label = after
    mixed = {int(label[n]), int(label[n + 1 + m])}
    classes = sorted({int(each) for each in (*label[:n], *label[n + 1 : n + 1 + m])} - mixed)
    place = {each: i for i, each in enumerate(classes)}
    number = np.array([place.get(int(each), -1) for each in label], dtype=np.int64)
    return number[:n], number[n + 1 : n + 1 + m], max(1, len(classes))


def _flat(parts: Sequence[Array], sizes: Sequence[int]) -> Integers:
    found = np.zeros((1,) * len(parts), dtype=np.int64)
    known = np.ones((1,) * len(parts), dtype=bool)
    for axis, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        shaped = part.reshape([-1 if d == axis else 1 for d in range(len(parts))])
        found = found * size + np.maximum(shaped, 0)
        known = known & (shaped >= 0)
    return np.where(known, found, -1).reshape(-1)


MOST_CELLS = 200_000
"""Crossed facts that tell more cells apart than this are refused."""

SECONDS = 60.0
"""How long whole numbers that meet all facts are looked for; the best ones found by then are taken."""

INFEASIBLE = 2
"""How the solver says that there are none."""


def settle_facts(
    problem: GridProblem, facts: Sequence[Sums], classes: Sequence[Integers], leaf: Floats
) -> Integers:
    """Return whole numbers for the cells of `classes` that have every exact sum."""
    shape = tuple(int(each.max()) + 1 for each in classes)
    near = add_up(leaf, classes, shape)
    open_ = np.ones(shape, dtype=bool)
    if problem.zero is not None:
        open_ = open_cells(problem.zero, classes, shape)
    if len(facts) == 1:
        return _one(facts[0], classes, near, open_, non_negative=problem.non_negative)
    return _several(facts, classes, near, open_, non_negative=problem.non_negative)


def _one(
    fact: Sums, classes: Sequence[Integers], near: Floats, open_: Array, *, non_negative: bool
) -> Integers:
    """Return the fact's own numbers, and whole estimates where it says nothing."""
    whole = np.maximum(np.rint(near), 0) if non_negative else np.rint(near)
    found = np.where(open_, whole, 0).astype(np.int64)
    links = linked(classes, fact.maps, near.shape)
    inside = np.ix_(*[np.flatnonzero(link >= 0) for link in links])
    values = fact.values[np.ix_(*[link[link >= 0] for link in links])]
    found[inside] = values
    if (values[~open_[inside]] != 0).any():
        raise contradiction()
    return found


def _several(
    facts: Sequence[Sums],
    classes: Sequence[Integers],
    near: Floats,
    open_: Array,
    *,
    non_negative: bool,
) -> Integers:
    """Return the whole numbers nearest to the estimates that meet all facts, by linear programming."""
    size = near.size
    check_several(size)
    with needs("scipy", extra="lab"):
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array, eye_array, hstack, vstack

    rows = [_incidence(fact, classes, near.shape) for fact in facts]
    sums = vstack([coo_array((np.ones(len(i)), (i, j)), shape=(n, size)) for i, j, n in rows])
    goal = np.concatenate([fact.values.reshape(-1) for fact in facts]).astype(float)
    # |x - near| as up - down: x = near + up - down.
    target = np.rint(near.reshape(-1))
    parts = hstack([eye_array(size), -eye_array(size), eye_array(size)])
    low = np.zeros(size) if non_negative else np.full(size, -np.inf)
    high = np.where(open_.reshape(-1), np.inf, 0.0)
    zeros = coo_array(sums.shape)
    answer = milp(
        c=np.concatenate([np.zeros(size), np.ones(2 * size)]),
        constraints=[
            LinearConstraint(parts, target, target),
            LinearConstraint(hstack([sums, zeros, zeros]), goal, goal),
        ],
        integrality=np.concatenate([np.ones(size), np.zeros(2 * size)]),
        bounds=Bounds(
            np.concatenate([low, np.zeros(2 * size)]),
            np.concatenate([high, np.full(2 * size, np.inf)]),
        ),
        options={"time_limit": SECONDS},
    )
    if answer.x is None and answer.status == INFEASIBLE:
        raise contradiction()
    if answer.x is None:
        raise InvalidInput(
            f"The exact facts tell {size:,} cells apart, and no whole numbers that meet all of them "
            "were found in time.",
            hint="Keep fewer facts that cross each other.",
        )
    return np.rint(answer.x[:size]).astype(np.int64).reshape(near.shape)


def check_several(size: int) -> None:
    """Refuse crossed facts that could not be settled: too many cells, or no solver installed."""
    if size > MOST_CELLS:
        raise InvalidInput(
            f"The exact facts together tell {size:,} cells apart, more than {MOST_CELLS:,}.",
            hint="Keep facts of one grouping, or of groupings that refine each other.",
        )
    with needs("scipy", extra="lab"):
        import scipy.optimize  # noqa: F401  # is it there?


def _incidence(
    fact: Sums, classes: Sequence[Integers], shape: Sequence[int]
) -> tuple[Integers, Integers, int]:
    """Return pairs (cell of the fact, cell of the classes in it)."""
    links = linked(classes, fact.maps, shape)
    inside = [np.flatnonzero(link >= 0) for link in links]
    cells = np.ravel_multi_index(np.meshgrid(*inside, indexing="ij"), tuple(shape))
    owners = np.ravel_multi_index(
        np.meshgrid(*[link[keep] for link, keep in zip(links, inside, strict=True)], indexing="ij"),
        fact.shape,
    )
    return owners.reshape(-1), cells.reshape(-1), int(np.prod(fact.shape))


def contradiction() -> FactsContradict:
    """Return the refusal of facts and rules that no table can meet."""
    return FactsContradict(
        "The exact facts contradict each other, or a rule: no whole numbers meet all of them.",
        hint="Compare their totals; a rule may set to zero what a fact counts.",
    )


PARTS_AT_ONCE = 1 << 18
"""About how many parts are divided at once."""


def whole_cells(problem: GridProblem, leaf: Floats) -> Integers:
    """Return whole leaf cells near the estimates `leaf`, with all exact sums and zeros kept."""
    facts = finest_facts(problem.exact)
    classes = fact_classes(problem, facts)
    if facts:
        totals = settle_facts(problem, facts, classes, leaf)
    else:
        total = np.rint(add_up(leaf, classes, (1,) * leaf.ndim))
        totals = (np.maximum(total, 0) if problem.non_negative else total).astype(np.int64)
    for goal in _stages(problem):
        for axis in range(leaf.ndim):
            finer = _refined(classes[axis], goal[axis])
            if finer.max(initial=0) > classes[axis].max(initial=0):
                after = [finer if d == axis else each for d, each in enumerate(classes)]
                totals = _divide(problem, leaf, totals, (classes, after, axis))
                classes = after
    return totals


def fact_classes(problem: GridProblem, facts: Sequence[Sums]) -> list[Integers]:
    """Return along each dimension the classes that the facts together tell apart."""
    classes = [np.zeros(size, dtype=np.int64) for size in problem.leaf]
    for fact in facts:
        classes = [_refined(one, two) for one, two in zip(classes, fact.maps, strict=True)]
    return classes


def _stages(problem: GridProblem) -> list[Sequence[Integers]]:
    """Return groupings from coarse to fine, the leaf cells themselves last."""
    found: list[Sequence[Integers]] = [each.maps for each in coarse_to_fine(problem.measured)]
    return [*found, [np.arange(size) for size in problem.leaf]]


def _refined(one: Integers, two: Integers) -> Integers:
    """Return the classes of leaf classes that neither grouping tells apart, numbered by first sight."""
    return numbered_by_first_occurrence([one, two])


def _divide(
    problem: GridProblem,
    leaf: Floats,
    totals: Integers,
    change: tuple[list[Integers], list[Integers], int],
) -> Integers:
    before, after, axis = change
    shape = [int(each.max()) + 1 for each in after]
    estimates = add_up(leaf, after, shape)
    open_ = None if problem.zero is None else open_cells(problem.zero, after, shape)
    link = np.zeros(shape[axis], dtype=np.int64)
    link[after[axis]] = before[axis]
    return divided(totals, estimates, link, axis, allowed=open_, non_negative=problem.non_negative)


def divided(
    totals: Integers,
    estimates: Floats,
    link: Integers,
    axis: int,
    *,
    allowed: Array | None = None,
    non_negative: bool = True,
) -> Integers:
    """Return whole parts along one dimension that add up to `totals`; `link` says part of which.

    >>> divided(np.array([10]), np.array([3.4, -2.0, 7.0]), np.array([0, 0, 0]), 0).tolist()
    [3, 0, 7]
    """
    order = np.argsort(link, kind="stable")
    owners = link[order]
    whole = np.moveaxis(totals, axis, 0).reshape(totals.shape[axis], -1)
    values = np.moveaxis(estimates, axis, 0).reshape(estimates.shape[axis], -1)
    open_ = None
    if allowed is not None:
        open_ = np.moveaxis(allowed, axis, 0).reshape(values.shape)
    parts = np.empty(values.shape, dtype=np.int64)
    width = max(1, PARTS_AT_ONCE // len(link))
    for start in range(0, values.shape[1], width):
        # Columns are independent of each other; a few at a time stay in the processor's cache.
        columns = slice(start, start + width)
        held = None if open_ is None else open_[order, columns]
        shares = _projected(
            whole[:, columns], values[order, columns], owners, held, non_negative=non_negative
        )
        parts[order, columns] = _rounded(whole[:, columns], shares, owners)
    rest = [size for d, size in enumerate(estimates.shape) if d != axis]
    return np.ascontiguousarray(np.moveaxis(parts.reshape([len(link), *rest]), 0, axis))


def _projected(
    totals: Integers,
    values: Floats,
    owners: Integers,
    allowed: Array | None,
    *,
    non_negative: bool,
) -> Floats:
    """Return the nearest parts that add up to their totals (Michelot 1986 for those >= 0)."""
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
    lengths = np.diff(np.append(starts, len(owners)))
    wanted = totals[owners[starts]]
    active = np.ones(values.shape, dtype=bool) if allowed is None else allowed
    held = values if allowed is None else np.where(active, values, 0.0)
    for _ in range(MOST_ROUNDS):
        count = np.add.reduceat(active, starts, axis=0, dtype=np.float64)
        excess = (np.add.reduceat(held, starts, axis=0) - wanted) / np.maximum(count, 1)
        shift = np.repeat(excess, lengths, axis=0)
        if not non_negative:
            break
        kept = active & (values > shift)
        if (kept == active).all():
            break
        active = kept
        held = np.where(active, values, 0.0)
    return np.where(active, values - shift, 0.0)


def _rounded(totals: Integers, shares: Floats, owners: Integers) -> Integers:
    """Return whole parts, each next to its share, whose sums are the totals: running sums rounded."""
    whole = np.floor(np.cumsum(shares, axis=0) + 0.5).astype(np.int64)
    ends = np.flatnonzero(np.append(owners[1:] != owners[:-1], True))
    # Rounding errors of the running sum must not reach the totals.
    whole[ends] = np.cumsum(totals[owners[ends]], axis=0)
    return np.diff(whole, axis=0, prepend=0)


NORMAL = 1.959964
"""Half the width of a 95% interval in standard deviations, where no law has a wider one."""

_SLACK = 1e-6


CELLS_AT_ONCE = 1 << 22
"""About how many cells get their intervals at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PublishedNumbers:
    """The numbers of one table as they are published: whole, each with the ends of its interval."""

    whole: Integers
    low: Integers
    high: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Reconciled:
    """One table: its least-squares estimate, and what is published of it."""

    estimate: TreeEstimate
    published: PublishedNumbers


def least_squares(problem: GridProblem) -> tuple[list[TreeEstimate], Floats]:
    """Return the estimate of every measured table, and of the leaf cells."""
    everything = (*problem.measured, *problem.exact)
    finest = coarse_to_fine(everything)[-1]
    if _is_tree(problem):
        found = tree_estimates(everything, problem.zero)
        leaf = next(e for e, s in zip(found, everything, strict=True) if s is finest)
        return found[: len(problem.measured)], leaf.values.reshape(problem.leaf)
    problem = evened(problem)
    leaf_cells = crossed_estimate(problem)
    blocks = SymmetricBlocks(problem)
    variances = blocks.variances() if blocks.fits else bounded_variances(problem)
    estimates = [
        TreeEstimate(add_up(leaf_cells, sums.maps, sums.shape), variance)
        for sums, variance in zip(problem.measured, variances, strict=True)
    ]
    return estimates, leaf_cells


def widening(problem: GridProblem) -> Widening | None:
    """Return how many times as wide as those of least squares intervals are at some cells; None where they are exact."""
    if _is_tree(problem) or SymmetricBlocks(problem).fits:
        return None
    return sampled_widening(evened(problem))


def _is_tree(problem: GridProblem) -> bool:
    everything = (*problem.measured, *problem.exact)
    return coarse_to_fine(everything)[-1].shape == problem.leaf and is_nested(everything)


def reconcile(problem: GridProblem, *, width: float = NORMAL) -> Iterator[Reconciled]:
    """Return every measured table as it is published, one after the other; post-processing only.

    Whoever keeps only what is published never holds more than one table's estimates.

    Guarantee: whole numbers add up everywhere, keep all exact sums and zeros, and are not negative
        where the measure cannot be. Intervals are those of least squares, cut at zero, rounded
        outwards, and widened to hold the published number.
    """
    estimates, leaf = least_squares(problem)
    if problem.non_negative and not _is_tree(problem):
        leaf = fitted_cells(problem, estimates)
    return _published(problem, estimates, narrowed(whole_cells(problem, leaf)), width)


def _published(
    problem: GridProblem, estimates: list[TreeEstimate], cells: Integers, width: float
) -> Iterator[Reconciled]:
    for sums in problem.measured:
        whole = np.asarray(add_up(cells, sums.maps, sums.shape))
        estimate = estimates.pop(0)
        low, high = intervals(estimate, whole, width=width, non_negative=problem.non_negative)
        yield Reconciled(estimate, PublishedNumbers(whole, low, high))


def intervals(
    estimate: TreeEstimate, whole: Integers, *, width: float, non_negative: bool
) -> tuple[Integers, Integers]:
    """Return the ends of the intervals of one table, a few million cells at a time."""
    if not whole.shape:
        # A grand total of a family that nothing divides: one cell without a dimension.
        one = TreeEstimate(np.atleast_1d(estimate.values), np.atleast_1d(estimate.variance))
        ends = intervals(one, np.atleast_1d(whole), width=width, non_negative=non_negative)
        return ends[0].reshape(()), ends[1].reshape(())
    half = np.broadcast_to(width * np.sqrt(estimate.variance), whole.shape)
    values = np.broadcast_to(estimate.values, whole.shape)
    kind = whole.dtype if _far(values, half) < np.iinfo(whole.dtype).max else np.dtype(np.int64)
    low, high = np.empty(whole.shape, kind), np.empty(whole.shape, kind)
    step = max(1, CELLS_AT_ONCE * whole.shape[0] // max(1, whole.size))
    for start in range(0, whole.shape[0], step):
        rows = slice(start, start + step)
        below = np.floor(values[rows] - half[rows] + _SLACK)
        above = np.ceil(values[rows] + half[rows] - _SLACK)
        if non_negative:
            np.maximum(below, 0, out=below)
            np.maximum(above, 0, out=above)
        low[rows] = np.minimum(below, whole[rows])
        high[rows] = np.maximum(above, whole[rows])
    return low, high


def _far(values: Floats, half: Floats) -> float:
    """Return a number that no end of an interval is beyond."""
    largest = max(abs(values.min(initial=0.0)), abs(values.max(initial=0.0)))
    return float(largest + half.max(initial=0.0) + 1)
