"""A trained regression: predicts a number from scaled columns, and can be tested and kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Floats
from discreet.core.numbers import to_fraction
from discreet.errors import InvalidInput
from discreet.learn.evaluation.read_file import read_table
from discreet.learn.linear.variables import Variable

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
