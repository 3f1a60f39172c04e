"""The tables of a block of neighbours, as linear equations over its possible residents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.core.arrays import Bits, Floats, Integers

OLDEST = 104
BAND = 5
BANDS = OLDEST // BAND + 1

RESIDENTS: Integers = np.array(
    list(product(range(OLDEST + 1), (0, 1), (0, 1), (0, 1))), dtype=np.int64
)
"""Every kind of resident there can be: age, male, married, smoker. A block is a count of each."""
AGE, MALE, MARRIED, SMOKER = range(4)
_FLAGS = {MALE: "male", MARRIED: "married", SMOKER: "smoker"}


@dataclass(frozen=True, slots=True)
class CensusCounts:
    """One published table of counts: by which flags, and whether by five-year bands of age too."""

    flags: tuple[int, ...]
    banded: bool

    @property
    def cells(self) -> int:
        """Return how many cells it has in each block."""
        return int(2 ** len(self.flags)) * (BANDS if self.banded else 1)

    def place(self) -> Integers:
        """Return the cell of this table that each kind of resident is counted in."""
        found = np.zeros(len(RESIDENTS), dtype=np.int64)
        for flag in self.flags:
            found = 2 * found + RESIDENTS[:, flag]
        return found * BANDS + RESIDENTS[:, AGE] // BAND if self.banded else found

    def matrix(self) -> Floats:
        """Return the equations: one row a cell, one column a kind of resident."""
        found = self.place()[None, :] == np.arange(self.cells)[:, None]
        return np.asarray(found, dtype=np.float64)

    def sql(self, table: str) -> str:
        """Return the question that gives this table for every block at once."""
        keys = ["block", *(_FLAGS[flag] for flag in self.flags)]
        keys += [f"age // {BAND}"] if self.banded else []
        named = [*keys[:-1], f"{keys[-1]} AS last"]
        groups = [*keys[:-1], "last"]
        return f"SELECT {', '.join(named)}, COUNT(*) AS n FROM {table} GROUP BY {', '.join(groups)}"

    def cell_of(self, key: Sequence[int]) -> int:
        """Return the cell that an answered key (without its block) stands for."""
        found = 0
        for value in key[: len(self.flags)]:
            found = 2 * found + int(value)
        return found * BANDS + int(key[-1]) if self.banded else found

    @property
    def words(self) -> str:
        """Return what the table counts."""
        names = [_FLAGS[flag] for flag in self.flags] + (["five-year age"] if self.banded else [])
        return " x ".join(names)


PUBLISHED: tuple[CensusCounts, ...] = (
    CensusCounts((MALE, MARRIED), banded=True),
    CensusCounts((MALE, SMOKER), banded=True),
    CensusCounts((MALE, MARRIED, SMOKER), banded=False),
)
"""Every block's counts. Means and medians of age by each set of flags come on top: `age_rows`."""


@dataclass(frozen=True, slots=True, eq=False)
class ResidentRows:
    """Inequalities low <= matrix @ counts <= high that a block must satisfy."""

    matrix: Floats
    low: Floats
    high: Floats


def tabulated(residents: Integers) -> Integers:
    """Return how many residents of each kind there are; `residents` as rows of RESIDENTS."""
    kinds = residents[:, AGE]
    for flag in (MALE, MARRIED, SMOKER):
        kinds = 2 * kinds + residents[:, flag]
    return np.bincount(kinds, minlength=len(RESIDENTS)).astype(np.int64)


def count_rows(block: Integers) -> ResidentRows:
    """Return what the published counts of a block say."""
    matrix = np.vstack([table.matrix() for table in PUBLISHED])
    values = matrix @ block
    return ResidentRows(matrix, values, values)


def age_rows(block: Integers) -> ResidentRows:
    """Return what published mean (two decimals) and median ages say, for all and by all sets of flags."""
    found = [row for group in _groups() for row in _age_facts(block, group)]
    matrix, low, high = zip(*found, strict=True)
    return ResidentRows(np.array(matrix), np.array(low), np.array(high))


def _groups() -> Iterator[Bits]:
    for choice in product((0, 1, None), repeat=len(_FLAGS)):
        inside = np.ones(len(RESIDENTS), dtype=bool)
        for flag, value in zip(_FLAGS, choice, strict=True):
            inside &= True if value is None else RESIDENTS[:, flag] == value
        yield inside


def _age_facts(block: Integers, group: Bits) -> Iterator[tuple[Floats, float, float]]:
    age = RESIDENTS[:, AGE].astype(np.float64)
    size = int(block[group].sum())
    if not size:
        return
    inside = group.astype(np.float64)
    mean = round(float((age * inside) @ block) / size, 2)
    yield age * inside, (mean - 0.005) * size - 1e-6, (mean + 0.005) * size + 1e-6
    ages = np.repeat(RESIDENTS[group, AGE], block[group])
    below = (size - 1) // 2
    median = int(np.sort(ages)[below])  # the lower one: it is somebody's age
    yield inside * (age < median), 0.0, float(below)
    yield inside * (age <= median), float(below + 1), float(size)
