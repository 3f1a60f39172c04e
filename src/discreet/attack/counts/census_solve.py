"""Blocks that agree with published tables, found by integer programmes (HiGHS)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attack.counts.census_tables import ResidentRows
from discreet.attack.counts.reconstruction_solve import optimizer
from discreet.core.arrays import Floats, Integers
from discreet.errors import InvalidInput

SECONDS = 20.0
"""A block that takes longer is given up, and said to be."""


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
