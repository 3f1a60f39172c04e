"""Exact facts in whole numbers: the cells that all facts together tell apart, settled first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.core.system.extras import needs
from discreet.errors import FactsContradict, InvalidInput
from discreet.publish.grid import Array, add_up
from discreet.publish.reconcile.problem import GridProblem, Sums, linked, open_cells

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
