"""Dose models: the ridge regression of discreet learn, from a curator's answer or without noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.attack.curator import AttackTable, regressions
from discreet.attack.files import OwnPeople
from discreet.attack.inversion.patients import ROOT
from discreet.core.arrays import Floats
from discreet.core.schema import Column
from discreet.learn.linear.variables import Variable, variables_of

DELTA = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class DoseModel:
    """Predicts the root of a dose: an intercept and a weight for each scaled variable."""

    variables: tuple[Variable, ...]
    target: Variable
    weights: Floats

    def predict(self, rows: pa.Table) -> Floats:
        """Return the predicted root of each patient's dose, inside the declared range."""
        return self._roots(_design(rows, self.variables) @ self.weights)

    def under(
        self, rows: pa.Table, columns: Sequence[str], values: Sequence[Sequence[str]]
    ) -> Floats:
        """Return the roots that it would predict if these columns had these values, a column for each."""
        design = _design(rows, self.variables)
        place = [i for i, v in enumerate(self.variables, 1) if v.column in columns]
        design[:, place] = 0.0
        rest, found = design @ self.weights, []
        for combination in values:
            said = dict(zip(columns, combination, strict=True))
            added = sum(
                float(self.weights[i]) * (1 if said[v.column] == v.value else -1)
                for i, v in enumerate(self.variables, 1)
                if v.column in said
            )
            found.append(rest + added)
        return self._roots(np.stack(found, axis=1))

    def _roots(self, scaled: Floats) -> Floats:
        low, high = float(self.target.lower), float(self.target.upper)
        return np.asarray(low + (np.clip(scaled, -1, 1) + 1) / 2 * (high - low))


def plain_model(people: OwnPeople) -> DoseModel:
    """Return the least-squares model of these patients."""
    *features, target = _variables(people)
    truth = _design(people.rows, [target])[:, 1]
    weights = np.linalg.lstsq(_design(people.rows, features), truth, rcond=None)[0]
    return DoseModel(tuple(features), target, np.asarray(weights, dtype=np.float64))


def private_models(people: OwnPeople, epsilons: Sequence[float]) -> list[DoseModel]:
    """Return a model for each epsilon, each bought on its own from a curator."""
    exhibit = AttackTable(people.rows, people.declared())
    made = regressions(exhibit, target=ROOT, epsilons=epsilons, delta=DELTA)
    return [DoseModel(model.variables, model.target, model.weights) for model in made]


def _variables(people: OwnPeople) -> list[Variable]:
    names = [*(name for name in people.domains if name != ROOT), ROOT]
    return [v for name in names for v in variables_of(Column(name, people.domains[name]))]


def _design(rows: pa.Table, variables: Sequence[Variable]) -> Floats:
    columns = [np.ones(rows.num_rows)]
    for variable in variables:
        values = rows[variable.column]
        if variable.value is None:
            low, high = float(variable.lower), float(variable.upper)
            columns.append((2 * values.cast(pa.float64()).to_numpy() - low - high) / (high - low))
        else:
            words = values.cast(pa.string()).to_numpy(zero_copy_only=False)
            same = str(variable.value).lower() if variable.value is True else variable.value
            columns.append(np.where(words == same, 1.0, -1.0))
    return np.stack(columns, axis=1)
