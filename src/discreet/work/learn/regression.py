"""Private regression: the trained model, ridge regression on noisy sums, and one paid look for them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.ask.release.desk import Desk
from discreet.base import display
from discreet.base.arrays import Floats
from discreet.base.bill import Charged, Spent
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.numbers import to_fraction
from discreet.base.schema import Column, IntegerDomain, NumberDomain, Table, TextDomain
from discreet.data.catalog.catalog import Catalog
from discreet.errors import InvalidInput, UnknownName
from discreet.measure.learned_types import is_unbounded
from discreet.work.learn.gram_matrix import (
    MOST_COLUMNS,
    Products,
    ProductsRequest,
    Variable,
    check_width,
    measured_products,
    variables_of,
)
from discreet.work.learn.learners.registry import LEARNERS, chosen_regressor
from discreet.work.learn.read_file import read_table
from discreet.work.learn.training_plan import LearnRequest, find_private

FIRST = "ridge"
"""The kind of all regressions before there were others: files do not say it."""


@dataclass(frozen=True, slots=True, eq=False)
class Regressor:
    """Predicts a number: an intercept and a weight for each scaled variable."""

    variables: tuple[Variable, ...]
    target: Variable
    weights: Floats
    facts: Mapping[str, Any] = field(default_factory=dict)
    kind: str = FIRST

    def predict(self, table: pa.Table) -> Floats:
        """Return the predicted numbers for the rows of a table, inside the declared range."""
        scaled = np.stack([_scaled(table, v) for v in self.variables], axis=1)
        found = self.weights[0] + scaled @ self.weights[1:]
        low, high = float(self.target.lower), float(self.target.upper)
        return np.asarray(np.clip(low + (found + 1) / 2 * (high - low), low, high))

    def to_json(self) -> dict[str, Any]:
        """Return the regression as plain numbers and text."""
        return {
            "variables": [
                {"column": v.column, "value": v.value, "lower": str(v.lower), "upper": str(v.upper)}
                for v in (*self.variables, self.target)
            ],
            "weights": self.weights.tolist(),
            "facts": dict(self.facts),
            **({} if self.kind == FIRST else {"kind": self.kind}),
        }


def regressor_from(data: Mapping[str, Any]) -> Regressor:
    """Return the regression that `to_json` wrote; every number in it is checked."""
    variables = [
        Variable(
            str(item["column"]),
            item["value"],
            to_fraction(str(item["lower"]), name="a bound in it"),
            to_fraction(str(item["upper"]), name="a bound in it"),
        )
        for item in data["variables"]
    ]
    weights = np.array(data["weights"], dtype=np.float64)
    sound = all(each.lower < each.upper for each in variables)
    if weights.shape != (len(variables),) or not (np.abs(weights) < 1e100).all() or not sound:
        raise InvalidInput("its weights have the wrong size")
    facts, kind = dict(data["facts"]), str(data.get("kind", FIRST))
    return Regressor(tuple(variables[:-1]), variables[-1], weights, facts, kind)


def tested_regressor(model: Regressor, path: Path) -> dict[str, Any]:
    """Return root mean squared error, baseline and R squared on rows declared public."""
    table = read_table(path)
    low = float(model.target.lower)
    truth = low + (_scaled(table, model.target, gap=math.nan) + 1) / 2 * float(
        model.target.upper - model.target.lower
    )
    known = np.isfinite(truth)
    if not known.any():
        raise InvalidInput(f"No row of '{path.name}' has a declared value of the target.")
    gaps = (model.predict(table) - truth)[known] ** 2
    spread = float(np.var(truth[known]))
    root = math.sqrt(gaps.mean())
    half = 1.96 * float(gaps.std()) / math.sqrt(len(gaps)) / max(2 * root, 1e-12)
    return {
        "rmse": {
            "value": round(root, 6),
            "low": round(max(root - half, 0.0), 6),
            "high": round(root + half, 6),
        },
        "baseline": round(math.sqrt(spread), 6),
        "r2": round(1 - float(gaps.mean()) / max(spread, 1e-12), 4),
        "measured_on": f"{path.name}, declared public",
        "test_rows": int(known.sum()),
    }


def _scaled(table: pa.Table, variable: Variable, *, gap: float = 0.0) -> Floats:
    """Return a variable of the rows of a file; what is missing or not declared lies at `gap`."""
    place = {name.lower(): i for i, name in enumerate(table.column_names)}
    if variable.column.lower() not in place:
        raise InvalidInput(f"The file has no column '{variable.column}', which the model needs.")
    values = table.column(place[variable.column.lower()]).to_pylist()
    if variable.value is not None:
        return np.array([1.0 if str(v) == str(variable.value) else -1.0 for v in values])
    low, high = float(variable.lower), float(variable.upper)
    found = np.full(len(values), gap)
    for i, value in enumerate(values):
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        if low <= number <= high:
            found[i] = (2 * number - low - high) / (high - low)
    return found


def fit(sums: Floats, deviation: float) -> Floats:
    """Return the weights, intercept first, of scaled variables for the last of them.

    `deviation` is that of the noise in each sum. The ridge is the size of the noise in the largest
    eigenvalue that noise alone would make: smaller directions cannot be told from it.
    """
    rows = max(float(sums[0, 0]), 1.0)
    gram = np.clip(sums / rows, -1.0, 1.0)
    gram[0, 0] = 1.0
    values, vectors = np.linalg.eigh(gram)
    gram = (vectors * np.maximum(values, 0.0)) @ vectors.T
    penalty = np.full(len(gram) - 1, 2 * deviation / rows * np.sqrt(len(gram)))
    penalty[0] = 0.0
    weights = np.linalg.solve(gram[:-1, :-1] + np.diag(penalty + 1e-9), gram[:-1, -1])
    return np.asarray(weights)


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
        return display.regression_lines(self.to_json())


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
