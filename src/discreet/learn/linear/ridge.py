"""Ridge regression from noisy sums of products: the normal equations, cleaned of noise's worst.

The sums are one private question (regress.py). Columns are centred on the middle of their declared range
and scaled to [-1, 1], so that no sum needs more noise than another and the noise is the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from discreet.core.schema import BooleanDomain, CategoryDomain, Column, IntegerDomain, NumberDomain
from discreet.errors import InvalidInput
from discreet.learn.measure.rows import Reals

MOST_VALUES = 24
"""Categories with more values are left out: each value is a column of its own."""

MOST_COLUMNS = 40
"""Columns after that; their products are 820 sums."""

Names = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """One number of a row between -1 and 1: a scaled column, or whether it has one value.

    `value` is None for a number. `lower` and `upper` are the declared ends of it.
    """

    column: str
    value: Any
    lower: Fraction
    upper: Fraction

    def sql(self) -> str:
        """Return SQL for twice the distance from the middle; zero where the value is missing."""
        name = '"' + self.column.replace('"', '""') + '"'
        if self.value is not None:
            quoted = (
                "TRUE" if self.value is True else "'" + str(self.value).replace("'", "''") + "'"
            )
            return f"CASE WHEN {name} = {quoted} THEN 1 ELSE -1 END"
        middle = _text(self.lower + self.upper)
        return f"CASE WHEN {name} IS NULL THEN 0 ELSE 2 * {name} - {middle} END"

    @property
    def reach(self) -> float:
        """Return what the SQL is divided by to lie between -1 and 1."""
        return 1.0 if self.value is not None else float(self.upper - self.lower) or 1.0


def _text(value: Fraction) -> str:
    if value.denominator == 1:
        return f"({value.numerator})"
    return f"({float(value):.12f})"


def variables_of(column: Column) -> list[Variable]:
    """Return the variables of a column; none where it cannot be used."""
    match column.domain:
        case IntegerDomain(lower=lower, upper=upper) if upper > lower:
            return [Variable(column.name, None, Fraction(lower), Fraction(upper))]
        case NumberDomain(lower=low, upper=high) if high > low:
            return [Variable(column.name, None, low, high)]
        case CategoryDomain(values=values) if len(values) <= MOST_VALUES:
            # The last value is what is left when all the others are not.
            each = values[:-1] if len(values) > 1 else ()
            return [Variable(column.name, v, Fraction(-1), Fraction(1)) for v in each]
        case BooleanDomain():
            return [Variable(column.name, True, Fraction(-1), Fraction(1))]
        case _:
            return []


def sums_sql(table: str, variables: list[Variable]) -> tuple[str, Names]:
    """Return the one question: the number of rows, every sum and every sum of products.

    The last variable is the target; rows without it are left out.
    """
    if len(variables) > MOST_COLUMNS + 1:
        raise InvalidInput(
            f"These features are {len(variables) - 1} columns of numbers, more than {MOST_COLUMNS}.",
            hint="Name fewer with --features. Nothing was charged.",
        )
    pairs = tuple(combinations_with_replacement(range(len(variables)), 2))
    parts = ["COUNT(*) AS n"]
    parts += [f"SUM({v.sql()}) AS s{i}" for i, v in enumerate(variables)]
    parts += [
        f"SUM(({variables[i].sql()}) * ({variables[j].sql()})) AS p{i}_{j}"
        for i, j in pairs
        if i != j or variables[i].value is None  # the square of -1 or 1 is 1
    ]
    target = '"' + variables[-1].column.replace('"', '""') + '"'
    sql = f"SELECT {', '.join(parts)} FROM {table} WHERE {target} IS NOT NULL"
    return sql, pairs


def solve(
    answers: dict[str, float], errors: dict[str, float], variables: list[Variable], pairs: Names
) -> Reals:
    """Return the weights, intercept first, in scaled variables.

    `errors` are 95% noise of the sums. The ridge is the size of the noise in the largest eigenvalue
    that noise alone would make: smaller directions cannot be told from it.
    """
    rows = max(answers["n"], 1.0)
    reach = np.array([variable.reach for variable in variables])
    size = len(variables)
    gram = np.zeros((size + 1, size + 1))
    gram[0, 0] = 1.0
    for i in range(size):
        gram[0, i + 1] = gram[i + 1, 0] = answers[f"s{i}"] / rows / reach[i]
    for i, j in pairs:
        value = answers.get(f"p{i}_{j}", rows * reach[i] * reach[j])
        gram[i + 1, j + 1] = gram[j + 1, i + 1] = value / rows / (reach[i] * reach[j])
    gram = np.clip(gram, -1.0, 1.0)
    noise = max(errors[f"s{i}"] / reach[i] for i in range(size)) / 1.96 / rows
    values, vectors = np.linalg.eigh(gram)
    gram = (vectors * np.maximum(values, 0.0)) @ vectors.T
    ridge = 2 * noise * np.sqrt(size + 1)
    penalty = np.full(size, ridge)
    penalty[0] = 0.0
    weights = np.linalg.solve(gram[:-1, :-1] + np.diag(penalty + 1e-9), gram[:-1, -1])
    return np.asarray(weights)
