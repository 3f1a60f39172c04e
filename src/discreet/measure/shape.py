"""The table as a method sees it: columns of small codes, groups of them counted together, and the workload.

The workload is which marginals a synthetic table should answer well: declared, or all small ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, prod
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Floats, Integers
from discreet.errors import InvalidInput

Columns: TypeAlias = tuple[int, ...]
"""Positions of columns, ascending: which marginal is meant."""
Counts: TypeAlias = Integers
"""Whole numbers of rows, one axis for each column of a marginal."""
Codes: TypeAlias = npt.NDArray[np.int32]
"""Rows by columns; each cell is the position of a value in its column's public list."""
AnyCounts = TypeVar("AnyCounts", Integers, Floats)
CodeGroups: TypeAlias = Integers
"""For each code of a column the number of its group: 0, 1, ... without a gap."""
Merges: TypeAlias = Mapping[int, CodeGroups]
"""Groups for some columns; the others are counted code by code."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Names of the columns and how many codes each has: public facts.

    `ordered` tells, for columns whose codes are bins of numbers, how many codes are bins: values far
    out are worth much, so a bin in which nothing is seen should hold nothing. `gaps` are the columns
    whose last code stands for missing values, which are no neighbours of any others.

    >>> Shape(("sex", "age"), (2, 120)).cells((0, 1))
    240
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    ordered: Mapping[int, int] = field(default_factory=dict, compare=False)
    gaps: frozenset[int] = field(default=frozenset(), compare=False)

    @property
    def width(self) -> int:
        """Return how many columns there are."""
        return len(self.sizes)

    def of(self, columns: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of some columns: the shape of their marginal."""
        return tuple(self.sizes[column] for column in columns)

    def cells(self, columns: Sequence[int]) -> int:
        """Return how many cells the marginal of these columns has."""
        return prod(self.of(columns))


def joint_codes(
    codes: npt.NDArray[np.integer[Any]], columns: Sequence[int], sizes: Sequence[int]
) -> Integers:
    """Return each row's place among the combinations of some columns' codes, the last one fastest."""
    place = np.zeros(len(codes), dtype=np.int64)
    for column in columns:
        place *= sizes[column]
        place += codes[:, column]
    return place


def merge_counts(counts: AnyCounts, columns: Sequence[int], merges: Merges) -> AnyCounts:
    """Return the counts of a marginal with some of its axes counted by group.

    >>> merge_counts(np.array([[1, 2, 3], [4, 5, 6]]), (7, 8), {8: np.array([0, 1, 1])}).tolist()
    [[1, 5], [4, 11]]
    """
    for axis, column in enumerate(columns):
        if column in merges:
            groups = merges[column]
            first: npt.NDArray[Any] = np.moveaxis(counts, axis, 0)
            summed = np.zeros((int(groups.max()) + 1, *first.shape[1:]), dtype=counts.dtype)
            np.add.at(summed, groups, first)
            counts = np.moveaxis(summed, 0, axis)
    return counts


WorkloadSpec: TypeAlias = Sequence[Sequence[str | int]]
"""Lists of columns, by name or by position."""

MOST_CELLS = 50_000
"""Larger marginals are not asked for by default: their cells would be noise."""

MOST_PAIR_CELLS = 1 << 20
"""Pairs may be larger: adaptive counts their columns in groups."""

MOST_MARGINALS = 600
"""Triples are asked for by default when there are at most this many, else pairs."""


def find_workload(shape: Shape, wanted: WorkloadSpec | None) -> list[Columns]:
    """Return the marginals of a workload, ascending; all triples or pairs where none is declared.

    >>> find_workload(Shape(("a", "b", "c"), (2, 2, 2)), [["c", "a"]])
    [(0, 2)]
    """
    if wanted is not None:
        return sorted({_columns(shape, each) for each in wanted})
    width = 3 if comb(shape.width, 3) <= MOST_MARGINALS else 2
    found = [
        columns
        for columns in combinations(range(shape.width), min(width, shape.width))
        if shape.cells(columns) <= MOST_CELLS
    ]
    covered = set(found) | set(closed(found))
    pairs = combinations(range(shape.width), 2)
    return found + [p for p in pairs if p not in covered and shape.cells(p) <= MOST_PAIR_CELLS]


def closed(workload: Iterable[Columns]) -> list[Columns]:
    """Return every set of at least two columns inside some marginal of the workload.

    >>> closed([(0, 1, 2)])
    [(0, 1), (0, 1, 2), (0, 2), (1, 2)]
    """
    return sorted(
        {
            part
            for columns in workload
            for width in range(2, len(columns) + 1)
            for part in combinations(columns, width)
        }
    )


def _columns(shape: Shape, wanted: Sequence[str | int]) -> Columns:
    found = set()
    for each in wanted:
        if isinstance(each, int) and 0 <= each < shape.width:
            found.add(each)
        elif each in shape.names:
            found.add(shape.names.index(str(each)))
        else:
            raise InvalidInput(f"The workload names a column '{each}' that is not there.")
    if not 1 <= len(found) <= 5:
        raise InvalidInput("A marginal of the workload has 1 to 5 columns.")
    return tuple(sorted(found))
