"""regress(): one private question for all sums of products, then ridge regression as post-processing.

The question takes the way of every query: parsed, sealed by the kernel with its own clamps, charged
before any row is read, stored. So a regression is as private as its answer, and costs as much.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.core.answer import Answer
from discreet.core.schema import Column, IntegerDomain, NumberDomain, Table
from discreet.engine.base import Engine
from discreet.errors import InvalidInput, UnknownName
from discreet.learn.linear.ridge import MOST_COLUMNS, Variable, solve, sums_sql, variables_of
from discreet.learn.prepare import find_private
from discreet.learn.regressor import Regressor
from discreet.learn.request import LearnRequest
from discreet.ledger.ledger import Ledger
from discreet.noise.rng import Rng
from discreet.release.pipeline import release
from discreet.release.request import Request


@dataclass(frozen=True, slots=True, eq=False)
class Regressed:
    """A regression, the answer it comes from, and how well it does."""

    model: Regressor
    answer: Answer
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the facts that `discreet learn regress --json` prints."""
        found = self.answer.to_json()
        kept = {key: found[key] for key in ("cost", "budget", "free", "request_id")}
        facts = {
            k: self.model.facts[k] for k in ("target", "rmse", "baseline", "r2", "measured_on")
        }
        return {"model": "ridge", **facts, **kept, "seconds": round(self.seconds, 3)}


def regress(
    request: LearnRequest, *, catalog: Catalog, ledger: Ledger, engine: Engine, rng: Rng
) -> Regressed:
    """Return a ridge regression, charged before any row is read.

    Guarantee: that of the one question it asks (`release`); the rest is post-processing.
    """
    started = time.monotonic()
    dataset, table = find_private(catalog, request.table)
    variables = _variables(table, request.target, request.features)
    quoted = ".".join('"' + n.replace('"', '""') + '"' for n in (dataset.name, table.name))
    sql, pairs = sums_sql(quoted, variables)
    asked = Request.of(
        sql, epsilon=request.epsilon, analyst=request.analyst, request_id=request.request_id
    )
    answer = release(asked, catalog=catalog, ledger=ledger, engine=engine, rng=rng)
    names = answer.columns
    values = {n: float(v or 0) for n, v in zip(names, answer.rows[0], strict=True)}
    errors = {n: float(e or 0) for n, e in zip(names, answer.error95[0], strict=True)}
    weights = solve(values, errors, variables, pairs)
    facts = _facts(request, table.name, values, variables[-1])
    model = Regressor(tuple(variables[:-1]), variables[-1], weights, facts)
    return Regressed(model, answer, time.monotonic() - started)


def _facts(
    request: LearnRequest, table: str, values: Mapping[str, float], target: Variable
) -> dict[str, Any]:
    """Return what the noisy sums say about the target; how good the weights are, only a test can.

    The same noisy sums would flatter weights that were fitted to their noise.
    """
    rows, half = max(values["n"], 1.0), float(target.upper - target.lower) / 2
    last = max(int(name[1:]) for name in values if name.startswith("s"))
    mean = values[f"s{last}"] / rows / target.reach
    spread = max(values[f"p{last}_{last}"] / rows / target.reach**2 - mean**2, 0.0)
    return {
        "table": table,
        "target": request.target,
        "rmse": None,
        "baseline": round(math.sqrt(spread) * half, 6),
        "r2": None,
        "measured_on": "nothing yet: give --test FILE",
        "cost": {"epsilon": str(request.epsilon.value)},
        "rows": round(rows),
    }


def regressed_columns(request: LearnRequest, catalog: Catalog) -> tuple[str, ...]:
    """Return the columns that a regression of this request is about."""
    _, table = find_private(catalog, request.table)
    found = _variables(table, request.target, request.features)
    return tuple(dict.fromkeys(variable.column for variable in found))


def _variables(table: Table, target: str, features: Sequence[str]) -> list[Variable]:
    columns = {column.name.lower(): column for column in table.columns if _usable(column)}
    if target.lower() not in columns:
        raise UnknownName(
            f"Column '{target[:60]}' of table '{table.name}' is not declared.",
            hint=f"Columns: {', '.join(column.name for column in columns.values())}.",
        )
    goal = columns.pop(target.lower())
    if not isinstance(goal.domain, IntegerDomain | NumberDomain) or not variables_of(goal):
        raise InvalidInput(
            f"The target '{goal.name}' is not a number.", hint="Use discreet learn classify."
        )
    for name in features:
        if name.lower() not in columns:
            raise UnknownName(f"Column '{name[:60]}' of table '{table.name}' is not declared.")
    wanted = [columns[n.lower()] for n in features] or _fitting(list(columns.values()))
    found = [variable for column in wanted for variable in variables_of(column)]
    if not found:
        raise InvalidInput("There is no column to predict from beside the target.")
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


def _usable(column: Column) -> bool:
    return column.reviewed and not column.hidden
