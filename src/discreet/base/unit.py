"""The privacy unit: who is protected, what neighbours are, and how a row reaches its person over other tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from discreet.errors import CatalogError


class Neighbours(Enum):
    """Which two datasets must be hard to tell apart.

    Replacing a unit is removing one and adding another. `moves` is where this is said; how far that
    moves a number is worked out from it, each time for the shape of the numbers:

    - privacy/kernel/mechanism.py, for the measures of a query, and privacy/kernel/seal.py, for its quantiles;
    - privacy/kernel/mechanism.py, for sums of vectors (recommender);
    - measure/private_marginals.py, for disjoint counts (copies, learners, paid choices);
    - work/learn/learners/network.py, for noisy steps that are priced for one unit added or removed;
    - work/publish/totals.py, for running totals.

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


ARROW = "->"
_KEY = re.compile(r"(?P<table>[^.]+)\.(?P<key>.+)")


@dataclass(frozen=True, slots=True)
class PathStep:
    """From `column` of the rows at hand to the rows of `table` whose `key` says the same."""

    column: str
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class UnitPath:
    """Steps from a row to its person, who is named in `column` of the last table.

    `reads` says how the tables on the way read their keys and the last one its people: whoever
    follows the path in another way finds other people, so it is part of the path.

    Guarantee (of whoever follows it): a row belongs to every person whose rows it reaches, once for
        each, so the rows of one person depend on nobody else's.
    """

    steps: tuple[PathStep, ...]
    column: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PathCell:
    """A column of a source, and the SQL that reads it for each way in which it may be stored."""

    column: str
    by_storage: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class FollowedStep:
    """A step as an engine takes it: both cells read as the table that is reached reads its key."""

    table: str
    here: PathCell
    key: PathCell


@dataclass(frozen=True, slots=True)
class FollowedPath:
    """A path as an engine follows it, its tables by the engine's names; `unit` is the person.

    `whole`: people come as integers of 64 bits, otherwise as texts.
    """

    steps: tuple[FollowedStep, ...]
    unit: PathCell
    whole: bool

    @property
    def column(self) -> str:
        """Return what the person's column is called."""
        return self.unit.column


def unit_path(written: str) -> UnitPath:
    """Return the path in "order_id -> orders.id -> customer_id".

    >>> unit_path("order_id -> orders.id -> customer_id").column
    'customer_id'
    """
    words = [word.strip() for word in written.split(ARROW)]
    if len(words) < 3 or len(words) % 2 == 0 or not all(words):
        raise _unreadable(written)
    steps = []
    for column, reached in zip(words[:-1:2], words[1::2], strict=True):
        found = _KEY.fullmatch(reached)
        if found is None:
            raise _unreadable(written)
        steps.append(PathStep(column, found["table"], found["key"]))
    return UnitPath(tuple(steps), words[-1])


def _unreadable(written: str) -> CatalogError:
    return CatalogError(
        f"the unit '{written}' is no path.",
        hint='A path is written as "order_id -> orders.id -> customer_id": a column here, the table '
        "and key that it names, and there the column with the person.",
    )
