"""anonymize(): from groups of rows to classes that satisfy the models, at least cost; and what a recoding costs.

No guarantee: whoever publishes the result publishes values that were not protected by noise. What
the models below do not stop is shown by `discreet attack intersection` and `discreet attack linkage`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress as suppress_errors
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from discreet.anonymize.classes import Recoding, full_domain
from discreet.anonymize.costs import CostModel, RecodedCopy
from discreet.anonymize.groups import Groups
from discreet.anonymize.hierarchy import ColumnLevels, Hierarchy, make_ladders
from discreet.anonymize.lattice import (
    Assigned,
    CheapestNode,
    ClassEvaluator,
    Evaluator,
    MatchingEvaluator,
    NodeResult,
    search,
)
from discreet.anonymize.mondrian import mondrian
from discreet.anonymize.privacy_models import Conditions, KAnonymity, PrivacyModel
from discreet.anonymize.recoding import local_recoding
from discreet.anonymize.registry import COSTS, GeneralisationCost
from discreet.base.arrays import Integers
from discreet.base.display import Progress, silent
from discreet.base.requests.fields import one_of
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Costs:
    """All measures of one copy, each an attribute under the name that results have for it."""

    shown: Mapping[str, float | None]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.shown[name]
        except KeyError:
            raise AttributeError(name) from None


def measure(
    groups: Groups,
    recoding: Recoding,
    *,
    weights: Sequence[float],
    levels: Sequence[int] | None,
    hidden_among: Integers | None = None,
) -> Costs:
    """Return what a recoding costs by every measure.

    `hidden_among` replaces the sizes of the classes where missing values match everything.
    """
    among = recoding.sizes if hidden_among is None else hidden_among
    copy = RecodedCopy(groups, recoding, weights, levels, among)
    return Costs({cost.shown: cost.measured(copy) for cost in COSTS.values()})


def check_weights(quasi: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...]:
    """Return a weight for each column, 1 where none was given."""
    for column, weight in weights.items():
        if column not in quasi:
            raise InvalidInput(f"A weight is given for '{column}', which is no quasi-identifier.")
        if not np.isfinite(weight) or weight < 0:
            raise InvalidInput(f"The weight of '{column}' must be zero or above.")
    found = tuple(float(weights.get(column, 1.0)) for column in quasi)
    if not any(found):
        raise InvalidInput("All weights are zero.", hint="Give at least one column a weight.")
    return found


def make_cost(
    cost: GeneralisationCost,
    groups: Groups,
    ladders: Sequence[ColumnLevels],
    weights: Mapping[str, float],
) -> CostModel:
    """Return the measure of the search; refuse weights that make no sense or change nothing."""
    heavy = check_weights(groups.quasi, weights)
    if weights and not cost.weighted:
        able = one_of([name for name, each in COSTS.items() if each.weighted])
        raise InvalidInput(
            f"Weights of columns change nothing where the cost is '{cost.value}'.",
            hint=f"Leave them out, or choose the cost {able}",
        )
    return cost.model(groups, ladders, heavy)


class AnonymizeMethod(Enum):
    """How classes are found."""

    OPTIMAL = "optimal"
    MONDRIAN = "mondrian"
    RELAXED = "relaxed"
    LOCAL = "local"


class Missing(Enum):
    """What a missing quasi-identifier means."""

    VALUE = "value"
    """A value of its own: rows where it is missing form classes among themselves."""
    MATCHES = "matches"
    """Unknown: it could be anything, so such a row hides among all that it could be."""


MOST_COMPARED = 200_000
"""With more combinations than this only the wanted method runs: the others would take minutes."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another method under the same conditions: how much it loses."""

    method: AnonymizeMethod
    loss: float
    suppressed: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Classes, what they read, what that cost, and whether anything cheaper is possible.

    `levels` is there where each column stands at one level. `optimal` says that no allowed
    full-domain generalisation has a lower `cost`; otherwise none is below `bound`.
    """

    method: AnonymizeMethod
    quasi: tuple[str, ...]
    rows: int
    k: int
    least: int
    """The fewest rows that a row hides among: k or more."""
    conditions: str
    levels: dict[str, int] | None
    recoding: Recoding = field(repr=False)
    costs: Costs
    cost: GeneralisationCost
    optimal: bool
    bound: float | None
    evaluated: int = 0
    nodes: int = 0
    runners: tuple[NodeResult, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    """What other methods would have lost under the same conditions, where that was tried."""

    @property
    def suppressed(self) -> int:
        """Return the number of rows that are left out."""
        return self.recoding.suppressed

    @property
    def classes(self) -> int:
        """Return the number of classes, the suppressed rows not counted."""
        return self.recoding.classes


@dataclass(frozen=True, slots=True)
class _Task:
    """Everything that was asked for, checked."""

    groups: Groups
    k: int
    ladders: tuple[ColumnLevels, ...]
    conditions: Conditions
    cost: GeneralisationCost
    limit: int
    weights: tuple[float, ...]
    given_weights: Mapping[str, float]
    missing: Missing
    seconds: float
    progress: Progress


def anonymize(
    groups: Groups,
    hierarchies: Mapping[str, Hierarchy],
    *,
    k: int,
    suppress: float = 0.0,
    cost: GeneralisationCost = COSTS["discernibility"],
    models: Sequence[PrivacyModel] = (),
    method: AnonymizeMethod = AnonymizeMethod.OPTIMAL,
    weights: Mapping[str, float] | None = None,
    missing: Missing = Missing.VALUE,
    seconds: float = 60.0,
    compare: bool = False,
    progress: Progress = silent,
) -> SearchResult:
    """Return classes of at least k rows that also satisfy `models`, at least cost.

    At most the share `suppress` of the rows is left out. Columns without a hierarchy get one that
    suits their values. After `seconds` the search returns the best that it has, with a bound.
    With `compare` the method optimal also says what mondrian and local recoding would have lost.

    >>> import pyarrow as pa
    >>> from discreet.anonymize.groups import group_table
    >>> table = pa.table({"zip": ["02139", "02138", "02141", "02142"], "sex": ["F", "F", "M", "M"]})
    >>> found = anonymize(group_table(table, ["zip", "sex"]), {}, k=2)
    >>> found.levels, found.classes, found.optimal
    ({'zip': 1, 'sex': 0}, 2, True)
    >>> found.recoding.texts(0)
    ['0213*', '0214*']
    """
    conditions = Conditions((KAnonymity(k), *models))
    _check(groups, conditions, suppress, missing, seconds)
    total, given = groups.total, weights or {}
    task = _Task(
        groups=groups,
        k=k,
        ladders=make_ladders(groups, hierarchies),
        conditions=conditions,
        cost=cost,
        # A table without any row is no release.
        limit=min(math.floor(suppress * total + 1e-9), total - 1),
        weights=check_weights(groups.quasi, given),
        given_weights=given,
        missing=missing,
        seconds=seconds,
        progress=progress,
    )
    if method is AnonymizeMethod.OPTIMAL:
        return _optimal(task, compare=compare)
    if missing is Missing.MATCHES:
        raise InvalidInput(
            f"With the method '{method.value}' a missing value is a value of its own.",
            hint="Use the method optimal where missing values are to match everything.",
        )
    if method is AnonymizeMethod.LOCAL:
        return _refined(task, *_search(task))
    return _mondrian(task, method)


def _check(
    groups: Groups, conditions: Conditions, suppress: float, missing: Missing, seconds: float
) -> None:
    if not math.isfinite(suppress) or not 0 <= suppress <= 1:
        raise InvalidInput("The share of rows to suppress must lie between 0 and 1.")
    if not seconds > 0:
        raise InvalidInput("The time limit must be above 0 seconds.")
    if conditions.smallest > groups.total:
        raise InvalidInput(
            f"A class needs {conditions.smallest} rows, but the table has fewer.",
            hint="Choose a smaller k (or l).",
        )
    if conditions.needs_sensitive and groups.sensitive is None:
        raise InvalidInput(
            "l-diversity and t-closeness need a sensitive column.", hint="Name one: --sensitive."
        )
    if missing is Missing.MATCHES and len(conditions.models) > 1:
        raise InvalidInput(
            "Missing values that match everything go with k-anonymity alone.",
            hint="Let missing be a value of its own, or leave out l and t.",
        )


def _search(task: _Task) -> tuple[CheapestNode, Assigned]:
    """Return the chosen node and its classes."""
    cost = make_cost(task.cost, task.groups, task.ladders, task.given_weights)
    evaluator: Evaluator
    if task.missing is Missing.MATCHES:
        k = task.conditions.smallest
        evaluator = MatchingEvaluator(task.groups, task.ladders, k, cost, limit=task.limit)
    else:
        evaluator = ClassEvaluator(
            task.groups, task.ladders, task.conditions, cost, limit=task.limit
        )
    heights = [ladder.levels for ladder in task.ladders]
    found = search(evaluator, heights, seconds=task.seconds, progress=task.progress)
    return found, evaluator.assign(found.levels)


def _optimal(task: _Task, *, compare: bool) -> SearchResult:
    found, assigned = _search(task)
    recoding = full_domain(task.groups, task.ladders, found.levels, assigned.klass)
    return replace(
        _result(task, AnonymizeMethod.OPTIMAL, recoding, found.levels, assigned.among),
        levels=dict(zip(task.groups.quasi, found.levels, strict=True)),
        least=int(assigned.among.min()),
        optimal=found.optimal,
        bound=found.bound,
        evaluated=found.evaluated,
        nodes=found.nodes,
        runners=found.runners,
        alternatives=_alternatives(task, found, assigned) if compare else (),
    )


def _alternatives(task: _Task, found: CheapestNode, assigned: Assigned) -> tuple[Alternative, ...]:
    """Return what the two methods that choose labels class by class would lose."""
    if task.missing is Missing.MATCHES or task.groups.combinations > MOST_COMPARED:
        return ()
    task.progress(0, 1, "comparing with other methods")
    quiet = replace(task, progress=silent)
    made = [_refined(quiet, found, assigned)]
    with suppress_errors(InvalidInput):
        made.append(_mondrian(quiet, AnonymizeMethod.MONDRIAN))
    return tuple(Alternative(each.method, each.costs.loss, each.suppressed) for each in made)


def _refined(task: _Task, found: CheapestNode, assigned: Assigned) -> SearchResult:
    recoding = local_recoding(
        task.groups,
        task.ladders,
        task.conditions,
        assigned.klass,
        found.levels,
        weights=task.weights,
        progress=task.progress,
    )
    result = _result(task, AnonymizeMethod.LOCAL, recoding)
    return replace(result, evaluated=found.evaluated, nodes=found.nodes, runners=found.runners)


def _mondrian(task: _Task, method: AnonymizeMethod) -> SearchResult:
    recoding = mondrian(
        task.groups,
        task.ladders,
        task.conditions,
        weights=task.weights,
        relaxed=method is AnonymizeMethod.RELAXED,
        progress=task.progress,
    )
    return _result(task, method, recoding)


def _result(
    task: _Task,
    method: AnonymizeMethod,
    recoding: Recoding,
    levels: Sequence[int] | None = None,
    among: Integers | None = None,
) -> SearchResult:
    return SearchResult(
        method=method,
        quasi=task.groups.quasi,
        rows=task.groups.total,
        k=task.k,
        least=int(recoding.sizes.min()),
        conditions=task.conditions.words(),
        levels=None,
        recoding=recoding,
        costs=measure(
            task.groups, recoding, weights=task.weights, levels=levels, hidden_among=among
        ),
        cost=task.cost,
        optimal=False,
        bound=None,
    )
