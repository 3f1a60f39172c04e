"""How many classes there are of each size: all that k-anonymity and its risks depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import Integers


@dataclass(frozen=True, slots=True, eq=False)
class ClassSizes:
    """Class sizes in ascending order, and how many classes have each of them.

    >>> ClassSizes.of([1, 1, 2, 5]).share_unique
    0.2222222222222222
    """

    sizes: Integers
    classes: Integers

    @classmethod
    def of(cls, each: Any) -> ClassSizes:
        """Return the histogram of a list with the size of every class; empty classes are left out."""
        values = np.asarray(each, dtype=np.int64)
        sizes, classes = np.unique(values[values > 0], return_counts=True)
        return cls(sizes, classes.astype(np.int64))

    @property
    def rows(self) -> int:
        """Return the number of rows in all classes."""
        return int((self.sizes * self.classes).sum())

    @property
    def count(self) -> int:
        """Return the number of classes."""
        return int(self.classes.sum())

    @property
    def k(self) -> int:
        """Return the size of the smallest class, 0 if there is none."""
        return int(self.sizes[0]) if len(self.sizes) else 0

    @property
    def uniques(self) -> int:
        """Return how many rows share their values with no other row."""
        return int(self.classes[0]) if self.k == 1 else 0

    @property
    def share_unique(self) -> float:
        """Return the share of rows that share their values with no other row."""
        return self.uniques / self.rows if self.rows else 0.0

    @property
    def discernibility(self) -> int:
        """Return the sum of squared class sizes; suppressed rows are the caller's to add."""
        # Python's integers: 10^10 rows in one class overflow 64 bits.
        return sum(int(s) ** 2 * int(c) for s, c in zip(self.sizes, self.classes, strict=True))

    @property
    def average(self) -> float:
        """Return the mean class size."""
        return self.rows / self.count if self.count else 0.0
