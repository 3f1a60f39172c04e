"""regress(): one paid look at all sums of products, then what the regressor makes of them as post-processing.

Columns are centred on the middle of their declared range and scaled to [-1, 1], so that the noise is the same
for all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.core.bill import Charged, Spent
from discreet.core.display import result_lines
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.core.schema import Column, IntegerDomain, NumberDomain, Table, TextDomain
from discreet.errors import InvalidInput, UnknownName
from discreet.learn.gram_matrix import Products, ProductsRequest, measured_products
from discreet.learn.learners import LEARNERS, chosen_regressor
from discreet.learn.linear.variables import MOST_COLUMNS, Variable, check_width, variables_of
from discreet.learn.prepare import find_private
from discreet.learn.regressor import Regressor
from discreet.learn.request import LearnRequest
from discreet.release.desk import Desk
from discreet.synth.measure.learned_types import is_unbounded


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Regressed(ShownInLines, Charged):
    """A regression, its price, and how well it does."""

    model: Regressor
    request_id: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the facts that `discreet learn regress --json` prints."""
        kept = {**self.bill.to_json(), "request_id": self.request_id}
        facts = {
            k: self.model.facts[k] for k in ("target", "rmse", "baseline", "r2", "measured_on")
        }
        return {"model": self.model.kind, **facts, **kept, "seconds": round(self.seconds, 3)}

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return result_lines.regression_lines(self.to_json())


def regress(request: LearnRequest, desk: Desk) -> Regressed:
    """Return a regression, charged before any row is read.

    Guarantee: that of `measured_products`; the rest is post-processing.
    """
    started = time.monotonic()
    kind = chosen_regressor(request.model)
    fit = LEARNERS[kind].fit  # imported before anything is paid
    _, table = find_private(desk.catalog, request.table)
    variables = _variables(table, request.target, request.features, _bounded)
    found = measured_products(
        ProductsRequest.of(
            request.table,
            variables=tuple(variables),
            known_last=True,
            epsilon=request.epsilon,
            delta=request.delta,
            analyst=request.analyst,
            request_id=request.request_id,
        ),
        desk,
    )
    weights = fit(found.sums, found.deviation)
    facts = _facts(request, table.name, found, variables[-1])
    model = Regressor(tuple(variables[:-1]), variables[-1], weights, facts, kind)
    return Regressed(
        model=model,
        bill=found.receipt.bill,
        request_id=request.request_id,
        seconds=time.monotonic() - started,
    )


def _facts(request: LearnRequest, table: str, found: Products, target: Variable) -> dict[str, Any]:
    """Return what the noisy sums say about the target; how good the weights are, only a test can.

    The same noisy sums would flatter weights that were fitted to their noise.
    """
    half = float(target.upper - target.lower) / 2
    mean = found.sums[0, -1] / found.rows
    spread = max(float(found.sums[-1, -1]) / found.rows - mean**2, 0.0)
    return {
        "table": table,
        "target": request.target,
        "rmse": None,
        "baseline": round(math.sqrt(spread) * half, 6),
        "r2": None,
        "measured_on": "nothing yet: give --test FILE",
        "cost": Spent.of(found.receipt.cost).exact(),
        "rows": round(found.rows),
    }


def regressed_columns(
    request: LearnRequest, catalog: Catalog, *, ranged: bool = True
) -> tuple[str, ...]:
    """Return the columns that a regression of this request is about.

    `ranged` false: as it will be once the ranges that nobody declared have been learned.
    """
    _, table = find_private(catalog, request.table)
    usable = _bounded if ranged else _has_kind
    found = _variables(table, request.target, request.features, usable)
    return tuple(dict.fromkeys(variable.column for variable in found))


def _variables(
    table: Table,
    target: str,
    features: Sequence[str],
    usable: Callable[[Column], bool],
) -> list[Variable]:
    shown = [column for column in table.columns if column.reviewed and not column.hidden]
    columns = {column.name.lower(): column for column in shown}
    if target.lower() not in columns:
        raise UnknownName(
            f"Column '{target[:60]}' of table '{table.name}' is not declared.",
            hint=f"Columns: {', '.join(column.name for column in columns.values())}.",
        )
    goal = columns.pop(target.lower())
    if not usable(goal):
        raise _no_range(goal)
    if not isinstance(goal.domain, IntegerDomain | NumberDomain) or not variables_of(goal):
        raise InvalidInput(
            f"The target '{goal.name}' is not a number.", hint="Use discreet learn classify."
        )
    for name in features:
        if name.lower() not in columns:
            raise UnknownName(f"Column '{name[:60]}' of table '{table.name}' is not declared.")
        if not usable(columns[name.lower()]):
            raise _no_range(columns[name.lower()])
    wanted = [columns[n.lower()] for n in features]
    wanted = wanted or _fitting([column for column in columns.values() if usable(column)])
    found = [variable for column in wanted for variable in variables_of(column)]
    if not found:
        raise InvalidInput("There is no column to predict from beside the target.")
    check_width([*found, *variables_of(goal)])
    return [*found, *variables_of(goal)]


def _fitting(columns: list[Column]) -> list[Column]:
    """Return the columns with the fewest values first, as many as there is room for."""
    found, taken = [], 0
    for column in sorted(columns, key=lambda each: len(variables_of(each))):
        taken += len(variables_of(column))
        if taken > MOST_COLUMNS:
            break
        found.append(column)
    return found


def _bounded(column: Column) -> bool:
    """Return whether a range was declared or learned: over that of a type a regression says nothing."""
    return not isinstance(column.domain, TextDomain) and not is_unbounded(column.domain)


def _has_kind(column: Column) -> bool:
    """Return whether a column is more than text: its range can be learned, where it needs one."""
    return not isinstance(column.domain, TextDomain)


def _no_range(column: Column) -> InvalidInput:
    return InvalidInput(
        f"It is not known between which numbers '{column.name}' lies, and a regression adds noise in "
        "proportion to that.",
        hint="Declare lower and upper in discreet.toml (discreet init FILE proposes them). The regression "
        "was not charged.",
    )
