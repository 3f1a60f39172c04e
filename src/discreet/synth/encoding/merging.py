"""Groups of codes that are counted together: rare ones, or those of one bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

AnyCounts = TypeVar("AnyCounts", npt.NDArray[np.int64], npt.NDArray[np.float64])
Groups: TypeAlias = npt.NDArray[np.int64]
"""For each code of a column the number of its group: 0, 1, ... without a gap."""
Merges: TypeAlias = Mapping[int, Groups]
"""Groups for some columns; the others are counted code by code."""


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
