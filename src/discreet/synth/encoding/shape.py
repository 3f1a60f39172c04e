"""The table as a method sees it: columns of small codes, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Columns: TypeAlias = tuple[int, ...]
"""Positions of columns, ascending: which marginal is meant."""
Counts: TypeAlias = npt.NDArray[np.int64]
"""Whole numbers of rows, one axis for each column of a marginal."""
Codes: TypeAlias = npt.NDArray[np.int32]
"""Rows by columns; each cell is the position of a value in its column's public list."""


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
) -> npt.NDArray[np.int64]:
    """Return each row's place among the combinations of some columns' codes, the last one fastest."""
    place = np.zeros(len(codes), dtype=np.int64)
    for column in columns:
        place *= sizes[column]
        place += codes[:, column]
    return place
