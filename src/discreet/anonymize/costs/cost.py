"""An information-loss metric (cost): of a lattice node, with a bound for all coarser ones, and of a copy.

Proofs of the bounds: docs/notes/0025-anonymize.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from discreet.anonymize.class_labels import Recoding
from discreet.anonymize.groups import Groups
from discreet.core.arrays import Bits, Integers


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as the costs see it.

    `rows` are the rows of each class, `sizes` how many rows each of them is hidden among (the
    same, unless missing values match everything), `kept` which classes stay, `codes` their values
    at the lowest level. No coarser node keeps more than `most_classes` classes.
    """

    levels: tuple[int, ...]
    total: int
    smallest: int
    rows: Integers = field(repr=False)
    sizes: Integers = field(repr=False)
    kept: Bits = field(repr=False)
    codes: Integers = field(repr=False)
    most_classes: int

    @property
    def lost(self) -> int:
        """Return the number of suppressed rows."""
        return int(self.rows[~self.kept].sum())


class CostModel(Protocol):
    """One measure."""

    def of(self, view: NodeView) -> float:
        """Return the cost of a node."""
        ...

    def bound(self, view: NodeView) -> float:
        """Return a number that neither this node nor any coarser one costs less than."""
        ...


@dataclass(frozen=True, slots=True)
class RecodedCopy:
    """A copy as the costs see it.

    `levels` is None where classes have levels of their own; `among` says how many rows each class hides
    among: its own, unless missing values match everything.
    """

    groups: Groups
    recoding: Recoding
    weights: Sequence[float]
    levels: Sequence[int] | None
    among: Integers
