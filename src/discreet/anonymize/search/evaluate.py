"""One node of the lattice: whether it is allowed, what it costs, what it says about others."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.class_labels import SUPPRESSED
from discreet.anonymize.costs.cost import CostModel, NodeView
from discreet.anonymize.costs.discernibility import Discernibility
from discreet.anonymize.groups import Groups
from discreet.anonymize.hierarchy.column_levels import ColumnLevels
from discreet.anonymize.privacy_models.model import Conditions
from discreet.anonymize.search.classes import (
    ClassTable,
    TableShelf,
    bottom_table,
    class_of,
    histogram_of,
    roll_up,
    whole_distribution,
)
from discreet.core.arrays import Bits, Integers


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What was learned at one node.

    `hopeless` says that no finer node is allowed either; no coarser node costs less than `bound`.
    `cost` is infinite where the node is not allowed; `tie` (its discernibility) decides between
    nodes of equal cost.
    """

    levels: tuple[int, ...]
    allowed: bool
    hopeless: bool
    cost: float
    bound: float
    tie: float
    lost: int
    classes: int


@dataclass(frozen=True, slots=True)
class Assigned:
    """The class of each combination (SUPPRESSED for none), and how many rows each class hides among."""

    klass: Integers
    among: Integers


@dataclass(frozen=True, slots=True)
class Judged:
    """Which classes of a node stay, and how many rows each of them hides among.

    No finer node could keep the `impossible` rows either; no coarser one has more than `most_classes`.
    """

    kept: Bits
    among: Integers
    impossible: int
    most_classes: int


class Evaluator(ABC):
    """Looks at nodes; what a class is hidden among is for each kind of evaluator to say."""

    def __init__(
        self,
        groups: Groups,
        ladders: Sequence[ColumnLevels],
        smallest: int,
        cost: CostModel,
        *,
        limit: int,
        monotone: bool,
    ) -> None:
        self._ladders = ladders
        self._smallest = smallest
        self._cost = cost
        self._limit = limit
        self._monotone = monotone
        self._total = groups.total
        self._bottom = bottom_table(groups, len(ladders))
        self._shelf = TableShelf(self._bottom, ladders)

    def assign(self, levels: Sequence[int]) -> Assigned:
        """Return the classes of a node."""
        found = self._judge(roll_up(self._bottom, self._ladders, levels))
        klass = class_of(self._bottom, self._ladders, levels)
        return Assigned(np.where(found.kept[klass], klass, SUPPRESSED), found.among[found.kept])

    def evaluate(self, levels: Sequence[int]) -> NodeResult:
        """Return what a node tells."""
        table = self._shelf.reach(levels)
        found = self._judge(table)
        view = NodeView(
            levels=table.levels,
            total=self._total,
            smallest=self._smallest,
            rows=table.rows,
            sizes=found.among,
            kept=found.kept,
            codes=table.codes,
            most_classes=found.most_classes,
        )
        allowed = view.lost <= self._limit
        return NodeResult(
            levels=view.levels,
            allowed=allowed,
            hopeless=not allowed and (self._monotone or found.impossible > self._limit),
            cost=self._cost.of(view) if allowed else math.inf,
            bound=self._cost.bound(view),
            tie=Discernibility().of(view) if allowed else math.inf,
            lost=view.lost,
            classes=int(view.kept.sum()),
        )

    @abstractmethod
    def _judge(self, table: ClassTable) -> Judged:
        """Return which classes of a node are kept."""


class ClassEvaluator(Evaluator):
    """Looks at nodes where rows with equal labels form a class (missing is a value of its own)."""

    def __init__(
        self,
        groups: Groups,
        ladders: Sequence[ColumnLevels],
        conditions: Conditions,
        cost: CostModel,
        *,
        limit: int,
    ) -> None:
        # With no row to spare, one class that fails cannot come from classes that all pass.
        monotone = conditions.superset_closed or limit == 0
        super().__init__(groups, ladders, conditions.smallest, cost, limit=limit, monotone=monotone)
        self._conditions = conditions
        self._whole = whole_distribution(groups)

    def _judge(self, table: ClassTable) -> Judged:
        kept = table.rows >= self._smallest
        impossible = few = int(table.rows[~kept].sum())
        most = int(np.count_nonzero(kept)) + few // self._smallest
        if self._conditions.needs_sensitive and few <= self._limit:
            verdict = self._conditions.judge(table.rows, histogram_of(table, self._whole))
            kept, impossible = verdict.kept, int(table.rows[~verdict.possible].sum())
        return Judged(kept, table.rows, impossible, most)
