"""Who is protected, and what it means that two datasets are neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Neighbours(Enum):
    """Which two datasets must be hard to tell apart.

    Replacing a unit is removing one and adding another. `moves` is where this is said; how far that
    moves a number is worked out from it, each time for the shape of the numbers:

    - kernel/mechanism.py, for the measures of a query, and kernel/seal.py, for its quantiles;
    - kernel/mechanism.py, for sums of vectors (recommender);
    - synth/measure/private_marginals.py, for disjoint counts (copies, learners, paid choices);
    - learn/learners/network.py, for noisy steps that are priced for one unit added or removed;
    - publish/totals.py, for running totals.

    The ledger asks another question of it: whether one bill is of a person or of a pair of them.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @property
    def moves(self) -> int:
        """Return how many additions and removals turn one neighbour into the other."""
        return 1 if self is Neighbours.ADD_REMOVE else 2


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """One row, or all rows that carry the same value in `column`."""

    column: str | None = None

    @property
    def is_row(self) -> bool:
        """Return whether each row stands for another person."""
        return self.column is None

    def __str__(self) -> str:
        return "each row" if self.column is None else f"each person in {self.column}"
