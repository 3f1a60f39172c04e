"""The block behind published tables: solved by integer programmes (HiGHS), or the likeliest where they are noisy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attack.counts.census_tables import RESIDENTS, CensusCounts, ResidentRows, tabulated
from discreet.attack.counts.reconstruction_solve import optimizer
from discreet.core.arrays import Floats, Integers
from discreet.errors import InvalidInput

SECONDS = 20.0
"""A block that takes longer is given up, and said to be."""
_TWINS = 4
"""How many equal residents of one block are considered as likely."""


@dataclass(frozen=True, slots=True, eq=False)
class SolvedBlock:
    """A block that agrees with all tables, and how many of its records every such block has."""

    block: Integers
    certain: int

    @property
    def unique(self) -> bool:
        """Return whether no other block agrees with the tables."""
        return self.certain == int(self.block.sum())


def consistent_block(rows: ResidentRows, size: int) -> Integers:
    """Return some block of `size` residents that satisfies all rows."""
    optimize = optimizer()
    kinds = rows.matrix.shape[1]
    found = _solved(optimize, np.zeros(kinds), _constraint(optimize, rows, 0), kinds, size)
    return np.asarray(np.rint(found.x[:kinds]), dtype=np.int64)


def least_overlap(rows: ResidentRows, block: Integers) -> int:
    """Return how many records of `block` every block that satisfies the rows has, counted together.

    One integer programme looks for the block that has least in common with this one: equal to the
    block's size means that the tables have exactly one solution. Where time runs out, the solver's
    own lower bound is returned: never more than the truth.
    """
    optimize = optimizer()
    size, kinds = int(block.sum()), block.size
    own = np.repeat(np.arange(kinds), block)
    rank = np.concatenate([np.arange(count) for count in block[block > 0]])
    # shared[r] = 1 as soon as the other block has more than `rank` residents of that kind.
    link = np.zeros((size, kinds + size))
    link[np.arange(size), own] = -1.0
    link[np.arange(size), kinds + np.arange(size)] = float(size)
    constraints = [
        *_constraint(optimize, rows, size),
        optimize.LinearConstraint(link, -rank.astype(np.float64), np.inf),
    ]
    aim = np.concatenate([np.zeros(kinds), np.ones(size)])
    found = _solved(optimize, aim, constraints, kinds, size)
    return max(math.ceil(float(found.mip_dual_bound) - 1e-6), 0)


def _constraint(optimize: Any, rows: ResidentRows, more: int) -> list[Any]:
    wide = np.hstack([rows.matrix, np.zeros((len(rows.matrix), more))])
    return [optimize.LinearConstraint(wide, rows.low, rows.high)]


def _solved(optimize: Any, aim: Floats, constraints: list[Any], kinds: int, size: int) -> Any:
    found = optimize.milp(
        aim,
        constraints=constraints,
        integrality=np.ones(aim.size),
        bounds=optimize.Bounds(0, np.where(np.arange(aim.size) < kinds, size, 1)),
        options={"time_limit": SECONDS},
    )
    if found.x is None:
        raise InvalidInput(
            "No block was found that agrees with these tables in the time allowed.",
            hint="Use smaller blocks.",
        )
    return found


def expected_residents(others: Integers, size: int) -> Floats:
    """Return how many of each kind a block of `size` holds on average, by everybody elsewhere."""
    counts = tabulated(others) + 1 / len(RESIDENTS)
    return np.asarray(size * counts / counts.sum())


def likeliest_block(expected: Floats, size: int) -> Integers:
    """Return the `size` residents that most likely live there, counts being Poisson.

    Each further resident of a kind is one more guess, right with the probability that there are so
    many; the best guesses are taken. No block has a higher expected overlap with the true one.
    """
    below = np.zeros_like(expected)
    chances = []
    for count in range(_TWINS):
        below = below + np.exp(-expected) * expected**count / math.factorial(count)
        chances.append(1 - below)
    best = np.argsort(-np.concatenate(chances), kind="stable")[:size]
    return np.bincount(best % expected.size, minlength=expected.size).astype(np.int64)


def weighed(expected: Floats, table: CensusCounts, noisy: Floats, *, epsilon: float) -> Floats:
    """Return the expected residents after hearing a table with noise of scale 1 / epsilon.

    In each cell the number of residents is Poisson before, and weighed by the law of the noise; the
    kinds of that cell are then scaled to the mean that this gives.
    """
    place = table.place()
    before = np.bincount(place, weights=expected, minlength=table.cells)
    counts = np.arange(int(expected.sum()) + 1, dtype=np.float64)
    logs = np.array([math.lgamma(count + 1) for count in counts])
    with np.errstate(divide="ignore"):
        prior = counts[None, :] * np.log(np.maximum(before, 1e-12))[:, None] - logs
    odds = prior - epsilon * np.abs(noisy[:, None] - counts[None, :])
    weights = np.exp(odds - odds.max(1, keepdims=True))
    after = (weights @ counts) / weights.sum(1)
    return np.asarray(expected * (after / np.maximum(before, 1e-12))[place])
